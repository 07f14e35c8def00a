// Where there is no room beside the form, what stands beside it is a drawer that a button opens. Where
// there is, it may reach below the buttons of the form: what has to be at hand stands above them.

const side = document.querySelector("[data-ca-drawer]");
const narrow = matchMedia("(max-width: 72rem)"); // as in copilot.css
let room = 0; // pixels below what stands in it

if (side) {
  narrow.addEventListener("change", fit);
  fit();
  addEventListener("scroll", measure, { passive: true });
  addEventListener("resize", measure);
  const sizes = new ResizeObserver(measure);
  sizes.observe(document.body); // what stands above it may be unfolded
  sizes.observe(side);
}

// What is hidden below can be scrolled to: the column gets so much more room, and is as high as it may
// be. That room is none of what it needs, or it would grow with each look at it.
function measure() {
  const bar = document.querySelector(".ca-sticky-row")?.offsetHeight ?? 0;
  const { top } = side.getBoundingClientRect();
  const seen = innerHeight - bar - top;
  const isHidden = !narrow.matches && side.scrollHeight - room > seen;
  // Where the page is scrolled down, the column ends above the buttons, and nothing is hidden.
  const hidden = Math.round(parseFloat(getComputedStyle(side).maxHeight) - seen);
  room = isHidden ? Math.max(hidden, 0) : 0;
  side.style.setProperty("--ca-hidden", `${room}px`);
}

function fit() {
  for (const button of document.querySelectorAll(`[popovertarget="${side.id}"]`)) {
    button.hidden = !narrow.matches;
  }
  if (narrow.matches) {
    side.popover = "auto";
  } else {
    side.removeAttribute("popover");
  }
  measure();
}

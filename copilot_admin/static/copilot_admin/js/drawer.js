// Where there is no room beside the form, what stands beside it is a drawer that a button opens. Where
// there is, it may reach below the buttons of the form: the stylesheet, which is told how high these are,
// keeps above them what stands at its end.

const side = document.querySelector("[data-ca-drawer]");
const room = side?.querySelector("[data-ca-drawer-room]"); // what scrolls in it
const bar = document.querySelector(".ca-sticky-row");
const narrow = matchMedia("(max-width: 72rem)"); // as in copilot.css
let below = 0; // pixels below what stands in the room

if (side) {
  narrow.addEventListener("change", fit);
  fit();
  addEventListener("scroll", measure, { passive: true });
  addEventListener("resize", measure);
  const sizes = new ResizeObserver(measure);
  sizes.observe(document.body); // what stands above it may be unfolded
  sizes.observe(side);
  if (bar) {
    sizes.observe(bar); // a longer language, or more to say, may take a second line
  }
}

// What is hidden below can be scrolled to: the room has so much more below it, and the column is as high as
// it may be. That is none of what it needs, or it would grow with each look at it.
function measure() {
  const height = bar?.offsetHeight ?? 0;
  const seen = innerHeight - height - side.getBoundingClientRect().top;
  const needed = side.offsetHeight - room.clientHeight + room.scrollHeight - below;
  const isHidden = !narrow.matches && needed > seen;
  // Where the page is scrolled down, the column ends above the buttons, and nothing is hidden.
  const hidden = Math.round(parseFloat(getComputedStyle(side).maxHeight) - seen);
  below = isHidden ? Math.max(hidden, 0) : 0;
  side.style.setProperty("--ca-hidden", `${below}px`);
  side.style.setProperty("--ca-bar", `${height}px`);
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

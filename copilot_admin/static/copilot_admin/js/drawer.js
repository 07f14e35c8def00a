// Where there is no room beside the form, what stands beside it is a drawer that a button opens. Where
// there is, it may reach below the buttons of the form: what has to be at hand stands above them.

const side = document.querySelector("[data-ca-drawer]");
const narrow = matchMedia("(max-width: 72rem)"); // as in copilot.css

if (side) {
  narrow.addEventListener("change", fit);
  fit();
  addEventListener("scroll", measure, { passive: true });
  addEventListener("resize", measure);
  const sizes = new ResizeObserver(measure);
  sizes.observe(document.body); // what stands above it may be unfolded
  sizes.observe(side);
}

function measure() {
  const bar = document.querySelector(".ca-sticky-row")?.offsetHeight ?? 0;
  const below = side.getBoundingClientRect().bottom - (innerHeight - bar);
  const hidden = narrow.matches ? 0 : Math.max(Math.round(below), 0);
  side.style.setProperty("--ca-hidden", `${hidden}px`);
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

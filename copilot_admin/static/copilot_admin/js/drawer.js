// Where there is no room beside the form, what stands beside it is a drawer that a button opens.

const side = document.querySelector("[data-ca-drawer]");
const narrow = matchMedia("(max-width: 72rem)"); // as in copilot.css

if (side) {
  narrow.addEventListener("change", fit);
  fit();
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
}

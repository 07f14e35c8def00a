// The keys of the composer, and scrolling with an answer.

const COMPOSITION_MS = 300;
const NARROW_PX = 760; // as in the style sheet: below it the document scrolls, not the pane

// Enter sends, Shift+Enter starts a new line. The Enter that ends a composition of an input method
// doesn't send: browsers mark it in one of two ways, and Safari ends the composition before it.
export function sendOnEnter(box, send) {
  let composed = -Infinity;
  box.addEventListener("compositionend", ({ timeStamp }) => (composed = timeStamp));
  box.addEventListener("keyup", () => (composed = -Infinity));
  box.addEventListener("keydown", (event) => {
    const isComposing = event.isComposing || event.keyCode === 229;
    const hasComposed = event.timeStamp - composed < COMPOSITION_MS;
    if (event.key === "Enter" && !event.shiftKey && !isComposing && !hasComposed) {
      event.preventDefault();
      send();
    }
  });
}

// Scrolls with an answer until its question is at the top, unless the reader scrolls.
export function makeFollower(pane) {
  let last = null; // where the script scrolled; null: the reader scrolls
  const findRoom = () => (innerWidth < NARROW_PX ? document.scrollingElement : pane);

  function follow({ cell }) {
    const room = findRoom();
    if (last === null || Math.abs(room.scrollTop - last) > 4) {
      last = null;
      return;
    }
    const head = document.querySelector(".ca-bar");
    const edge = room === pane ? pane.getBoundingClientRect().top : head.offsetHeight;
    const top = room.scrollTop + cell.closest(".ca-turn").getBoundingClientRect().top - edge - 8;
    room.scrollTop = Math.max(room.scrollTop, Math.min(top, room.scrollHeight - room.clientHeight));
    last = room.scrollTop;
  }

  return { start: () => (last = findRoom().scrollTop), follow };
}

// Puts large texts in as a whole. Chromium takes in a pasted or dropped text line by line, and each
// line takes as long as all before it: a minute for 250 kB.

const LEAST = 4000; // characters; up to here it is done within 0.1 s, and the browser's own undo holds

document.addEventListener("beforeinput", (event) => {
  const field = event.target;
  const isLarge = field instanceof HTMLTextAreaElement && (event.data?.length ?? 0) >= LEAST;
  if (!isLarge || event.defaultPrevented) {
    return; // or it is refused
  }
  event.preventDefault();
  const before = stateOf(field);
  field.setRangeText(event.data, field.selectionStart, field.selectionEnd, "end");
  tell(field);
  undone.set(field, { before, after: field.value });
});

// The browser cannot take back what a script has put in.
const undone = new WeakMap();
document.addEventListener("keydown", (event) => {
  const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key === "z";
  const put = isUndo && undone.get(event.target);
  if (!put || put.after !== event.target.value) {
    return;
  }
  event.preventDefault();
  undone.delete(event.target);
  const { value, start, end } = put.before;
  event.target.value = value;
  event.target.setSelectionRange(start, end);
  tell(event.target);
});

function stateOf({ value, selectionStart: start, selectionEnd: end }) {
  return { value, start, end };
}

function tell(field) {
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

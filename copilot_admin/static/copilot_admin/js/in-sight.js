// What gets the focus by a key is seen. Browsers scroll to it only where nothing of it is in the window:
// not where a bar lies over it, nor where the edge of a strip cuts it.

let isByKey = false; // what is pressed with a pointer is seen, and must not move away below it

addEventListener("keydown", () => (isByKey = true), { capture: true });
addEventListener("pointerdown", () => (isByKey = false), { capture: true });
addEventListener("focusin", ({ target }) => {
  if (isByKey) {
    requestAnimationFrame(() => target === document.activeElement && bringInSight(target));
  }
});

// First within the box it stands in: a column that stays in place is not moved by the page.
function bringInSight(one) {
  for (const container of ["nearest", "all"]) {
    if (isHidden(one)) {
      one.scrollIntoView({ block: "center", inline: "nearest", container });
    }
  }
}

function isHidden(one) {
  const [box] = one.getClientRects(); // of a link over two lines, the first
  if (!box) {
    return false; // it was hidden meanwhile
  }
  const { left, top, width, height } = box;
  if (Math.min(width, height) <= 1 || height > innerHeight) {
    return false; // its label is what is seen; or it never is as a whole
  }
  const above = document.elementFromPoint(left + width / 2, top + height / 2);
  const parts = [one, ...(one.labels ?? [])];
  return !parts.some((part) => part.contains(above));
}

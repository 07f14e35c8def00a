// Makes an element like another one while keeping what is the same: focus, selection and scroll
// stay where they are. What the reader opened or loaded stays, too.

import { Idiomorph } from "../vendor/idiomorph/idiomorph.esm.js";

// Idiomorph compares every child with all that follow: 1,000 paragraphs take it a fifth of a
// second, 16,000 half a minute. So many are compared only with the one at the same place.
const MOST_MATCHED = 500;

export function morph(old, fresh) {
  Idiomorph.morph(old, fresh, { callbacks: { beforeNodeMorphed, beforeAttributeUpdated } });
}

function beforeNodeMorphed(old, fresh) {
  if ("kept" in (old.dataset ?? {}) || old.isEqualNode(fresh)) {
    return false;
  }
  if (Math.max(old.childNodes.length, fresh.childNodes.length) <= MOST_MATCHED) {
    return true;
  }
  morphInOrder(old, fresh);
  return false;
}

function beforeAttributeUpdated(name, element) {
  const own = element.tagName === "DETAILS" ? "open" : element.dataset.copy ? "hidden" : null;
  return name !== own;
}

function morphInOrder(old, fresh) {
  const beforeNodeRemoved = () => false;
  const callbacks = { beforeNodeRemoved, beforeAttributeUpdated };
  Idiomorph.morph(old, fresh.cloneNode(false), { callbacks }); // only the attributes
  let place = old.firstChild;
  for (const wanted of fresh.childNodes) {
    if (place?.nodeName !== wanted.nodeName || place.id !== wanted.id) {
      old.insertBefore(document.importNode(wanted, true), place);
      continue;
    }
    const next = place.nextSibling;
    if (!place.isEqualNode(wanted)) {
      morph(place, wanted);
    }
    place = next;
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

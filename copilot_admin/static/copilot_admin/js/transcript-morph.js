// Makes an element like another one while keeping what is the same: focus, selection and scroll
// stay where they are. What the reader opened or loaded stays, too.

export function morph(old, fresh) {
  if ("kept" in (old.dataset ?? {})) {
    return;
  }
  morphAttributes(old, fresh);
  morphChildren(old, fresh);
}

function morphAttributes(old, fresh) {
  const own = old.tagName === "DETAILS" ? ["open"] : old.dataset?.copy ? ["hidden"] : [];
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !own.includes(name)) {
      old.removeAttribute(name);
    }
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value && !own.includes(name)) {
      old.setAttribute(name, value);
    }
  }
}

function morphChildren(old, fresh) {
  let place = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const match = matching(place, wanted);
    if (!match) {
      old.insertBefore(document.importNode(wanted, true), place);
      continue;
    }
    while (place !== match) {
      const next = place.nextSibling;
      place.remove();
      place = next;
    }
    if (match.nodeType === Node.ELEMENT_NODE) {
      morph(match, wanted);
    } else if (match.nodeValue !== wanted.nodeValue) {
      match.nodeValue = wanted.nodeValue;
    }
    place = match.nextSibling;
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

// An element with an id is found by it further on; anything else must stand at this very place.
function matching(place, wanted) {
  if (wanted.id) {
    for (let one = place; one; one = one.nextSibling) {
      if (one.id === wanted.id) {
        return one;
      }
    }
    return null;
  }
  return place && place.nodeName === wanted.nodeName && !place.id ? place : null;
}

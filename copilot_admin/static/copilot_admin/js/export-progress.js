// Draws how far an export has come, while it is being written.

const PAUSE_MS = 1500;
const LONGEST_PAUSE_MS = 15000; // while the server does not answer
const PATIENCE_MS = 10000;
const GONE = Symbol("deleted, in another window or by its owner");

for (const place of document.querySelectorAll("[data-ca-progress]")) {
  watch(place);
}

async function watch(place) {
  let pause = PAUSE_MS;
  while (place.querySelector("[data-unfinished]")) {
    await new Promise((done) => setTimeout(done, pause));
    const html = await asked(place.dataset.caProgress);
    if (html === GONE) {
      tellThatItIsGone(place);
      return;
    }
    pause = html === null ? Math.min(2 * pause, LONGEST_PAUSE_MS) : PAUSE_MS;
    if (html !== null) {
      draw(place, html);
    }
  }
}

// What the server says now; null where it does not answer, or wants a log-in first.
// GONE where there is no such export any more.
async function asked(address) {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const response = await fetch(address, { redirect: "error", signal });
    if (response.status === 404) {
      return GONE;
    }
    return response.ok ? await response.text() : null;
  } catch {
    return null;
  }
}

function tellThatItIsGone(place) {
  const said = document.createElement("p");
  said.setAttribute("role", "status");
  said.textContent = place.dataset.caGone;
  place.replaceChildren(said);
}

// While it is being written only figures change: whoever is at the button stays there.
function draw(place, html) {
  const drawn = new DOMParser().parseFromString(html, "text/html");
  if (!drawn.querySelector("[data-unfinished]")) {
    const hadFocus = place.contains(document.activeElement);
    place.replaceChildren(...drawn.body.childNodes);
    if (hadFocus) {
      place.querySelector("a, button")?.focus();
    }
    return;
  }
  for (const part of ["dl", "progress"]) {
    place.querySelector(part)?.replaceWith(drawn.querySelector(part));
  }
}

// Draws the list of saved questions anew while some are being asked; what is unfolded stays so.

const PAUSE_MS = 1500;
const LONGEST_PAUSE_MS = 15000; // while the server does not answer
const PATIENCE_MS = 10000; // a request that takes longer has no end

const list = document.querySelector("[data-ca-questions]");
if (list) {
  watch();
}

async function watch() {
  let pause = PAUSE_MS;
  while (isUnfinished()) {
    await new Promise((done) => setTimeout(done, pause));
    const html = await fetched(list.dataset.caQuestions);
    pause = html === null ? Math.min(2 * pause, LONGEST_PAUSE_MS) : PAUSE_MS;
    if (html !== null) {
      draw(html);
    }
  }
}

// What the server has of the list; null where it does not answer, or wants a log-in first.
async function fetched(address) {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(PATIENCE_MS) });
    return response.ok && !response.redirected ? await response.text() : null;
  } catch {
    return null;
  }
}

function isUnfinished() {
  return Number(list.querySelector("[data-unfinished]")?.dataset.unfinished) > 0;
}

function draw(html) {
  const drawn = new DOMParser().parseFromString(html, "text/html");
  const open = [...list.querySelectorAll("details[open]")].map((one) => one.id);
  const focused = list.contains(document.activeElement) ? document.activeElement.id : "";
  list.replaceChildren(...drawn.body.childNodes);
  for (const id of open) {
    document.getElementById(id)?.setAttribute("open", "");
  }
  if (focused) {
    document.getElementById(focused)?.focus();
  }
}

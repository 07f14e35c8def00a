// Draws the saved questions anew while some are being asked; what is unfolded and focused stays so.

import { post } from "./post.js";
import { startLoading } from "./transcript-loading.js";

const PAUSE_MS = 1500;
const LONGEST_PAUSE_MS = 15000; // while the server does not answer
const PATIENCE_MS = 10000; // a request that takes longer has no end

const PATIENT = {
  // Begins anew with each request: a log-in between two takes its time.
  get signal() {
    return AbortSignal.timeout(PATIENCE_MS);
  },
};

const watched = new WeakSet();
const said = document.querySelector("[data-ca-said]");

for (const list of document.querySelectorAll("[data-ca-questions]")) {
  startLoading(list);
  watch(list);
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  const list = form.dataset.caAsk && listOf(form, event.submitter);
  if (!list) {
    return;
  }
  event.preventDefault();
  const address = new URL(event.submitter?.getAttribute("formaction") || form.action, location.href);
  address.searchParams.set("part", form.dataset.caAsk);
  const answer = await asked(address, () => new FormData(form, event.submitter));
  if (answer === null) {
    form.removeAttribute("data-ca-ask");
    form.requestSubmit(event.submitter); // the browser says what is the matter
    return;
  }
  draw(list, answer.html);
  say(answer.said);
  watch(list);
});

function listOf(form, button) {
  return (button ?? form).closest("[data-ca-questions]");
}

async function watch(list) {
  if (watched.has(list)) {
    return;
  }
  watched.add(list);
  let pause = PAUSE_MS;
  while (unfinished(list) > 0) {
    await new Promise((done) => setTimeout(done, pause));
    if (unfinished(list) === 0) {
      break; // somebody stopped it, and was told so
    }
    const answer = await asked(list.dataset.caQuestions);
    pause = answer === null ? Math.min(2 * pause, LONGEST_PAUSE_MS) : PAUSE_MS;
    if (answer !== null) {
      draw(list, answer.html);
      say(unfinished(list) === 0 ? said?.dataset.done : ""); // what was said before is old by now
    }
  }
  watched.delete(list);
}

// What the server has of the list; null where it does not answer, or wants a log-in first.
async function asked(address, made) {
  try {
    const response = await (made
      ? post(address, made, PATIENT)
      : fetch(address, { redirect: "error", ...PATIENT }));
    if (!response.ok || response.redirected) {
      return null;
    }
    const text = decodeURIComponent(response.headers.get("X-Said") ?? "");
    return { html: await response.text(), said: text };
  } catch {
    return null;
  }
}

function unfinished(list) {
  return Number(list.querySelector("[data-unfinished]")?.dataset.unfinished);
}

function draw(list, html) {
  const drawn = new DOMParser().parseFromString(html, "text/html");
  const open = [...list.querySelectorAll("details[open]")];
  const focused = list.contains(document.activeElement) ? document.activeElement : null;
  for (const one of open) {
    const now = drawn.getElementById(one.id);
    if (now?.dataset.of === one.dataset.of) {
      now?.replaceWith(one); // with what it has loaded
    } else {
      now?.setAttribute("open", "");
    }
  }
  list.replaceChildren(...drawn.body.childNodes);
  if (focused) {
    focusLike(list, focused);
  }
}

// The element that has taken the place of one; at either end of the list, its neighbour. Where there
// is none, the list: on the button that stands there now a second press would do something else.
function focusLike(list, gone) {
  const other = { up: "down", down: "up" };
  const [kind, number] = gone.id.split("-");
  const found =
    (gone.isConnected ? gone : null) ??
    (gone.id ? document.getElementById(gone.id) : null) ??
    (other[kind] ? document.getElementById(`${other[kind]}-${number}`) : null) ??
    list;
  list.tabIndex = -1;
  found.focus();
}

function say(text) {
  if (said) {
    said.textContent = text ?? "";
  }
}

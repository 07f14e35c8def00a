// Follows a conversation as it happens. A socket says which turn changed, and the server sends its
// HTML with the rights that the reader has then. Without a socket the page asks every two seconds.

import { Idiomorph } from "../vendor/idiomorph/idiomorph.esm.js";
import { showSignedOut } from "./shell.js";

const POLL_EVERY = 2000;
const RETRY_AFTER = [1000, 2000, 5000, 10000, 30000];

export function startLive(chat) {
  const state = { chat, failures: 0, polling: null, busy: null, again: false, ended: false };
  connect(state);
}

function connect(state) {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(`${scheme}//${location.host}${state.chat.dataset.socket}`);
  socket.addEventListener("open", () => {
    clearInterval(state.polling);
    state.polling = null;
    state.failures = 0;
    update(state);
  });
  socket.addEventListener("message", (event) => update(state, JSON.parse(event.data).turn));
  socket.addEventListener("close", () => {
    if (state.ended) {
      return;
    }
    state.polling ??= setInterval(() => update(state), POLL_EVERY);
    const wait = RETRY_AFTER[Math.min(state.failures, RETRY_AFTER.length - 1)];
    state.failures += 1;
    setTimeout(() => state.ended || connect(state), wait);
  });
  addEventListener("pagehide", () => socket.close(), { once: true });
}

// One request at a time; what changes meanwhile is fetched once more.
async function update(state, turn) {
  if (state.busy) {
    state.again = true;
    return;
  }
  const shown = turn && document.getElementById(`turn-${turn}`);
  const { chatUrl, turnUrl } = state.chat.dataset;
  state.busy = fetchAndShow(state, shown ? turnUrl.replace("/0/", `/${turn}/`) : chatUrl, shown);
  await state.busy;
  state.busy = null;
  if (state.again && !state.ended) {
    state.again = false;
    update(state);
  }
}

async function fetchAndShow(state, url, shown) {
  let response;
  try {
    response = await fetch(url, { redirect: "manual" });
  } catch {
    return; // the server is away: the socket or the next poll tries again
  }
  if (response.type === "opaqueredirect" || [401, 403, 404].includes(response.status)) {
    state.ended = true;
    clearInterval(state.polling);
    showSignedOut();
    return;
  }
  if (!response.ok) {
    return;
  }
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  const facts = fresh.getElementById("facts");
  facts?.removeAttribute("hx-swap-oob");
  morph(document.getElementById("facts"), facts);
  const to = shown || state.chat;
  morph(to, fresh.getElementById(to.id));
  htmx.process(state.chat);
}

export function morph(old, fresh) {
  if (old && fresh) {
    Idiomorph.morph(old, fresh, { callbacks: { beforeNodeMorphed, beforeAttributeUpdated } });
  }
}

// What the reader loaded, opened or typed stays.
function beforeNodeMorphed(old, fresh) {
  if (old.isEqualNode?.(fresh)) {
    return false;
  }
  const isLoaded = fresh.dataset?.later !== undefined && old.dataset?.later === undefined;
  const isRating = old.id?.startsWith("rate-") && old.firstElementChild;
  return !isLoaded && !isRating && !old.querySelector?.("textarea:focus");
}

function beforeAttributeUpdated(name, element) {
  return !(element.tagName === "DETAILS" && name === "open");
}

// Keeps a copy of what is typed in this browser, so that a crash or a closed tab loses nothing.

import { ageOf } from "./age.js";

const START = "copilot-admin-copy:";
const QUIET_MS = 400; // after the last key
const OLDEST_MS = 30 * 24 * 3600 * 1000;
const SAVED = "ca_saved"; // the cookie in which the server names the copy that it saved

const offer = document.querySelector("[data-ca-copy]");
const form = offer?.closest("form");
const key = START + location.pathname;
const id = newId();
let timer;

if (form) {
  dropOld();
  form.append(hidden("copy", id));
  const before = JSON.stringify(typed());
  const found = read(key);
  if (found && !form.querySelector("[data-ca-typed]") && JSON.stringify(found.typed) !== before) {
    show(found);
  }
  form.addEventListener("input", later);
  form.addEventListener("change", later);
  form.addEventListener("click", later); // rows that are added, moved and removed
  form.addEventListener("submit", () => keep({ isSent: true }));
  addEventListener("pagehide", () => timer && keepWhatDiffers());

  function later() {
    clearTimeout(timer);
    timer = setTimeout(keepWhatDiffers, QUIET_MS);
  }

  function keepWhatDiffers() {
    if (JSON.stringify(typed()) !== before) {
      keep({});
    } else if (read(key)?.id === id) {
      localStorage.removeItem(key); // what was typed here was taken back
      delete form.dataset.caKept;
    }
  }
}

function keep({ isSent = false }) {
  clearTimeout(timer);
  timer = undefined;
  const copy = { id, at: Date.now(), isSent, seen: stamp(), typed: typed() };
  try {
    localStorage.setItem(key, JSON.stringify(copy));
    form.dataset.caKept = id;
  } catch {
    localStorage.removeItem(key); // it is larger than what a browser keeps: no copy beats half of one
  }
}

function typed() {
  const secret = new Set([...form.querySelectorAll("[type=password]")].map((input) => input.name));
  return [...new FormData(form)].filter(
    ([name, value]) =>
      typeof value === "string" &&
      !secret.has(name) &&
      !["csrfmiddlewaretoken", "copy", "seen"].includes(name),
  );
}

function stamp() {
  return form.elements.seen?.value ?? "";
}

function show(copy) {
  const age = offer.querySelector("[data-age]");
  age.textContent = ageOf(copy.at, age.dataset.justNow);
  offer.querySelector("[data-bring]").addEventListener("click", () => bring(copy));
  offer.querySelector("[data-drop]").addEventListener("click", () => {
    localStorage.removeItem(key);
    offer.hidden = true;
    document.querySelector("[role=tab][aria-selected=true]")?.focus(); // the button is gone
  });
  addEventListener("pageshow", () => {
    // A browser that comes back to a page puts in again what was typed there.
    offer.hidden = JSON.stringify(typed()) === JSON.stringify(copy.typed);
  });
}

// The server draws the form with the copy in it, as it does when something in it was wrong.
function bring(copy) {
  const sent = document.createElement("form");
  sent.method = "post";
  sent.enctype = "multipart/form-data"; // of the other way servers read one megabyte
  sent.hidden = true;
  const token = form.elements.csrfmiddlewaretoken.value;
  sent.append(
    ...[...copy.typed, ["seen", copy.seen], ["csrfmiddlewaretoken", token], ["_look", "1"]].map(
      ([name, value]) => hidden(name, value),
    ),
  );
  document.body.append(sent);
  sent.submit();
}

function dropOld() {
  const saved = document.cookie.split("; ").find((cookie) => cookie.startsWith(`${SAVED}=`));
  const named = saved?.slice(SAVED.length + 1);
  for (const name of Object.keys(localStorage).filter((one) => one.startsWith(START))) {
    const copy = read(name);
    const wasSaved = copy?.id === named || (name === key && copy?.isSent && copy.seen !== stamp());
    if (!copy || wasSaved || Date.now() - copy.at > OLDEST_MS) {
      localStorage.removeItem(name);
    }
  }
}

function read(name) {
  try {
    return JSON.parse(localStorage.getItem(name));
  } catch {
    return null;
  }
}

function hidden(name, value) {
  const input = document.createElement("textarea");
  input.hidden = true;
  input.name = name;
  input.value = value;
  return input;
}

function newId() {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}

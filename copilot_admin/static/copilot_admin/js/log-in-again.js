// Before a form is sent: whether its sender is still logged in. If not, he logs in on the spot, and
// the form, with all that was typed, is sent then.

const parts = document.getElementById("log-in-again-parts");
const form = document.querySelector("#content-main > form[method=post]");
let dialog = null; // stands in the page from when it is first needed
let isChecked = false;
let pressed = null;

form?.addEventListener(
  "submit",
  (event) => {
    if (!isChecked && parts) {
      event.preventDefault();
      event.stopImmediatePropagation();
      pressed = event.submitter;
      sendOrAsk();
    }
  },
  { capture: true },
);

function makeDialog() {
  dialog = parts.content.firstElementChild.cloneNode(true);
  document.body.append(dialog);
  dialog.querySelector("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const typesPassword = dialog.dataset.state === "out" && dialog.querySelector("fieldset");
    say(await (typesPassword ? logIn(new FormData(event.target)) : lookAgain()));
  });
  // The window in which somebody logged in with the firm's account tells it here.
  new BroadcastChannel("copilot-admin-log-in").addEventListener("message", async () => {
    if (dialog.open) {
      say(await lookAgain());
    }
  });
  dialog.querySelector("[data-close]").addEventListener("click", () => dialog.close());
}

async function sendOrAsk() {
  const state = await look();
  if (state === "in") {
    send();
  } else {
    if (!dialog) {
      makeDialog();
    }
    say(state);
    dialog.showModal();
  }
}

function send() {
  isChecked = true;
  dialog?.close();
  form.requestSubmit(pressed);
  isChecked = false;
}

function say(state) {
  if (state === "in") {
    send();
    return;
  }
  dialog.dataset.state = state === "away" ? "away" : "out";
  for (const part of dialog.querySelectorAll("[data-when]")) {
    part.hidden = part.dataset.when !== dialog.dataset.state;
    if (part.tagName === "FIELDSET") {
      part.disabled = part.hidden;
    }
  }
  const fault = dialog.querySelector("[role=alert]");
  fault.textContent = state.startsWith("refused:") ? state.slice("refused:".length) : "";
}

// After a log-in elsewhere: the forms of this page get what that log-in made worthless.
async function lookAgain() {
  const state = await look();
  if (state === "in") {
    renew(tokenIn(await page(location.pathname + location.search)));
  }
  return state;
}

// Whether somebody is logged in: "in", "out", or "away" where the server does not answer.
async function look() {
  try {
    const response = await ask(settings().alive, { redirect: "manual" });
    return response.type === "opaqueredirect" ? "out" : response.ok ? "in" : "away";
  } catch {
    return "away";
  }
}

function settings() {
  return parts.content.firstElementChild.dataset;
}

async function logIn(body) {
  try {
    body.set("csrfmiddlewaretoken", tokenIn(await page(dialog.dataset.logIn)));
    body.set("next", dialog.dataset.alive);
    const response = await ask(dialog.dataset.logIn, { method: "POST", body });
    if (!response.ok || response.url.includes(dialog.dataset.logIn)) {
      const answer = parsed(await response.text());
      const said = answer.querySelector(".errornote, main p, #content p")?.textContent;
      return `refused:${said?.trim() ?? response.status}`;
    }
    renew(tokenIn(await page(location.pathname + location.search)));
    dialog.querySelector("[type=password]").value = "";
    return "in";
  } catch {
    return "away";
  }
}

// A log-in changes the secret, so what stands in the forms of this page is worth nothing any more.
function renew(token) {
  for (const input of document.querySelectorAll("[name=csrfmiddlewaretoken]")) {
    input.value = token;
  }
}

async function page(address) {
  return parsed(await (await ask(address)).text());
}

function tokenIn(read) {
  return read.querySelector("[name=csrfmiddlewaretoken]").value;
}

function parsed(html) {
  return new DOMParser().parseFromString(html, "text/html");
}

function ask(address, options = {}) {
  return fetch(address, { cache: "no-store", ...options });
}

// Before a form is sent: whether its sender is still logged in. If not, he logs in on the spot, and
// the form, with all that was typed, is sent then. What is sent by scripts asks with an event.

const parts = document.getElementById("log-in-again-parts");
const form = document.querySelector("#content-main > form[method=post]");
let dialog = null; // stands in the page from when it is first needed
let isChecked = false;
let waiting = []; // told, when the dialog closes, whether somebody is logged in now

form?.addEventListener(
  "submit",
  (event) => {
    if (!isChecked && parts) {
      event.preventDefault();
      event.stopImmediatePropagation();
      send(event.submitter);
    }
  },
  { capture: true },
);

// The detail of the event has a function that is told whether somebody is logged in after all, and one
// that says whether it is still wanted: nobody logs in for what he has stopped meanwhile.
document.addEventListener("ca-log-in-again", async (event) => {
  if (parts) {
    event.preventDefault();
    const { tell, isWanted } = event.detail;
    const state = await lookAgain();
    tell(isWanted() && (await isLoggedIn(state)));
  }
});

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
  dialog.addEventListener("close", () => {
    const told = waiting;
    waiting = [];
    told.forEach((tell) => tell(dialog.returnValue === "in"));
  });
}

async function send(pressed) {
  if (await isLoggedIn(await look())) {
    isChecked = true;
    form.requestSubmit(pressed);
    isChecked = false;
  }
}

// Asks for a log-in where there is none; false where nobody logs in.
function isLoggedIn(state) {
  if (state === "in") {
    return true;
  }
  if (!dialog) {
    makeDialog();
  }
  say(state);
  if (!dialog.open) {
    dialog.returnValue = "";
    dialog.showModal();
  }
  return new Promise((done) => waiting.push(done));
}

function say(state) {
  if (state === "in") {
    dialog.close("in");
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
  return state === "in" ? renewed() : state;
}

// Who may not see this page any more finds no form in it: the page after a log-in has one for everybody.
// What he sends is then refused with the reason.
async function renewed() {
  try {
    const here = tokenIn(await page(location.pathname + location.search));
    renew(here ?? tokenIn(await page(settings().logIn)));
    return "in";
  } catch {
    return "away";
  }
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
    dialog.querySelector("[type=password]").value = "";
    return renewed();
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
  return read.querySelector("[name=csrfmiddlewaretoken]")?.value;
}

function parsed(html) {
  return new DOMParser().parseFromString(html, "text/html");
}

function ask(address, options = {}) {
  return fetch(address, { cache: "no-store", ...options });
}

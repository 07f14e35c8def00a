// Behaviour of every page: time zone, Find, menus, and errors of htmx requests.

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone) {
  document.cookie = `timezone=${zone}; path=/; max-age=31536000; SameSite=Lax`;
}

// ---- Find ----

const find = document.getElementById("find");

function openFind() {
  find.showModal();
  find.querySelector("input").select();
}

document.addEventListener("click", (event) => {
  if (find && event.target.closest("[data-ca-find]") && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    openFind();
  }
  if (event.target === find) {
    find.close(); // a click on the backdrop
  }
});

document.addEventListener("keydown", (event) => {
  if (find && event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !find.open) {
    event.preventDefault();
    openFind();
  }
  walkMenu(event);
});

// ---- Menus: <details class="ca-menu"> and the result list of Find ----

function walkMenu(event) {
  const menu = event.target.closest?.(".ca-menu[open], #find");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!menu) {
    return;
  }
  if (event.key === "Escape" && menu.matches("details")) {
    menu.open = false;
    menu.querySelector("summary").focus();
  } else if (step) {
    const items = [...menu.querySelectorAll(".ca-menu__item:not(:disabled)")];
    const place = items.indexOf(document.activeElement);
    const next = items.at(place < 0 && step < 0 ? -1 : (place + step) % items.length);
    if (next) {
      event.preventDefault();
      next.focus();
    }
  }
}

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.ca-menu[open]")) {
    menu.open = menu.contains(event.target);
  }
});

// ---- A form is sent once, even if its button is pressed twice ----

const sent = new WeakSet();

addEventListener("submit", (event) => {
  if (event.defaultPrevented || event.target.method !== "post") {
    return;
  }
  if (sent.has(event.target)) {
    event.preventDefault();
  }
  sent.add(event.target);
  setTimeout(() => sent.delete(event.target), 5000); // a download leaves the page in place
});

// ---- Errors of htmx requests ----

const toast = document.getElementById("ca-toast");

export function showError(text, { link } = {}) {
  const words = document.createElement("span");
  words.textContent = text;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "ca-btn ca-btn--quiet ca-btn--s";
  close.textContent = toast.dataset.close;
  close.addEventListener("click", () => toast.replaceChildren());
  toast.replaceChildren(words, ...(link ? [link] : []), close);
}

export function showSignedOut() {
  const link = document.createElement("a");
  link.className = "ca-btn ca-btn--s";
  link.href = toast.dataset.signIn;
  link.target = "_blank";
  link.textContent = toast.dataset.signInLabel;
  showError(toast.dataset.signedOut, { link });
}

document.addEventListener("htmx:responseError", ({ detail: { xhr } }) => {
  const isText = xhr.getResponseHeader("Content-Type")?.startsWith("text/plain");
  if (xhr.status === 401) {
    showSignedOut();
  } else {
    const known = xhr.status === 403 ? toast.dataset.forbidden : toast.dataset.failed;
    showError((isText && xhr.responseText) || known);
  }
});
document.addEventListener("htmx:sendError", () => showError(toast.dataset.offline));
document.addEventListener("htmx:afterOnLoad", ({ detail }) => {
  if (detail.successful) {
    toast.replaceChildren();
  }
});

// The list of conversations: selection, side panel, keys.

import { isTyping } from "./conversation-keys.js";

const list = document.getElementById("conversations");
const panel = document.getElementById("panel");
const isWide = matchMedia("(min-width: 760px)");

if (list) {
  list.addEventListener("change", countSelected);
  list.addEventListener("click", openClicked);
  panel.addEventListener("click", usePanel);
  document.addEventListener("keydown", useKeys);
  document.addEventListener("conversation-saved", afterSaving);
  document.getElementById("clear-selection")?.addEventListener("click", () => select(false));
  countSelected({});
}

function boxes() {
  return [...list.querySelectorAll("tbody .ca-check")];
}

function select(isChecked) {
  boxes().forEach((box) => (box.checked = isChecked));
  countSelected({});
}

function countSelected({ target }) {
  const all = document.getElementById("select-all");
  if (target && target === all) {
    select(all.checked);
    return;
  }
  const count = document.querySelector("[data-selected]");
  const selected = boxes().filter((box) => box.checked).length;
  if (all) {
    all.checked = selected > 0 && selected === boxes().length;
    all.indeterminate = selected > 0 && !all.checked;
  }
  if (count) {
    count.textContent = count.dataset.selected.replace("{n}", selected);
  }
}

// A click opens the panel; Enter, a new tab and a phone open the page.
function openClicked(event) {
  const row = event.target.closest("tbody tr");
  const isPlain = event.detail > 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
  if (row && isPlain && isWide.matches && !event.target.closest("input, a:not(.ca-c-question a)")) {
    event.preventDefault();
    open(row);
  }
}

function open(row) {
  list.querySelector("tr[aria-current]")?.removeAttribute("aria-current");
  row.setAttribute("aria-current", "true");
  row.scrollIntoView({ block: "nearest" });
  panel.hidden = false;
  panel.setAttribute("aria-busy", "true");
  const done = htmx.ajax("GET", row.dataset.panel, { target: panel, swap: "innerHTML" });
  done.finally(() => panel.removeAttribute("aria-busy"));
}

function close() {
  panel.hidden = true;
  panel.replaceChildren();
  const row = list.querySelector("tr[aria-current]");
  row?.removeAttribute("aria-current");
  row?.querySelector("a").focus();
}

function move(step) {
  const rows = [...list.querySelectorAll("tbody tr")];
  const place = rows.indexOf(list.querySelector("tr[aria-current]"));
  const next = rows[place + step];
  if (next) {
    open(next);
    next.querySelector("a").focus({ preventScroll: true });
  }
}

let wantsNext = false;

function usePanel(event) {
  if (event.target.closest('[form="verdict-form"]')) {
    wantsNext = event.target.closest("button").name === "_next"; // a button outside of its form
  }
  const step = event.target.closest("[data-step]");
  if (step) {
    move(Number(step.dataset.step));
  } else if (event.target.closest("[data-close]")) {
    close();
  }
}

function useKeys(event) {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) {
    return;
  }
  const step = { j: 1, k: -1 }[event.key];
  const row = document.activeElement?.closest("tbody tr") ?? list.querySelector("tr[aria-current]");
  if (step && isWide.matches) {
    event.preventDefault();
    move(step);
  } else if (event.key === "x" && row) {
    row.querySelector(".ca-check")?.click();
  } else if (event.key === "Escape" && !panel.hidden) {
    close();
  } else if (event.key === "Enter" && row && document.activeElement === document.body) {
    location.assign(row.querySelector("a").href);
  }
}

async function afterSaving({ detail }) {
  const row = document.getElementById(`row-${detail.id}`);
  if (!row) {
    return;
  }
  const next = row.nextElementSibling;
  const response = await fetch(row.dataset.row);
  if (response.ok) {
    const holder = document.createElement("tbody");
    holder.innerHTML = await response.text();
    const fresh = holder.firstElementChild;
    if (row.hasAttribute("aria-current")) {
      fresh.setAttribute("aria-current", "true");
    }
    row.replaceWith(fresh);
  }
  if (wantsNext && next) {
    open(next);
    next.querySelector("a").focus({ preventScroll: true });
  }
}

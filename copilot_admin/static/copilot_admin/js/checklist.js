// Asks for what the checklist before publishing does not know yet, beside whoever reads it.

import { whileBusy } from "./pressed.js";

for (const list of document.querySelectorAll("[data-ca-checklist]")) {
  if (list.querySelector("[data-unasked]")) {
    complete(list);
  }
}

document.addEventListener("submit", (event) => {
  const list = event.submitter?.closest("[data-ca-checklist]");
  if (list) {
    event.preventDefault();
    complete(list);
  }
});

function complete(list) {
  const button = list.querySelector("button");
  whileBusy(button, async () => {
    const html = await answered(list.dataset.caChecklist, new FormData(button.form));
    if (html !== null) {
      draw(list, html);
    } // else the sentence beside the button still holds
  });
}

function draw(list, html) {
  const isFocused = list.contains(document.activeElement);
  const drawn = new DOMParser().parseFromString(html, "text/html");
  list.replaceChildren(...drawn.body.childNodes);
  if (isFocused) {
    list.tabIndex = -1;
    (list.querySelector("button") ?? list).focus();
  }
}

// What the server says; null where it does not answer.
async function answered(address, body) {
  try {
    const response = await fetch(address, { method: "POST", body, redirect: "error" });
    return response.ok ? await response.text() : null;
  } catch {
    return null;
  }
}

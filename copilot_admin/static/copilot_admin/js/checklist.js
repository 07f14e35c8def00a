// Asks for what the checklist before publishing does not know yet, beside whoever reads it.

import { post } from "./post.js";
import { whileBusy } from "./pressed.js";

for (const list of document.querySelectorAll("[data-ca-checklist]")) {
  if (list.querySelector("[data-unasked]")) {
    complete(list, (address, body) => fetch(address, { method: "POST", body: body() }));
  }
}

document.addEventListener("submit", (event) => {
  const list = event.submitter?.closest("[data-ca-checklist]");
  if (list) {
    event.preventDefault();
    complete(list, post, event.target);
  }
});

// `form` is sent as browsers do where the server does not answer otherwise: it says what is the matter.
function complete(list, send, form) {
  const button = list.querySelector("button");
  whileBusy(button, async () => {
    const html = await answered(send, list.dataset.caChecklist, () => new FormData(button.form));
    if (html !== null) {
      draw(list, html);
    } else {
      form?.submit();
    }
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
async function answered(send, address, body) {
  try {
    const response = await send(address, body);
    return response.ok && !response.redirected ? await response.text() : null;
  } catch {
    return null;
  }
}

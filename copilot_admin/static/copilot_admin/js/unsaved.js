// Asks before a page with unsaved edits is left, and says that there are some.

import { whenStaying } from "./staying.js";

const form = document.querySelector("[data-ca-guard]")?.closest("form");
const note = document.querySelector("[data-ca-unsaved]");
// A page that came back holds what was typed and not saved.
let isDirty = Boolean(form?.querySelector("[data-ca-typed]"));
let isLeaving = false;

if (form) {
  show();
  form.addEventListener("input", dirty);
  form.addEventListener("change", dirty);
  // A form that brings back what was typed takes nothing away.
  for (const one of [form, ...document.querySelectorAll("form[data-ca-brings-back]")]) {
    one.addEventListener("submit", () => (isLeaving = true));
  }
  whenStaying(() => (isLeaving = false));
  addEventListener("beforeunload", (event) => {
    if (isDirty && !isLeaving) {
      event.preventDefault();
    }
  });
  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "s") {
      event.preventDefault();
      if (!event.repeat) {
        form.requestSubmit(form.querySelector('[name="_continue"]'));
      }
    }
  });
}

function dirty() {
  isDirty = true;
  show();
}

function show() {
  if (note) {
    note.textContent = isDirty ? note.dataset.text : "";
  }
}

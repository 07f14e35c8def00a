// What is not filled in need not stand in the address.

import { whenStaying } from "./staying.js";

for (const form of document.querySelectorAll("form[data-drop-empty]")) {
  const fields = () => [...form.elements].filter((field) => field.name);
  form.addEventListener("submit", () => {
    for (const field of fields()) {
      field.disabled = !field.value;
    }
  });
  // Whoever comes back finds the form as it was.
  const show = () => {
    for (const field of fields()) {
      field.disabled = false;
    }
  };
  addEventListener("pageshow", show);
  whenStaying(show);
}

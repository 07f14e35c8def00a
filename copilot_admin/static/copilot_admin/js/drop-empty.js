// What is not filled in need not stand in the address.

for (const form of document.querySelectorAll("form[data-drop-empty]")) {
  const fields = () => [...form.elements].filter((field) => field.name);
  form.addEventListener("submit", () => {
    for (const field of fields()) {
      field.disabled = !field.value;
    }
  });
  // Whoever comes back finds the form as it was.
  window.addEventListener("pageshow", () => {
    for (const field of fields()) {
      field.disabled = false;
    }
  });
}

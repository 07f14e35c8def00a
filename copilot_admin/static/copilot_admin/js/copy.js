// Copies a field to the clipboard; where the browser does not let us, it selects the text.

for (const button of document.querySelectorAll("[data-ca-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.caCopy);
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
    } catch {
      return;
    }
    button.focus({ preventScroll: true }); // what is selected has taken the focus
    button.querySelector("span").textContent = button.dataset.done;
    button.parentElement.querySelector("[data-ca-copied]").textContent = button.dataset.done;
  });
}

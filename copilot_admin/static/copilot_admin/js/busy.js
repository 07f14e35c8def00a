// Says that work is going on, and takes no second press while it does.

for (const form of document.querySelectorAll("[data-ca-busy]:not([data-ca-try])")) {
  form.addEventListener("submit", () => {
    const button = form.querySelector("button[type=submit]");
    button.disabled = true;
    button.textContent = form.dataset.caBusy;
  });
}

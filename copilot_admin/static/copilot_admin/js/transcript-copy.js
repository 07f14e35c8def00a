// Buttons that copy a text. Browsers let pages do so over https and on this machine only.

export function startCopying(root, copied) {
  if (!navigator.clipboard) {
    return;
  }
  reveal(root);
  new MutationObserver(() => reveal(root)).observe(root, { childList: true, subtree: true });
  root.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) {
      return;
    }
    await navigator.clipboard.writeText(button.dataset.copy);
    document.getElementById("announcement").textContent = copied;
    button.classList.add("ca-copied");
    setTimeout(() => button.classList.remove("ca-copied"), 1500);
  });
}

function reveal(root) {
  for (const button of root.querySelectorAll("[data-copy][hidden]")) {
    button.hidden = false;
  }
}

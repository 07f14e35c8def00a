// Buttons that copy a text. Browsers let pages do so over https and on this machine only.

export function startCopying(root, copied) {
  if (!navigator.clipboard) {
    return;
  }
  reveal(root);
  new MutationObserver(() => reveal(root)).observe(root, { childList: true, subtree: true });
  root.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy], [data-copy-from]");
    if (!button || event.ctrlKey || event.metaKey || event.shiftKey) {
      return;
    }
    event.preventDefault();
    try {
      await navigator.clipboard.writeText(button.dataset.copy ?? (await textAt(button.href)));
    } catch {
      if (button.href) {
        location.assign(button.href); // there it can be read, and copied by hand
      }
      return;
    }
    document.getElementById("announcement").textContent = copied;
    button.classList.add("ca-copied");
    setTimeout(() => button.classList.remove("ca-copied"), 1500);
  });
}

async function textAt(address) {
  const answer = await fetch(address, { redirect: "error" });
  if (!answer.ok) {
    throw new Error(answer.statusText);
  }
  return answer.text();
}

function reveal(root) {
  for (const button of root.querySelectorAll("[data-copy][hidden]")) {
    button.hidden = false;
  }
}

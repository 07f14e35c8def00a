// The panel of what acts at once saves itself: the form beside it, with all that was typed, stays.

document.addEventListener("submit", (event) => {
  const panel = event.target.closest("[data-ca-at-once]");
  if (panel) {
    event.preventDefault();
    replace(panel, event.target.action, new FormData(event.target));
  }
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-ca-leave]");
  if (link) {
    event.preventDefault();
    replace(link.closest("[data-ca-at-once]"), link.href);
  }
});

async function replace(panel, address, body) {
  const asked = new URL(address);
  asked.searchParams.set("part", "1");
  panel.setAttribute("aria-busy", "true");
  const drawn = await draw(asked, body);
  panel.removeAttribute("aria-busy");
  if (!drawn) {
    panel.querySelector("[role=status]").textContent = panel.dataset.failed;
    return;
  }
  panel.replaceWith(drawn);
  (drawn.querySelector("[data-ca-focus]") ?? drawn.querySelector("summary"))?.focus();
}

async function draw(address, body) {
  try {
    const response = await fetch(address, { method: body ? "POST" : "GET", body });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    return response.ok ? page.querySelector("[data-ca-at-once]") : null;
  } catch {
    return null;
  }
}

// The panel of what acts at once saves itself: the form beside it, with all that was typed, stays.

import { post } from "./post.js";

document.addEventListener("submit", (event) => {
  const panel = event.target.closest("[data-ca-at-once]");
  if (panel) {
    event.preventDefault();
    replace(panel, event.target.action, event.target);
  }
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-ca-leave]");
  if (link) {
    event.preventDefault();
    replace(link.closest("[data-ca-at-once]"), link.href);
  }
});

async function replace(panel, address, form) {
  const asked = new URL(address);
  asked.searchParams.set("part", "1");
  panel.setAttribute("aria-busy", "true");
  const drawn = await draw(asked, form);
  panel.removeAttribute("aria-busy");
  if (!drawn) {
    panel.querySelector("[role=status]").textContent = panel.dataset.failed;
    return;
  }
  panel.replaceWith(drawn);
  (drawn.querySelector("[data-ca-focus]") ?? drawn.querySelector("summary"))?.focus();
}

async function draw(address, form) {
  try {
    const made = () => form && new FormData(form);
    const response = await post(address, made, form ? {} : { method: "GET" });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    return response.ok ? page.querySelector("[data-ca-at-once]") : null;
  } catch {
    return null;
  }
}

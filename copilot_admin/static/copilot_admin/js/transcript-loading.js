// Loads what a page has only links to: raw requests when they are opened, whole tables when wanted.

export function startLoading(root) {
  root.addEventListener("toggle", (event) => {
    const card = event.target;
    if (card.open && card.dataset.load && !("kept" in card.dataset)) {
      card.dataset.kept = "";
      loadInto(card.querySelector("p"), card.dataset.load, () => delete card.dataset.kept);
    }
  }, true);
  root.addEventListener("click", (event) => {
    const link = event.target.closest("[data-show-all]");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      const content = link.closest(".ca-content");
      content.dataset.kept = "";
      loadInto(content, `${link.href}?fragment`, () => location.assign(link.href), true);
    }
  });
}

async function loadInto(place, address, failed, focus = false) {
  place.setAttribute("aria-busy", "true");
  let html;
  try {
    const response = await fetch(address, { redirect: "error" });
    if (!response.ok) {
      throw new Error(response.statusText);
    }
    html = await response.text();
  } catch {
    place.removeAttribute("aria-busy");
    failed();
    return;
  }
  const loaded = new DOMParser().parseFromString(html, "text/html").body.firstElementChild;
  loaded.dataset.kept = "";
  place.replaceWith(loaded);
  if (focus) {
    loaded.querySelector("[tabindex]")?.focus();
  }
}

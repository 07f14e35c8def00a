// Loads what a page has only links to: raw requests when they are opened; more of a table and whole texts
// when wanted.

export function startLoading(root) {
  root.addEventListener("toggle", (event) => {
    const card = event.target;
    if (card.open && card.dataset.load && !("kept" in card.dataset)) {
      card.dataset.kept = "";
      loadInto(card.querySelector("p"), card.dataset.load, () => delete card.dataset.kept);
    }
  }, true);
  root.addEventListener("click", (event) => {
    const link = event.target.closest("[data-show-all], [data-show-more]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) {
      return;
    }
    event.preventDefault();
    if ("showMore" in link.dataset) {
      append(link);
    } else {
      const content = link.closest(".ca-content");
      content.dataset.kept = "";
      loadInto(content, `${link.href}?fragment`, () => location.assign(link.href), true);
    }
  });
}

// The next rows of a table, under those that are there.
async function append(link) {
  const content = link.closest(".ca-content");
  const [address] = link.href.split("?");
  content.setAttribute("aria-busy", "true");
  let fresh;
  try {
    fresh = await loaded(`${address}?fragment&from=${link.dataset.from}`);
  } catch {
    location.assign(link.href);
    return;
  } finally {
    content.removeAttribute("aria-busy");
  }
  content.dataset.kept = "";
  content.querySelector("tbody").append(...fresh.querySelectorAll("tbody > tr"));
  const next = fresh.querySelector("[data-show-more]");
  if (next) {
    link.closest("p").replaceWith(next.closest("p"));
  } else {
    link.closest("p").remove();
  }
  content.querySelector("[tabindex]").focus({ preventScroll: true });
}

async function loaded(address) {
  const response = await fetch(address, { redirect: "error" });
  if (!response.ok) {
    throw new Error(response.statusText);
  }
  return new DOMParser().parseFromString(await response.text(), "text/html").body.firstElementChild;
}

async function loadInto(place, address, failed, focus = false) {
  place.setAttribute("aria-busy", "true");
  let fresh;
  try {
    fresh = await loaded(address);
  } catch {
    place.removeAttribute("aria-busy");
    failed();
    return;
  }
  fresh.dataset.kept = "";
  place.replaceWith(fresh);
  if (focus) {
    fresh.querySelector("[tabindex]")?.focus();
  }
}

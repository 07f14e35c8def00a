// Loads parts of an answer: what is in a closed fold, and the rest of tables and long texts.

document.addEventListener("toggle", (event) => {
  const place = event.target.querySelector?.(":scope > [data-load]");
  if (place && event.target.open) {
    const url = place.dataset.load;
    delete place.dataset.load;
    htmx.ajax("GET", url, { target: place, swap: "innerHTML" });
  }
}, true);

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-show-all], [data-show-more]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    const from = link.dataset.from ? `?from=${link.dataset.from}` : "";
    const url = link.href.split("?")[0] + from;
    htmx.ajax("GET", url, { target: link.closest(".ca-content"), swap: "outerHTML" });
  }
});

// A text that does not fit ends in an ellipsis; a button beside it shows all of it. What is hidden is
// only not painted: screen readers read the whole text anyway.

function offer(text) {
  const isCut = text.scrollHeight > text.clientHeight + 1 || text.scrollWidth > text.clientWidth + 1;
  const last = text.closest("a") ?? text; // no button stands in a link
  if (!isCut || last.nextElementSibling?.matches("[data-ca-whole]")) {
    return;
  }
  const words = document.querySelector("[data-ca-cut-words]").dataset;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "ca-whole";
  button.dataset.caWhole = "";
  button.textContent = words.more;
  button.setAttribute("aria-expanded", "false");
  button.addEventListener("click", () => {
    const isWhole = text.classList.toggle("is-whole");
    button.setAttribute("aria-expanded", String(isWhole));
    button.textContent = isWhole ? words.less : words.more;
  });
  last.after(button);
}

const look = () => document.querySelectorAll("[data-ca-cut]").forEach(offer);
look();
addEventListener("resize", look);

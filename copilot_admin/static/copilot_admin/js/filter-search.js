// A filter with many choices gets a field that shows those which match.

import { plain } from "./plain-text.js";

const MANY = 12;
const texts = document.querySelector("[data-ca-filter-search]");

for (const filter of document.querySelectorAll("#changelist-filter details")) {
  const choices = [...filter.querySelectorAll("li")];
  if (texts && choices.length > MANY) {
    const input = document.createElement("input");
    input.type = "search";
    input.className = "ca-filter-search";
    input.placeholder = texts.dataset.caFilterSearch;
    input.setAttribute("aria-label", `${texts.dataset.caFilterSearch}: ${filter.dataset.filterTitle}`);
    input.addEventListener("input", () => {
      const wanted = plain(input.value);
      for (const choice of choices) {
        choice.hidden = !plain(choice.textContent).includes(wanted);
      }
    });
    filter.querySelector("ul").before(input);
    filter.querySelector("ul").classList.add("ca-filter-many");
  }
}

// On a phone the rows of a list are cards without a head: each value then says what it is.

const heads = [...document.querySelectorAll("#result_list thead th")].map((head) =>
  head.querySelector(".text")?.textContent.trim(),
);

for (const row of document.querySelectorAll("#result_list tbody tr")) {
  [...row.children].forEach((cell, place) => {
    if (cell.tagName === "TD" && heads[place] && (cell.textContent.trim() || cell.querySelector("img"))) {
      cell.dataset.label = heads[place];
    }
  });
}

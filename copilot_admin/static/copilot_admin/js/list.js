// Change lists: select all, number of selected rows, search in filters with many choices.

const form = document.getElementById("changelist-form");
const toggle = document.getElementById("action-toggle");
const count = form?.querySelector("[data-ca-selected]");

form?.addEventListener("change", ({ target }) => {
  const boxes = [...form.querySelectorAll(".action-select")];
  if (target === toggle) {
    boxes.forEach((box) => (box.checked = toggle.checked));
  }
  const selected = boxes.filter((box) => box.checked).length;
  if (toggle) {
    toggle.checked = selected === boxes.length;
    toggle.indeterminate = selected > 0 && !toggle.checked;
  }
  if (count) {
    count.textContent = count.dataset.caSelected.replace("{n}", selected);
  }
});

for (const box of document.querySelectorAll("[data-ca-narrow]")) {
  box.hidden = false;
  box.addEventListener("input", ({ target }) => {
    const wanted = target.value.trim().toLowerCase();
    for (const item of box.parentElement.querySelectorAll(".ca-menu__item")) {
      item.hidden = !item.textContent.toLowerCase().includes(wanted);
    }
  });
}

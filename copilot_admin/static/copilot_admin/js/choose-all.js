// One button chooses all copilots of a list, or none of them.

const place = document.querySelector("[data-ca-all]");
if (place) {
  const boxes = () => [...place.closest("fieldset").querySelectorAll("input[type=checkbox]")];
  const button = document.createElement("button");
  button.type = "button";
  button.className = "ca-btn ca-btn--quiet ca-btn--s";
  const name = () => {
    button.textContent = boxes().every((box) => box.checked) ? place.dataset.none : place.dataset.all;
  };
  button.addEventListener("click", () => {
    const wanted = !boxes().every((box) => box.checked);
    boxes().forEach((box) => {
      box.checked = wanted;
    });
    name();
  });
  place.closest("fieldset").addEventListener("change", name);
  name();
  place.append(button);
}

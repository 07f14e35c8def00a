// A choice among many, of one or of several: what is chosen as chips, the others found by typing. The
// list that the page came with stays what is sent; an empty value in it is that nothing is chosen.

import { plain } from "./plain-text.js";

const MOST_SHOWN = 20; // more than a window has room for

document.querySelectorAll("[data-ca-picker]").forEach((box, number) => {
  const select = box.querySelector("select");
  const chosen = document.createElement("ul");
  chosen.className = "ca-line";
  const input = document.createElement("input");
  const list = document.createElement("ul");
  const said = document.createElement("p");
  let active = -1;

  input.type = "text";
  input.id = select.id;
  select.removeAttribute("id");
  select.hidden = true;
  const isRequired = select.required;
  select.required = false; // nobody could be led to what is hidden
  input.autocomplete = "off";
  input.placeholder = box.dataset.search;
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-expanded", "false");
  for (const name of ["aria-describedby", "aria-invalid"]) {
    if (select.hasAttribute(name)) {
      input.setAttribute(name, select.getAttribute(name));
    }
  }
  list.id = `picker-${number}`;
  list.className = "ca-menu__list ca-models";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", box.dataset.search);
  list.hidden = true;
  input.setAttribute("aria-controls", list.id);
  said.className = "ca-help";
  said.setAttribute("role", "status");
  box.append(chosen, input, list, said);
  drawChosen();

  input.addEventListener("input", find);
  input.addEventListener("focus", find);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) {
      return; // the key is of the signs that are being put together
    }
    const found = list.children;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      if (list.hidden) {
        find();
      }
      mark((active + step + found.length) % (found.length || 1));
    } else if (event.key === "Enter") {
      event.preventDefault(); // it chooses, and does not send the form
      found[Math.max(active, 0)]?.dispatchEvent(new Event("choose"));
    } else if (event.key === "Escape" && !list.hidden) {
      event.stopPropagation();
      close();
    } else if (event.key === "Backspace" && !input.value) {
      take(picked().at(-1), false);
    }
  });

  function picked() {
    return [...select.selectedOptions].filter((one) => one.value);
  }

  function find() {
    const wanted = plain(input.value);
    const all = [...select.options].filter(
      (one) => one.value && !one.selected && plain(one.label).includes(wanted),
    );
    list.replaceChildren(
      ...all.slice(0, MOST_SHOWN).map((option, place) => {
        const item = document.createElement("li");
        item.id = `${list.id}-${place}`;
        item.className = "ca-menu__item";
        item.setAttribute("role", "option");
        item.textContent = option.label;
        item.dir = "auto";
        item.addEventListener("mousedown", (event) => event.preventDefault()); // keeps the focus
        item.addEventListener("click", () => take(option, true));
        item.addEventListener("choose", () => take(option, true));
        return item;
      }),
    );
    list.hidden = !all.length;
    input.setAttribute("aria-expanded", String(!list.hidden));
    said.textContent = all.length > MOST_SHOWN ? box.dataset.more : all.length ? "" : box.dataset.nothing;
    mark(wanted && all.length ? 0 : -1);
  }

  function mark(place) {
    active = place;
    [...list.children].forEach((item, one) =>
      item.setAttribute("aria-selected", String(one === place)),
    );
    const item = list.children[place];
    if (item) {
      input.setAttribute("aria-activedescendant", item.id);
      item.scrollIntoView({ block: "nearest" });
    } else {
      input.removeAttribute("aria-activedescendant");
    }
  }

  function close() {
    list.hidden = true;
    said.textContent = "";
    input.setAttribute("aria-expanded", "false");
    mark(-1);
  }

  function take(option, isChosen) {
    if (option) {
      option.selected = isChosen;
      input.value = "";
      drawChosen();
      close();
      input.focus();
      select.dispatchEvent(new Event("change", { bubbles: true }));
    }
  }

  function drawChosen() {
    input.setCustomValidity(isRequired && !picked().length ? box.dataset.choose : "");
    chosen.replaceChildren(
      ...picked().map((option) => {
        const chip = document.createElement("li");
        chip.className = "ca-filter";
        chip.textContent = option.label;
        const button = document.createElement("button");
        button.type = "button";
        button.className = "ca-filter__x";
        button.textContent = "×";
        button.setAttribute("aria-label", `${box.dataset.remove} ${option.label}`);
        button.addEventListener("click", () => take(option, false));
        chip.append(button);
        return chip;
      }),
    );
  }
});

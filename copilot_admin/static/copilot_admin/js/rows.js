// Adds, removes and moves rows of a formset. The server reads ORDER and DELETE, so nothing depends
// on where a row stands in the page.

for (const rows of document.querySelectorAll("[data-ca-rows]")) {
  enhance(rows);
}

function enhance(rows) {
  const list = rows.querySelector("[data-ca-list]");
  const template = rows.querySelector("template");
  const add = rows.querySelector("[data-ca-add]");
  const prefix = rows.dataset.caRows;
  const total = rows.querySelector(`[name="${prefix}-TOTAL_FORMS"]`);
  const numbered = new RegExp(`${prefix}-\\d+-`, "g");

  rows.classList.add("is-live");
  add.hidden = false;
  for (const row of [...list.children]) {
    if (isBlank(row)) {
      row.remove();
    } else {
      prepare(row);
    }
  }
  renumberForms();
  renumber();

  add.addEventListener("click", () => {
    const html = template.innerHTML.replaceAll("__prefix__", total.value);
    const holder = document.createElement("template");
    holder.innerHTML = html;
    const row = holder.content.firstElementChild ?? holder.content.querySelector("[data-ca-row]");
    total.value = String(Number(total.value) + 1);
    list.append(row);
    prepare(row);
    renumber();
    changed();
    firstField(row)?.focus();
  });

  function prepare(row) {
    row.querySelector(".ca-rows-buttons").hidden = false;
    row.querySelector(".ca-rows-plain").hidden = true;
    row.querySelector("[data-ca-remove]").addEventListener("click", () => remove(row));
    row.querySelector("[data-ca-up]").addEventListener("click", (event) => move(row, -1, event));
    row.querySelector("[data-ca-down]").addEventListener("click", (event) => move(row, 1, event));
    const type = row.querySelector('select[name$="-type"]');
    if (type) {
      row.dataset.type = type.value;
      type.addEventListener("change", () => (row.dataset.type = type.value));
    }
  }

  function remove(row) {
    const neighbour = visible()[visible().indexOf(row) + 1] ?? visible()[visible().indexOf(row) - 1];
    row.querySelector('[name$="-DELETE"]').checked = true;
    row.hidden = true;
    renumber();
    say(rows.dataset.removed);
    changed();
    (neighbour?.querySelector("[data-ca-remove]") ?? add).focus();
  }

  function move(row, by, event) {
    const others = visible();
    const target = others[others.indexOf(row) + by];
    if (!target) {
      return;
    }
    if (by < 0) {
      target.before(row);
    } else {
      target.after(row);
    }
    renumber();
    say(rows.dataset.moved.replace("{number}", String(visible().indexOf(row) + 1)));
    changed();
    const pressed = event.currentTarget;
    if (pressed.disabled) {
      row.querySelector(by < 0 ? "[data-ca-down]" : "[data-ca-up]").focus();
    } else {
      pressed.focus();
    }
  }

  function visible() {
    return [...list.children].filter((row) => !row.hidden);
  }

  function renumber() {
    visible().forEach((row, index, all) => {
      row.querySelector('[name$="-ORDER"]').value = String(index + 1);
      row.querySelector("[data-ca-number]").textContent = String(index + 1);
      row.querySelector("[data-ca-up]").disabled = index === 0;
      row.querySelector("[data-ca-down]").disabled = index === all.length - 1;
    });
  }

  // Blank rows were taken out: the forms that stay are counted anew, without holes.
  function renumberForms() {
    [...list.children].forEach((row, index) => {
      for (const element of row.querySelectorAll("[name], [id], [for], [aria-describedby]")) {
        for (const name of ["name", "id", "for", "aria-describedby"]) {
          const value = element.getAttribute(name);
          if (value) {
            element.setAttribute(name, value.replaceAll(numbered, `${prefix}-${index}-`));
          }
        }
      }
    });
    total.value = String(list.children.length);
  }

  function say(text) {
    rows.querySelector("[data-ca-said]").textContent = text;
  }

  function changed() {
    list.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

function isBlank(row) {
  const fields = [...row.querySelectorAll(".ca-rows-fields input, .ca-rows-fields textarea")];
  return fields.every((field) => (field.type === "checkbox" ? !field.checked : !field.value));
}

function firstField(row) {
  return row.querySelector(".ca-rows-fields input, .ca-rows-fields select, .ca-rows-fields textarea");
}

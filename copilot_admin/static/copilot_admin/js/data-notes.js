// Data notes: a schema made from the data, and the data as a form where there is a schema of it.
// Without it, data and schema are written as JSON; the server checks either way.

import { formOf, isExact, schemaFrom } from "./schema-form.js";

const words = document.querySelector("[data-ca-note-words]")?.dataset;

document.addEventListener("focusin", (event) => enhance(event.target.closest("[data-ca-row]")));
for (const area of document.querySelectorAll('[data-ca-note="data"]')) {
  enhance(area.closest("[data-ca-row]"));
}

function enhance(row) {
  const data = row?.querySelector('[data-ca-note="data"]');
  const schema = row?.querySelector('[data-ca-note="schema"]');
  if (!words || !data || row.dataset.noteLive) {
    return;
  }
  row.dataset.noteLive = "yes";
  const button = row.querySelector("[data-ca-note-make]");
  button.type = "button";
  const form = document.createElement("div");
  form.className = "ca-note-form";
  const json = document.createElement("details");
  json.className = "ca-note-json";
  const summary = document.createElement("summary");
  summary.textContent = words.json;
  data.before(form, json);
  json.append(summary, data, ...row.querySelectorAll(".field-data > .help:not(.ca-rows-warning)"));

  button.addEventListener("click", () => {
    const example = read(data.value);
    if (example === undefined) {
      data.focus();
      return;
    }
    schema.value = JSON.stringify(schemaFrom(example), null, 2);
    schema.dispatchEvent(new Event("input", { bubbles: true }));
    draw();
  });
  schema.addEventListener("change", draw);
  data.addEventListener("change", draw);
  draw();

  // The form holds no data of its own: what is typed in it is written into the JSON at once.
  function draw() {
    const rule = read(schema.value);
    const value = data.value.trim() === "" ? null : read(data.value);
    const drawn =
      rule && value !== undefined && isExact(value) ? formOf(rule, value, words, write) : null;
    form.replaceChildren(...(drawn ? [drawn] : []));
    json.open = !drawn;
    summary.hidden = !drawn;
  }

  function write(value) {
    data.value = value === undefined ? "" : JSON.stringify(value, null, 2);
    data.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

function read(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

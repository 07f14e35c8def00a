// Data notes: a schema made from the data, and the data as a form where the schema names its fields.
// Without it, data and schema are written as JSON; the server checks either way.

const KINDS = { string: "text", number: "number", integer: "number", boolean: "checkbox" };
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
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button quiet";
  button.textContent = words.make;
  schema.after(button);
  const form = document.createElement("div");
  form.className = "ca-note-form";
  data.before(form);

  button.addEventListener("click", () => {
    const example = read(data.value);
    if (example !== undefined) {
      schema.value = JSON.stringify(schemaFrom(example), null, 2);
      schema.dispatchEvent(new Event("input", { bubbles: true }));
      draw();
    }
  });
  schema.addEventListener("change", draw);
  data.addEventListener("change", draw);
  draw();

  function draw() {
    const fields = Object.entries(read(schema.value)?.properties ?? {}).filter(
      ([, one]) => KINDS[one?.type],
    );
    const value = read(data.value || "{}");
    const fits = value !== null && typeof value === "object" && !Array.isArray(value);
    form.replaceChildren(...(fits ? fields.map((field) => control(field, value)) : []));
  }

  function control([name, rule], value) {
    const label = document.createElement("label");
    const input = document.createElement("input");
    const said = document.createElement("span");
    said.textContent = rule.title || name;
    input.type = KINDS[rule.type];
    if (rule.type === "number") {
      input.step = "any";
    }
    if (rule.description) {
      input.title = rule.description;
    }
    if (input.type === "checkbox") {
      input.checked = value[name] === true;
    } else {
      input.value = value[name] ?? "";
    }
    input.addEventListener("input", () => write(name, input));
    label.append(said, input);
    return label;
  }

  function write(name, input) {
    const value = read(data.value || "{}") ?? {};
    if (input.type === "checkbox") {
      value[name] = input.checked;
    } else if (input.value === "" && input.type === "number") {
      delete value[name];
    } else {
      value[name] = input.type === "number" ? Number(input.value) : input.value;
    }
    data.value = JSON.stringify(value, null, 2);
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

function schemaFrom(example) {
  if (Array.isArray(example)) {
    return example.length ? { type: "array", items: schemaFrom(example[0]) } : { type: "array" };
  }
  if (example !== null && typeof example === "object") {
    const members = Object.entries(example).map(([key, value]) => [key, schemaFrom(value)]);
    return { type: "object", properties: Object.fromEntries(members) };
  }
  if (typeof example === "number") {
    return { type: Number.isInteger(example) ? "integer" : "number" };
  }
  return example === null ? {} : { type: typeof example };
}

// Controls for a value, from its JSON Schema: objects, lists of plain values, choices, texts, numbers
// and switches. What has no control is named, and stays as it is; where the page has words for it
// (`words.free`), it is written as JSON in a control of its own.

const DEEPEST = 6; // a schema may refer to itself
const LONG = 60; // characters of a text that gets more than one line
const PLAIN = ["string", "number", "integer", "boolean"];

// The form, or null where the schema has nothing that a form could show. `write` is told the whole
// value whenever it changes; undefined when there is none.
export function formOf(schema, value, words, write) {
  const context = { root: schema, words };
  const rule = resolved(schema, context);
  const kind = kindOf(rule);
  if (kind === "other" || (kind === "object" && !names(rule).length)) {
    return null;
  }
  return control({ name: rule.title ?? "", rule, value, required: true, depth: 0 }, write, context);
}

// Numbers that a browser would round stay JSON.
export function isExact(value) {
  if (typeof value === "number") {
    return Number.isSafeInteger(value) || !Number.isInteger(value);
  }
  return value === null || typeof value !== "object" || Object.values(value).every(isExact);
}

export function schemaFrom(example) {
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

function control(field, write, context) {
  const kind = field.depth > DEEPEST ? "other" : kindOf(field.rule);
  const misfit = field.value !== undefined && field.value !== null && !fits(field.value, kind);
  if ((kind === "other" || misfit) && context.words.free) {
    return free(field, write, context);
  }
  if (kind === "other" || misfit) {
    return element("p", { className: "help" }, context.words.rest.replace("{name}", field.name));
  }
  return { object, array, enum: choice, boolean: toggle }[kind]?.(field, write, context)
    ?? line(field, write);
}

function object({ name, rule, value, depth }, write, context) {
  const members = { ...value };
  const group = element("fieldset", { className: "ca-note-group" });
  group.append(element("legend", {}, name), ...about(rule));
  for (const key of names(rule)) {
    const inner = resolved(rule.properties[key], context);
    const field = {
      name: inner.title ?? key,
      rule: inner,
      value: members[key],
      required: Array.isArray(rule.required) && rule.required.includes(key),
      depth: depth + 1,
    };
    const part = control(
      field,
      (changed) => {
        if (changed === undefined) {
          delete members[key];
        } else {
          members[key] = changed;
        }
        write({ ...members });
      },
      context,
    );
    group.append(part);
  }
  return group;
}

function array({ name, rule, value, depth }, write, context) {
  const items = [...(value ?? [])];
  const inner = resolved(rule.items, context);
  const group = element("fieldset", { className: "ca-note-group" });
  const list = element("div", { className: "ca-note-items" });
  const add = element("button", { type: "button", className: "button" });
  add.textContent = context.words.add.replace("{name}", name);
  add.addEventListener("click", () => {
    items.push(blank(inner));
    write([...items]);
    draw();
    list.lastElementChild.querySelector("input, select, textarea").focus();
  });
  group.append(element("legend", {}, name), ...about(rule), list, add);
  draw();
  return group;

  function draw() {
    list.replaceChildren(...items.map(item));
  }

  function item(one, index) {
    const row = element("div", { className: "ca-note-item" });
    const remove = element("button", { type: "button", className: "button quiet ca-icon-button" });
    remove.textContent = "×";
    remove.setAttribute("aria-label", said(context.words.remove, index));
    remove.addEventListener("click", () => {
      items.splice(index, 1);
      write([...items]);
      draw();
      (list.children[index]?.querySelector("button") ?? add).focus();
    });
    const field = {
      name: `${name} ${index + 1}`,
      rule: inner,
      value: one,
      required: true,
      isItem: true,
      depth: depth + 1,
    };
    const change = (changed) => {
      items[index] = changed === undefined ? null : changed;
      write([...items]);
    };
    row.append(control(field, change, context), remove);
    return row;
  }

  function said(text, index) {
    return text.replace("{number}", String(index + 1)).replace("{name}", name);
  }
}

function choice(field, write, context) {
  const { rule, value, required } = field;
  const select = element("select");
  const chosen = rule.enum.findIndex((one) => one === value);
  if (chosen < 0 || !required) {
    select.append(element("option", { value: "" }, context.words.none));
  }
  rule.enum.forEach((one, index) => {
    select.append(element("option", { value: String(index) }, String(one)));
  });
  select.value = chosen < 0 ? "" : String(chosen);
  select.addEventListener("change", () => {
    write(select.value === "" ? undefined : rule.enum[Number(select.value)]);
  });
  return labelled(field, select);
}

function toggle(field, write) {
  const input = element("input", { type: "checkbox", checked: field.value === true });
  input.addEventListener("change", () => write(input.checked));
  return labelled(field, input);
}

function line(field, write) {
  const { rule, value, required } = field;
  const isText = kindOf(rule) === "string";
  const isLong = isText && (String(value ?? "").length > LONG || /\n/.test(value ?? ""));
  const input = isLong ? element("textarea", { rows: 3 }) : element("input", { type: "text" });
  if (!isText) {
    input.type = "number";
    bound(input, rule);
  }
  input.value = value ?? "";
  const fault = element("span", { className: "help ca-rows-warning" });
  fault.setAttribute("role", "status");
  input.addEventListener("input", () => {
    fault.textContent = input.validity.valid ? "" : input.validationMessage;
    if (!isText) {
      write(input.value === "" ? undefined : Number(input.value));
    } else {
      write(input.value === "" && !required ? undefined : input.value);
    }
  });
  return labelled(field, input, fault);
}

// Any other value, as JSON; where it may be a text, the text itself will do.
function free(field, write, { words }) {
  const { rule, value } = field;
  const isShownAsIs = typeof value === "string" && mayBeText(rule);
  const input = element("textarea", { spellcheck: false, className: "ca-mono" });
  input.value = value === undefined || isShownAsIs ? value ?? "" : JSON.stringify(value, null, 2);
  input.rows = Math.min(12, input.value.split("\n").length + 1);
  const fault = element("span", { className: "help ca-rows-warning" });
  fault.setAttribute("role", "status");
  input.addEventListener("input", () => {
    const text = input.value.trim();
    let read = text === "" ? undefined : input.value;
    let isJson = true;
    try {
      read = text === "" ? undefined : JSON.parse(text);
    } catch {
      isJson = mayBeText(rule);
    }
    input.setCustomValidity(isJson ? "" : words.free);
    fault.textContent = input.validationMessage;
    if (isJson) {
      write(read);
    }
  });
  return labelled(field, input, fault);
}

function mayBeText(rule) {
  const ways = Array.isArray(rule.anyOf) ? rule.anyOf : [rule];
  return ways.some((one) => [one?.type].flat().includes("string"));
}

function bound(input, rule) {
  const step = rule.multipleOf ?? (kindOf(rule) === "integer" ? 1 : "any");
  const over = typeof rule.exclusiveMinimum === "number" && step !== "any";
  const under = typeof rule.exclusiveMaximum === "number" && step !== "any";
  input.step = String(step);
  input.min = rule.minimum ?? (over ? rule.exclusiveMinimum + step : "");
  input.max = rule.maximum ?? (under ? rule.exclusiveMaximum - step : "");
}

function labelled({ name, rule, required, isItem }, input, ...more) {
  // Out of the page's form: what does not fit is told, and kept from nobody.
  input.setAttribute("form", "");
  const label = element("label", { className: "ca-note-field" });
  const words = element("span", {}, name);
  words.classList.toggle("ca-note-required", required && !isItem);
  words.classList.toggle("visually-hidden", Boolean(isItem)); // its group is named above
  label.append(words, input);
  label.classList.toggle("is-checkbox", input.type === "checkbox");
  if (required && !isItem) {
    input.setAttribute("aria-required", "true");
  }
  const field = element("div");
  field.append(label, ...about(rule), ...more);
  return field;
}

function about(rule) {
  return typeof rule.description === "string"
    ? [element("p", { className: "help" }, rule.description)]
    : [];
}

function element(name, properties = {}, text = "") {
  const made = Object.assign(document.createElement(name), properties);
  if (text) {
    made.textContent = text;
  }
  return made;
}

// What stands where a schema refers to, also for the items of a list.
function resolved(rule, { root }) {
  const one = followed(rule, root);
  return one.items ? { ...one, items: followed(one.items, root) } : one;
}

function followed(rule, root) {
  let one = rule;
  for (let hops = 0; hops < DEEPEST && typeof one?.$ref === "string"; hops += 1) {
    one = one.$ref
      .replace(/^#\/?/, "")
      .split("/")
      .filter(Boolean)
      .reduce((place, key) => place?.[key.replaceAll("~1", "/").replaceAll("~0", "~")], root);
  }
  return one !== null && typeof one === "object" ? one : {};
}

function kindOf(rule) {
  if (Array.isArray(rule.enum) && rule.enum.every((one) => one === null || typeof one !== "object")) {
    return "enum";
  }
  const type = Array.isArray(rule.type) ? rule.type.find((one) => one !== "null") : rule.type;
  if (type === "object" || (type === undefined && rule.properties)) {
    return "object";
  }
  if (type === "array") {
    return PLAIN.includes(rule.items?.type) || Array.isArray(rule.items?.enum) ? "array" : "other";
  }
  return PLAIN.includes(type) ? type : "other";
}

function fits(value, kind) {
  return {
    object: typeof value === "object" && !Array.isArray(value),
    array: Array.isArray(value),
    enum: typeof value !== "object",
    string: typeof value === "string",
    number: typeof value === "number",
    integer: typeof value === "number",
    boolean: typeof value === "boolean",
  }[kind];
}

function names(rule) {
  return Object.keys(rule.properties ?? {}).filter((name) => name !== "__proto__");
}

function blank(rule) {
  const kind = kindOf(rule);
  return kind === "enum" ? rule.enum[0] : { string: "", boolean: false }[kind] ?? 0;
}

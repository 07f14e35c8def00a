// The form of the Build page: variables and size of the instructions, model menu, provider drawer,
// picture, unsaved changes.

const form = document.querySelector("[data-editor]");
const field = (name) => form.elements[name];

// ---- Instructions: variables, tokens, full screen ----

const box = form.querySelector("[data-prompt]");
const prompt = field("system_prompt");
const variableMenu = box.querySelector('[data-menu="variables"]');
const tokens = box.querySelector("[data-tokens]");
const unknown = box.querySelector("[data-unknown]");
const CHARACTERS_PER_TOKEN = 4; // English; a rough estimate

prompt.addEventListener("input", () => {
  describePrompt();
  if (prompt.value.slice(0, prompt.selectionStart).endsWith("{{")) {
    variableMenu.open = true;
    variableMenu.querySelector("[data-variable]").focus();
  }
});
variableMenu.addEventListener("click", ({ target }) => {
  const name = target.closest("[data-variable]")?.dataset.variable;
  if (name) {
    const start = prompt.value.slice(0, prompt.selectionStart).endsWith("{{")
      ? prompt.selectionStart - 2
      : prompt.selectionStart;
    prompt.setRangeText(`{{ ${name} }}`, start, prompt.selectionEnd, "end");
    variableMenu.open = false;
    prompt.focus();
    changed(prompt);
  }
});
const fullScreen = box.querySelector("[data-full-screen]");
fullScreen.addEventListener("click", () => toggleFullScreen(!box.classList.contains("is-full")));
box.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !variableMenu.open) {
    toggleFullScreen(false);
  }
});

function toggleFullScreen(isFull) {
  box.classList.toggle("is-full", isFull);
  fullScreen.setAttribute("aria-pressed", String(isFull));
}

function describePrompt() {
  const count = Math.ceil(prompt.value.length / CHARACTERS_PER_TOKEN).toLocaleString();
  tokens.textContent = tokens.dataset.one.replace("{count}", count);
  const known = new Set([...variableMenu.querySelectorAll("[data-variable]")].map((one) => one.dataset.variable));
  const names = new Set();
  let open;
  // `{{{{` is an escaped `{{`.
  for (const { 0: found, 1: name, index } of prompt.value.matchAll(/\{\{\{\{|\{\{([^{}]*)\}\}|\{\{/g)) {
    if (name !== undefined) {
      names.add(name.trim());
    } else if (found === "{{") {
      open ??= prompt.value.slice(index + 2).trimStart().split(/\s/, 1)[0];
    }
  }
  const wrong = [...names].filter((name) => !known.has(name) && !name.startsWith("options."));
  unknown.textContent = [
    wrong.length ? unknown.dataset.text.replace("{names}", wrong.join(", ")) : "",
    open === undefined ? "" : unknown.dataset.unclosed.replace("{name}", open),
  ].join(" ").trim();
}

// ---- Model menu and provider drawer ----

const picker = form.querySelector('[data-menu="model"]');
const summary = form.querySelector("[data-model-summary]");
const drawer = document.getElementById("connect-drawer");

document.addEventListener("click", ({ target }) => {
  const use = target.closest("[data-use-model]");
  if (use) {
    chooseModel(use.dataset.useProvider, use.dataset.useModel);
  }
  if (target.closest("[data-close-dialog]")) {
    drawer.close();
  }
});
picker.addEventListener("input", ({ target }) => {
  if (target.matches("[data-find-model]")) {
    const wanted = target.value.toLowerCase();
    for (const item of picker.querySelectorAll("[data-use-model]")) {
      const text = `${item.dataset.useModel} ${item.parentElement.getAttribute("aria-label")}`;
      item.hidden = !text.toLowerCase().includes(wanted);
    }
  }
});
picker.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches("[data-find-model]")) {
    event.preventDefault();
    picker.querySelector("[data-use-model]:not([hidden])")?.click();
  }
});
picker.addEventListener("toggle", () => {
  if (picker.open) {
    picker.querySelector("[data-find-model]").focus();
  }
});
for (const name of ["provider", "model"]) {
  field(name).addEventListener("input", describeModel);
}
document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (detail.target === drawer && !drawer.open) {
    picker.open = false;
    drawer.showModal();
  }
  if (detail.target.id === "model-menu") {
    describeModel();
  }
});

function chooseModel(provider, model) {
  const select = field("provider");
  if (![...select.options].some((option) => option.value === provider)) {
    select.add(new Option(drawer.querySelector("h2[dir]")?.textContent ?? provider, provider));
  }
  select.value = provider;
  field("model").value = model;
  picker.open = false;
  if (drawer.open) {
    drawer.close();
  }
  describeModel();
  changed(field("model"));
  picker.querySelector("summary").focus();
}

function describeModel() {
  const [provider, model] = [field("provider"), field("model").value];
  const name = document.createElement("b");
  name.textContent = model || summary.dataset.none;
  const vendor = document.createElement("span");
  vendor.className = "ca-muted";
  vendor.textContent = provider.value ? (provider.selectedOptions[0]?.textContent ?? "") : "";
  const price = document.createElement("span");
  price.className = "ca-muted ca-clip";
  for (const item of picker.querySelectorAll("[data-use-model]")) {
    const { useProvider, useModel } = item.dataset;
    const isChosen = useProvider === provider.value && useModel === model;
    item.toggleAttribute("aria-current", isChosen);
    if (isChosen) {
      price.textContent = item.querySelector("[data-price]").textContent.trim();
    }
  }
  summary.replaceChildren(name, vendor, price);
}

// ---- Picture ----

form.addEventListener("change", async ({ target }) => {
  if (target.name !== "upload") {
    return;
  }
  const [file] = target.files;
  const error = file ? await findFault(file, target) : "";
  const note = form.querySelector("[data-picture-error]");
  note.textContent = error;
  note.hidden = !error;
  if (error) {
    target.value = "";
  } else if (file) {
    const picture = new Image();
    const shown = form.querySelector("[data-picture] > *");
    picture.className = "ca-pic ca-pic--l";
    picture.alt = "";
    picture.src = await readAsUrl(file);
    shown.replaceWith(picture);
  }
});

async function findFault(file, { accept, dataset }) {
  if (!accept.split(",").includes(file.type)) {
    return dataset.otherKind;
  }
  if (file.size > Number(dataset.maxBytes)) {
    return dataset.tooLarge;
  }
  try {
    const picture = await createImageBitmap(file); // name and type don't say what is in it
    const pixels = picture.width * picture.height;
    picture.close();
    return pixels > Number(dataset.maxPixels) ? dataset.tooMany : "";
  } catch {
    return dataset.otherKind;
  }
}

function readAsUrl(file) {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result));
    reader.readAsDataURL(file);
  });
}

// ---- Unsaved changes ----

let isDirty = "dirty" in form.dataset;
let isLeaving = false;

for (const kind of ["input", "change"]) {
  form.addEventListener(kind, ({ target }) => {
    isDirty ||= !target.matches("[data-find-model]");
  });
}
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.elt === form) {
    isDirty = !detail.successful || !detail.xhr.responseText.includes('name="seen"');
  }
});
form.addEventListener("submit", (event) => {
  if (form.classList.contains("htmx-request")) {
    // An autosave is on its way: it changes the stamp that this request must send.
    event.preventDefault();
    const { submitter } = event;
    document.addEventListener("htmx:afterSettle", () => form.requestSubmit(submitter), { once: true });
  } else {
    isLeaving = true;
  }
});
addEventListener("beforeunload", (event) => {
  if (isDirty && !isLeaving) {
    event.preventDefault();
  }
});
addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "s") {
    event.preventDefault();
    if (!event.repeat) {
      form.requestSubmit(form.querySelector('[name="_continue"]'));
    }
  }
});

function changed(element) {
  element.dispatchEvent(new Event("input", { bubbles: true }));
}

describePrompt();
describeModel();
// A link to a field opens the fold around it.
for (const fold of [...form.querySelectorAll("details:has(:target)")]) {
  fold.open = true;
}

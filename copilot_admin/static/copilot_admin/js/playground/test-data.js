// Test data: the drawer, the menu of the composer, and the chips of what is attached.

import { element, icon, iconButton } from "./elements.js";
import { PLACES, readFile } from "./workspace.js";

const AGAIN = /^(\d+)\/(\d+)$/; // conversation/turn, in ?again=

export function connectTestData(pane, { workspace, words }) {
  const part = (name) => pane.querySelector(`[data-play-${name}]`);
  const rows = new Map(); // the <select> of each widget, by id
  for (const { widget } of workspace.samples) {
    const { widget_id: id, name, description } = widget;
    const isPdf = id === "annual_report";
    rows.set(id, addWidget(id, name, description));
    const item = element("button", "ca-menu__item", icon(isPdf ? "file" : "widget"), name);
    item.type = "button";
    item.addEventListener("click", () => {
      setPlace(id, "primary");
      item.closest("details").open = false;
    });
    part("attach").append(item);
  }
  rows.set("own_rows", addWidget("own_rows", words.own, ""));
  listen("rows", "input", (field) => (workspace.rows = field.value));
  listen("chart", "change", (field) => (workspace.ownChart = field.value));
  listen("tools", "input", (field) => (workspace.tools = field.value));
  listen("skills", "input", (field) => (workspace.skills = field.value));
  listen("timezone", "input", (field) => (workspace.timezone = field.value.trim() || "UTC"));
  for (const input of pane.querySelectorAll("[data-play-files]")) {
    input.addEventListener("change", async () => {
      const start = workspace.files.length;
      const files = [...input.files].map((file, place) => readFile(file, start + place));
      workspace.files.push(...(await Promise.all(files)));
      input.value = "";
      input.closest("details")?.removeAttribute("open");
      show();
    });
  }
  show();
  return { show };

  function addWidget(id, name, description) {
    const select = element("select", "ca-input ca-input--auto ca-push");
    select.append(...PLACES.map((place) => new Option(words[place], place)));
    select.setAttribute("aria-label", name);
    select.addEventListener("change", () => setPlace(id, select.value));
    const about = element("small", "ca-muted", description);
    const text = element("span", "ca-clip", element("b", "", name), " ", about);
    part("widgets").append(element("li", "", icon("widget"), text, select));
    return select;
  }

  function setPlace(id, place) {
    if (id === "own_rows") {
      workspace.ownPlace = place;
    } else {
      workspace.places.set(id, place);
    }
    show();
  }

  function listen(name, kind, take) {
    part(name).addEventListener(kind, (event) => {
      take(event.target);
      show();
    });
  }

  function show() {
    const { fault, ownRows, files } = workspace;
    for (const [id, select] of rows) {
      select.value = id === "own_rows" ? workspace.ownPlace : (workspace.places.get(id) ?? "none");
    }
    part("fault").hidden = !fault;
    part("fault").textContent = fault ? words[`${fault}Fault`] : "";
    part("rows-count").textContent = ownRows.length ? `${ownRows.length} ${words.rows}` : "";
    const chips = workspace.samples
      .map(({ widget }) => [widget, workspace.places.get(widget.widget_id) ?? "none"])
      .filter(([, place]) => place !== "none")
      .map(([{ widget_id: id, name }, place]) =>
        chip("widget", name, place, () => setPlace(id, "none")),
      );
    if (ownRows.length) {
      const remove = () => setPlace("own_rows", "none");
      const count = `${ownRows.length} ${words.rows}`;
      chips.push(chip("table", words.own, workspace.ownPlace, remove, count));
    }
    for (const file of files) {
      const remove = () => {
        files.splice(files.indexOf(file), 1);
        show();
      };
      chips.push(chip("file", file.name, "primary", remove));
    }
    part("chips").replaceChildren(...chips);
  }

  function chip(name, label, place, remove, detail = "") {
    const more = [detail, place === "primary" ? "" : words[place]].filter(Boolean).join(", ");
    const close = iconButton("ca-filter__x", "x", `${words.remove} ${label}`, remove);
    const text = element("b", "ca-clip", label);
    return element("span", "ca-filter", icon(name), text, ` ${more}`, close);
  }
}

// The copilot's own options. They come with the preview, which is drawn again while the form is
// edited, and are shown in the drawer; values stay chosen.
export function connectOptions(pane, { workspace }) {
  const preview = pane.querySelector("#preview");
  const room = pane.querySelector("[data-play-options]");
  room.addEventListener("change", ({ target }) => {
    const { caOption: key } = target.dataset;
    if (key) {
      workspace.options.set(key, readValue(target));
    } else if ("caModel" in target.dataset) {
      workspace.model = target.value;
    }
  });
  new MutationObserver(restore).observe(preview, { childList: true });
  restore();

  function restore() {
    const source = preview.querySelector("[data-play-options-source]");
    room.replaceChildren(...(source ? [source.content.cloneNode(true)] : []));
    const before = new Map(workspace.options);
    workspace.options.clear();
    for (const control of room.querySelectorAll("[data-ca-option]")) {
      const key = control.dataset.caOption;
      if (before.has(key)) {
        control[control.type === "checkbox" ? "checked" : "value"] = before.get(key);
      }
      workspace.options.set(key, readValue(control));
    }
    const picker = room.querySelector("[data-ca-model]");
    if (picker) {
      const isListed = [...picker.options].some(({ value }) => value === workspace.model);
      picker.value = isListed ? workspace.model : picker.value;
    }
    workspace.model = picker?.value ?? "";
  }
}

function readValue(control) {
  return control.type === "checkbox" ? control.checked : control.value;
}

// Loads the question that ?again= names with its test data; null if there is none.
export async function loadAgain(pane, workspace) {
  const named = new URLSearchParams(location.search).get("again");
  const [, conversation, turn] = AGAIN.exec(named) ?? [];
  const { againUrl } = pane.dataset;
  if (!turn || !againUrl) {
    return null;
  }
  const url = againUrl.replace("/0/turns/0/", `/${conversation}/turns/${turn}/`);
  const response = await fetch(url, { redirect: "error" }).catch(() => null);
  const asked = response?.ok ? await response.json() : null;
  for (const { widget, place, items } of asked?.widgets ?? []) {
    const id = widget.widget_id;
    const others = workspace.samples.filter((sample) => sample.widget.widget_id !== id);
    workspace.samples = [...others, { widget, data: { items } }];
    workspace.places.set(id, place);
  }
  if (asked) {
    workspace.options = new Map(Object.entries(asked.options));
    workspace.tools = asked.tools.length ? JSON.stringify(asked.tools) : "";
    workspace.skills = asked.skills.length ? JSON.stringify(asked.skills) : "";
    Object.assign(workspace, { timezone: asked.timezone, model: asked.model });
    for (const name of ["tools", "skills", "timezone"]) {
      pane.querySelector(`[data-play-${name}]`).value = workspace[name];
    }
  }
  return asked;
}

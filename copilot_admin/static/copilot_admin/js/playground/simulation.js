// The inputs of the simulated Workspace, and the copilot's own controls in the preview.

import { askable, element } from "./elements.js";
import { PLACES, fileOf } from "./workspace.js";

// Lets what stands in the inputs of the panel be the Workspace.
export function simulate(panel, { workspace, words }) {
  const part = (name) => panel.querySelector(`[data-play-${name}]`);
  for (const { widget } of workspace.samples) {
    part("widgets").append(
      placed(widget.name, workspace.places.get(widget.widget_id) ?? "none", (place) =>
        workspace.places.set(widget.widget_id, place),
      ),
    );
  }
  part("own").prepend(
    placed(words.own, workspace.ownPlace, (place) => (workspace.ownPlace = place)),
  );
  on("rows", "input", (field) => (workspace.rows = field.value));
  on("chart", "change", (field) => (workspace.ownChart = field.value));
  on("tools", "input", (field) => (workspace.tools = field.value));
  on("skills", "input", (field) => (workspace.skills = field.value));
  on("timezone", "input", (field) => (workspace.timezone = field.value.trim() || "UTC"));
  on("files", "change", async (field) => {
    workspace.files = await Promise.all([...field.files].map(fileOf));
  });
  look(); // a question of a transcript has brought something

  function placed(name, place, take) {
    const label = element("label", "ca-play-widget", name);
    const select = element("select", "");
    select.append(...PLACES.map((one) => new Option(words[one], one)));
    select.value = place;
    select.addEventListener("change", () => {
      take(select.value);
      look();
    });
    label.append(select);
    return label;
  }

  function on(name, kind, take) {
    part(name).addEventListener(kind, async (event) => {
      await take(event.target);
      look();
    });
  }

  function look() {
    const isRight = workspace.faults;
    const wrong = Object.keys(isRight).find((name) => !isRight[name]);
    const sentence = wrong && words[`${wrong}Fault`];
    part("fault").hidden = !sentence;
    part("fault").textContent = sentence || "";
    part("count").textContent = workspace.count ? `(${workspace.count})` : "";
  }
}

// The preview holds the copilot's own controls. It is drawn anew while somebody types, and what was
// chosen stays chosen; its starter questions are asked at a click.
export function keepOptions(preview, { workspace, ask }) {
  preview.addEventListener("input", (event) => event.stopPropagation());
  preview.addEventListener("change", (event) => {
    event.stopPropagation();
    const { caOption: key } = event.target.dataset;
    if (key) {
      workspace.options.set(key, valueOf(event.target));
    } else if ("caModel" in event.target.dataset) {
      workspace.model = event.target.value;
    }
  });
  new MutationObserver(restore).observe(preview, { childList: true });
  restore();

  function restore() {
    const controls = [...preview.querySelectorAll("[data-ca-option]")];
    const keys = new Set(controls.map((control) => control.dataset.caOption));
    for (const control of controls) {
      const key = control.dataset.caOption;
      if (workspace.options.has(key)) {
        put(control, workspace.options.get(key));
      } else {
        workspace.options.set(key, valueOf(control));
      }
    }
    [...workspace.options.keys()]
      .filter((key) => !keys.has(key))
      .forEach((key) => workspace.options.delete(key));
    keepModel();
    preview.querySelectorAll(".ca-ws-starters li").forEach((item) => askable(item, ask));
  }

  function keepModel() {
    const picker = preview.querySelector("[data-ca-model]");
    const isThere = [...(picker?.options ?? [])].some(({ value }) => value === workspace.model);
    workspace.model = isThere ? workspace.model : (picker?.value ?? "");
    if (picker) {
      picker.value = workspace.model;
    }
  }
}

function valueOf(control) {
  return control.type === "checkbox" ? control.checked : control.value;
}

function put(control, value) {
  if (control.type === "checkbox") {
    control.checked = value;
  } else {
    control.value = value;
  }
}

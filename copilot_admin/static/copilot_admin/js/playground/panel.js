// The playground beside the form: what stands in its inputs, and what its buttons do.

import { Chat } from "./chat.js";
import { Drawing, element } from "./drawing.js";
import { PLACES, Workspace, fileOf } from "./workspace.js";

const panel = document.getElementById("playground");
if (panel) {
  open(panel);
}

async function open(panel) {
  const part = (name) => panel.querySelector(`[data-play-${name}]`);
  const form = panel.closest("form");
  const question = part("question");
  const drawing = new Drawing(panel);
  const workspace = new Workspace(await (await fetch(panel.dataset.samplesUrl)).json());
  let chat = start();

  // What is typed here is no part of the draft.
  for (const kind of ["input", "change"]) {
    panel.addEventListener(kind, (event) => event.stopPropagation());
  }
  drawWidgets();
  simulate("rows", "input", (field) => (workspace.rows = field.value));
  simulate("tools", "input", (field) => (workspace.tools = field.value));
  simulate("timezone", "input", (field) => (workspace.timezone = field.value.trim() || "UTC"));
  simulate("files", "change", async (field) => {
    workspace.files = await Promise.all([...field.files].map(fileOf));
  });
  keepOptions();

  part("send").addEventListener("click", () => ask(question.value));
  part("stop").addEventListener("click", () => chat.stop());
  part("again").addEventListener("click", () => run(lastQuestion(), () => chat.again(), true));
  part("new").addEventListener("click", () => {
    chat.stop();
    chat = start();
    drawing.clear();
    buttons();
    question.focus();
  });
  part("save").addEventListener("click", save);
  question.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      ask(question.value);
    }
  });

  function start() {
    return new Chat({ workspace, send, show: drawing });
  }

  function ask(text) {
    if (text.trim() && !chat.running) {
      question.value = "";
      run(text, () => chat.ask(text));
    }
  }

  async function run(text, answer, replaces = false) {
    if (replaces) {
      drawing.removeFrom(drawing.turn);
    }
    const at = replaces ? chat.messages.lastIndexOf(human().at(-1)) : chat.messages.length;
    drawing.begin(text, (event) => edit(event.target.closest("article"), at));
    const answered = answer();
    buttons();
    await answered;
    await drawing.finish(chat, ask);
    buttons();
  }

  // Takes a question back into the composer; what came after it goes when it is asked.
  function edit(turn, at) {
    if (chat.running) {
      return;
    }
    question.value = chat.messages[at]?.content ?? "";
    drawing.removeFrom(turn);
    chat.messages.length = at;
    buttons();
    question.focus();
  }

  function send(query, { chat: id, signal }) {
    const body = new FormData(form);
    body.delete("upload");
    body.set("playground", JSON.stringify(query));
    const headers = { "X-Trace-Id": id };
    return fetch(panel.dataset.askUrl, { method: "POST", body, headers, signal });
  }

  // Keeps the last question with all that it brought.
  async function save() {
    const body = new FormData();
    body.set("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
    body.set("question", JSON.stringify({ ...chat.lastQuestion(), ...workspace.saved }));
    part("save").disabled = true;
    const response = await fetch(panel.dataset.saveUrl, { method: "POST", body }).catch(() => null);
    const said = await response?.json().catch(() => null);
    const link = element("a", "", said?.sentence);
    link.href = said?.url ?? "";
    part("saved").replaceChildren(said?.url ? link : (said?.detail ?? drawing.words.failed));
    buttons();
  }

  function human() {
    return chat.messages.filter((message) => message.role === "human");
  }

  function lastQuestion() {
    return human().at(-1).content;
  }

  function buttons() {
    part("send").disabled = Boolean(chat.running);
    part("stop").hidden = !chat.running;
    part("again").disabled = Boolean(chat.running) || !human().length;
    part("new").disabled = !chat.messages.length;
    part("save").disabled = Boolean(chat.running) || !human().length;
  }

  function drawWidgets() {
    for (const { widget } of workspace.samples) {
      const label = element("label", "ca-play-widget", widget.name);
      const select = element("select", "");
      select.append(...PLACES.map((place) => new Option(drawing.words[place], place)));
      select.addEventListener("change", () => {
        workspace.places.set(widget.widget_id, select.value);
        look();
      });
      label.append(select);
      part("widgets").append(label);
    }
  }

  function simulate(name, kind, take) {
    part(name).addEventListener(kind, async (event) => {
      await take(event.target);
      look();
    });
  }

  function look() {
    const { rows, tools } = workspace.faults;
    const sentence = (!rows && drawing.words.rowsFault) || (!tools && drawing.words.toolsFault);
    part("fault").hidden = !sentence;
    part("fault").textContent = sentence || "";
    part("count").textContent = workspace.count ? `(${workspace.count})` : "";
  }

  // The preview holds the copilot's own controls. It is drawn anew while somebody types, and what
  // was chosen stays chosen.
  function keepOptions() {
    const preview = document.getElementById("preview");
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
    const restore = () => {
      const keys = new Set();
      for (const control of preview.querySelectorAll("[data-ca-option]")) {
        const key = control.dataset.caOption;
        keys.add(key);
        if (workspace.options.has(key)) {
          put(control, workspace.options.get(key));
        } else {
          workspace.options.set(key, valueOf(control));
        }
      }
      [...workspace.options.keys()].filter((key) => !keys.has(key)).forEach((key) => workspace.options.delete(key));
      const picker = preview.querySelector("[data-ca-model]");
      workspace.model = picker ? workspace.model || picker.value : "";
      if (picker) {
        picker.value = workspace.model;
      }
    };
    new MutationObserver(restore).observe(preview, { childList: true });
    restore();
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

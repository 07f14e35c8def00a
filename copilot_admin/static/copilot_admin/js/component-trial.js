// Tries a component: its parameters as a form, and what it yields as it comes. Without this the
// form is sent as JSON, and the page comes back with the whole result.

import { formOf, isExact } from "./schema-form.js";

const page = document.querySelector("[data-ca-trial]");
const form = document.getElementById("trial-form");
const area = document.getElementById("id_arguments");
const find = (name) => page.querySelector(`[data-ca-trial-${name}]`);
const fields = find("fields");
const stop = find("stop");
const say = find("status");
const json = find("json");
let running = null;

draw();
json.open = !fields.firstElementChild;
area.addEventListener("change", draw);
fields.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.isComposing && event.target.matches("input")) {
    event.preventDefault();
    form.requestSubmit();
  }
});
stop.addEventListener("click", () => running?.abort());
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const wrong = [...fields.querySelectorAll("input, textarea")].find((one) => !one.validity.valid);
  if (wrong) {
    wrong.focus(); // what is wrong stands beside it; the JSON still has the value before
    return;
  }
  if (!running) {
    run();
  }
});

// The fields hold nothing of their own: what is typed in them is written into the JSON at once.
function draw() {
  const value = read(area.value);
  const drawn =
    value !== undefined && isExact(value)
      ? formOf(read(fields.dataset.schema), value, fields.dataset, write)
      : null;
  fields.replaceChildren(...(drawn ? [drawn] : []));
}

function write(value) {
  area.value = JSON.stringify(value, null, 2);
}

function read(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function run() {
  running = new AbortController();
  stop.hidden = false;
  say.textContent = page.dataset.running;
  for (const name of ["refusal", "outputs", "result", "more"]) {
    find(name).replaceChildren();
  }
  say.textContent = await streamed(running.signal);
  if (document.activeElement === stop) {
    form.querySelector("[type=submit]").focus();
  }
  stop.hidden = true;
  running = null;
}

async function streamed(signal) {
  try {
    const body = new FormData(form);
    const response = await fetch(page.dataset.streamUrl, { method: "POST", body, signal });
    if (!response.ok || !response.headers.get("Content-Type").startsWith("text/event-stream")) {
      return page.dataset.failed;
    }
    await show(response.body.pipeThrough(new TextDecoderStream()).getReader());
  } catch {
    return signal.aborted ? page.dataset.stopped : page.dataset.failed;
  }
  return page.dataset.done;
}

async function show(reader) {
  let waiting = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      return;
    }
    const frames = (waiting + value).split("\n\n");
    waiting = frames.pop();
    frames.forEach(take);
  }
}

function take(frame) {
  const [, name, data] = frame.match(/^event: (\w+)\ndata: (.*)$/s) ?? [];
  const payload = read(data);
  if (name === "output") {
    listed(payload.json);
  } else if (name === "refusal") {
    const sentence = document.createElement("p");
    sentence.className = "errorlist";
    sentence.textContent = payload.sentence;
    find("refusal").replaceChildren(sentence);
  } else if (name === "result") {
    const drawn = new DOMParser().parseFromString(payload.html, "text/html");
    find("result").replaceChildren(...drawn.body.children);
    find("more").textContent = payload.more ? page.dataset.more : "";
  }
}

function listed(text) {
  const item = document.createElement("li");
  const code = document.createElement("pre");
  code.className = "ca-pre";
  code.dir = "ltr";
  code.tabIndex = 0;
  code.textContent = text;
  item.append(code);
  find("outputs").append(item);
}

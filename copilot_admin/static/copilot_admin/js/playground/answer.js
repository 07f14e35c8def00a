// One answer: text and steps as they stream, then the server's drawing, with a record for Debug.

import { makeCallForm } from "./call-form.js";
import { element, fold, icon, step } from "./elements.js";

const ICONS = { chart: "chart", table: "table" };

export class Answer {
  // `hub` has the words, the URLs and what the answers share: `follow`, `focusComposer`, `under`.
  constructor(hub, question, target) {
    this.hub = hub;
    this.title = `${target.name}: ${question}`;
    this.cell = element("div", "ca-msg");
    this.cell.dataset.target = target.name;
    this.calls = [];
    this.events = [];
    this.summary = null;
    this.started = performance.now();
    this.#addBelow();
  }

  addEvent({ name, data }) {
    if (name === "playgroundModelCall") {
      this.calls.push(data);
      return;
    }
    this.events.push(`${this.#elapsed} ms ${name} ${JSON.stringify(data)}`);
    if (name === "copilotMessageChunk") {
      this.text.append(data.delta);
    } else if (name === "copilotStatusUpdate" && !data.hidden) {
      this.text.before(step(data.eventType === "INFO" ? "widget" : "alert", data.message));
    } else if (name === "copilotMessageArtifact") {
      this.#addBelow(step(ICONS[data.type] ?? "file", data.name)); // the server draws it in the end
    }
    this.hub.follow(this);
  }

  addResult(call, data) {
    const text = JSON.stringify(data).slice(0, 20000);
    this.events.push(`${this.#elapsed} ms ${call.function} ${text}`);
    this.#addBelow(step("widget", `${this.hub.words.call} ${call.function}`));
  }

  askForResult(call, signal) {
    const leave = (form) => form.contains(document.activeElement) && this.hub.focusComposer();
    const { form, result } = makeCallForm(call, { words: this.hub.words, signal, leave });
    this.#addBelow(form);
    if (!document.activeElement?.closest(".ca-msg")) {
      form.querySelector("textarea").focus(); // unless another target asks too
    }
    return result;
  }

  showFault(kind, detail) {
    const text = element("span", "", detail || this.hub.words[kind]);
    text.dir = "auto";
    const note = element("p", "ca-note ca-note--warn", icon("alert"), text);
    this.cell.append(note, this.hub.under());
    this.events.push(`${this.#elapsed} ms ${kind} ${detail ?? ""}`);
  }

  // Replaces the streamed answer by the server's drawing of it.
  async finish(chat) {
    const response = await fetch(`${this.hub.answerUrl}?chat=${chat.id}`).catch(() => null);
    if (!response?.ok) {
      this.cell.append(this.hub.under());
      return;
    }
    const html = await response.text();
    const { body } = new DOMParser().parseFromString(html, "text/html");
    this.summary = body.querySelector("[data-play-summary]");
    this.summary.remove();
    this.summary.hidden = false;
    this.cell.replaceChildren(...body.childNodes);
    window.htmx?.process(this.cell);
    this.hub.follow(this);
  }

  // Everything about the answer, for the Debug drawer.
  describe() {
    const { words } = this.hub;
    const parts = [element("h3", "", this.title)];
    parts.push(...(this.summary ? [this.summary] : []));
    for (const [place, call] of this.calls.entries()) {
      const [first, ...others] = call.messages;
      const section = element(
        "section",
        "ca-section",
        element("h3", "", `${words.modelCall} ${place + 1}: ${call.model}`),
      );
      const prompt = fold(words.prompt, first.text);
      prompt.open = place === 0;
      section.append(
        prompt,
        fold(`${words.messages} (${others.length})`, others),
        fold(`${words.tools} (${call.tools.length})`, call.tools),
        fold(words.parameters, call.parameters),
      );
      parts.push(section);
    }
    parts.push(fold(`${words.events} (${this.events.length})`, this.events.join("\n")));
    return parts;
  }

  get #elapsed() {
    return Math.round(performance.now() - this.started);
  }

  // Adds something below the text so far; more text comes below it.
  #addBelow(...things) {
    this.text = element("p", "ca-prose ca-prose--plain");
    this.text.dir = "auto";
    this.cell.append(...things, this.text);
  }
}

// Draws a chat: text and steps as they come; then the server's drawing of the whole answer.

export class Drawing {
  constructor(panel) {
    this.log = panel.querySelector("[data-play-log]");
    this.calls = panel.querySelector("[data-play-calls]");
    this.words = panel.querySelector("[data-play-words]").dataset;
    this.answerUrl = panel.dataset.answerUrl;
  }

  clear() {
    this.log.replaceChildren();
    this.calls.replaceChildren();
  }

  // Begins a turn; `edit` is called when its question is to be asked in other words.
  begin(question, edit) {
    this.turn = element("article", "ca-play-turn");
    const head = element("p", "ca-play-question", question);
    head.dir = "auto";
    const button = element("button", "ca-plain-link", this.words.edit);
    button.type = "button";
    button.addEventListener("click", edit);
    this.live = element("div", "ca-play-live");
    this.text = element("p", "ca-play-text");
    this.text.dir = "auto";
    this.live.append(this.text);
    this.turn.append(head, button, this.live);
    this.log.append(this.turn);
    this.events = [];
    this.calls.replaceChildren();
    this.#down();
  }

  removeFrom(turn) {
    while (this.log.lastElementChild && this.log.lastElementChild !== turn) {
      this.log.lastElementChild.remove();
    }
    turn.remove();
  }

  event({ name, data }) {
    if (name === "playgroundModelCall") {
      this.calls.append(fold(`${this.words.model}: ${data.model}`, JSON.stringify(data, null, 2)));
      return;
    }
    this.events.push(`${name} ${JSON.stringify(data)}`);
    if (name === "copilotMessageChunk") {
      this.text.append(data.delta);
    } else if (name === "copilotStatusUpdate" && !data.hidden) {
      this.live.insertBefore(element("p", "ca-play-step", data.message), this.text);
    } else if (name === "copilotPromptSuggestions") {
      this.suggestions = data.suggestions;
    }
    this.#down();
  }

  given(call, data) {
    this.live.append(
      fold(`${this.words.asked} ${call.function}`, JSON.stringify(call.input_arguments, null, 2)),
      fold(this.words.given, JSON.stringify(data, null, 2).slice(0, 20000)),
    );
  }

  // Asks the person for the result of a function; what he writes is what Workspace would send.
  asksFor(call, signal) {
    const card = element("div", "ca-play-card");
    card.append(element("p", "", `${this.words.asked} ${call.function}`));
    card.append(element("pre", "ca-mono", JSON.stringify(call.input_arguments, null, 2)));
    const box = element("textarea", "ca-mono");
    box.rows = 3;
    box.value = JSON.stringify({ status: "success", message: "Done" });
    box.setAttribute("aria-label", this.words.given);
    const answer = element("button", "button default", this.words.answer);
    const refuse = element("button", "button", this.words.refuse);
    answer.type = refuse.type = "button";
    card.append(box, answer, refuse);
    this.live.append(card);
    box.focus();
    return new Promise((resolve, reject) => {
      const done = (data) => {
        card.querySelectorAll("button, textarea").forEach((one) => (one.disabled = true));
        resolve(data);
      };
      answer.addEventListener("click", () => done([resultOf(box.value)]));
      refuse.addEventListener("click", () =>
        done([{ error_type: "unexpected_error", content: box.value }]),
      );
      signal.addEventListener("abort", () => {
        card.remove();
        reject(new DOMException("stopped", "AbortError"));
      });
    });
  }

  fault(kind, sentence) {
    const note = element("p", "ca-note ca-note-warn", sentence || this.words[kind]);
    note.dir = "auto";
    this.turn.append(note);
    this.failed = true;
  }

  // Puts the server's drawing in the place of what was streamed.
  async finish(chat, suggest) {
    this.calls.append(fold(this.words.events, this.events.join("\n")));
    const response = await fetch(`${this.answerUrl}?chat=${chat.id}`).catch(() => null);
    if (response?.ok) {
      const drawn = new DOMParser().parseFromString(await response.text(), "text/html");
      const blocks = element("div", "ca-answer");
      blocks.append(...drawn.body.childNodes);
      this.live.replaceWith(blocks);
    }
    for (const text of this.suggestions ?? []) {
      const button = element("button", "ca-chip", text);
      button.type = "button";
      button.addEventListener("click", () => suggest(text));
      this.turn.append(button);
    }
    this.suggestions = null;
    this.#down();
  }

  #down() {
    this.log.scrollTop = this.log.scrollHeight;
  }
}

function resultOf(text) {
  const content = text.trim();
  try {
    const value = JSON.parse(content);
    if (value && (value.status || value.items || value.error_type)) {
      return value;
    }
  } catch {
    // words are an answer too
  }
  return { items: [{ content, data_format: { data_type: "object", parse_as: "text" } }] };
}

function fold(title, text) {
  const details = element("details", "ca-play-fold");
  details.append(element("summary", "", title), element("pre", "ca-mono", text));
  return details;
}

export function element(name, classes, text = "") {
  const made = document.createElement(name);
  made.className = classes;
  made.textContent = text;
  return made;
}

// Draws a chat: text and steps as they come; then the server's drawing of the whole answer.

import { button, cardOf, element, fold, tableOf } from "./elements.js";

export class Drawing {
  constructor(box, { words, answerUrl }) {
    this.log = box.querySelector("[data-play-log]");
    this.calls = box.querySelector("[data-play-calls]");
    this.words = words;
    this.answerUrl = answerUrl;
  }

  clear() {
    this.log.replaceChildren();
    this.calls.replaceChildren();
  }

  // Begins a turn, a question by its number; `edit` is called to ask it in other words.
  begin(question, { turn, edit }) {
    this.turn = element("article", "ca-play-turn");
    this.turn.dataset.turn = turn;
    const head = element("p", "ca-play-question", question);
    head.dir = "auto";
    this.live = element("div", "ca-play-live");
    this.#below();
    this.turn.append(head, button("ca-plain-link", this.words.edit, edit), this.live);
    this.log.append(this.turn);
    this.events = [];
    this.suggestions = [];
    this.broke = "";
    this.began = performance.now();
    this.calls.replaceChildren();
    this.#down();
  }

  // Takes a question away, by its number, and everything after it.
  cutAt(turn) {
    for (const one of [...this.log.children]) {
      if (Number(one.dataset.turn) >= turn) {
        one.remove();
      }
    }
  }

  event({ name, data }) {
    if (name === "playgroundModelCall") {
      this.calls.append(fold(`${this.words.model}: ${data.model}`, JSON.stringify(data, null, 2)));
      return;
    }
    const ms = Math.round(performance.now() - this.began);
    this.events.push(`${ms} ms ${name} ${JSON.stringify(data)}`);
    if (name === "copilotMessageChunk") {
      this.text.append(data.delta);
    } else if (name === "copilotStatusUpdate" && !data.hidden) {
      this.#step(data.message);
    } else if (name === "copilotMessageArtifact") {
      this.#below(Array.isArray(data.content) ? tableOf(data) : this.#shown(data));
    } else if (name === "copilotPromptSuggestions") {
      this.suggestions = data.suggestions;
    }
    this.#down();
  }

  given(call, data) {
    this.#below(
      fold(`${this.words.asked} ${call.function}`, JSON.stringify(call.input_arguments, null, 2)),
      fold(this.words.given, JSON.stringify(data, null, 2).slice(0, 20000)),
    );
  }

  // Asks the person for the result of a function; what he writes is what Workspace would send.
  asksFor(call, signal) {
    const { card, answered } = cardOf(call, { words: this.words, signal });
    this.#below(card);
    if (!document.activeElement?.closest(".ca-play-card")) {
      card.querySelector("textarea").focus(); // unless the other column asks too
    }
    this.#down();
    return answered;
  }

  fault(kind, sentence) {
    const note = element("p", "ca-note ca-note-warn", sentence || this.words[kind]);
    note.dir = "auto";
    this.turn.append(note);
    this.broke = kind;
  }

  // Puts the server's drawing in the place of what was streamed. What was stopped stays as it is:
  // the server may not have noticed yet.
  async finish(chat, suggest) {
    const { turn, live, suggestions = [], broke } = this; // the next question may begin meanwhile
    this.calls.append(fold(this.words.events, this.events.join("\n")));
    const isThere = chat.wasTaken && broke !== "stopped";
    const address = `${this.answerUrl}?chat=${chat.id}`;
    const response = isThere ? await fetch(address).catch(() => null) : null;
    if (response?.ok) {
      const drawn = new DOMParser().parseFromString(await response.text(), "text/html");
      const blocks = element("div", "ca-answer");
      blocks.append(...drawn.body.childNodes);
      live.replaceWith(blocks);
    }
    turn.append(...suggestions.map((text) => button("ca-chip", text, () => suggest(text))));
    this.#down();
  }

  // Puts something below what was said; more words come below it.
  #below(...things) {
    this.text = element("p", "ca-play-text");
    this.text.dir = "auto";
    this.live.append(...things, this.text);
  }

  #shown({ name }) {
    return element("p", "ca-play-step", `${this.words.shows} ${name}`);
  }

  #step(text) {
    const step = element("p", "ca-play-step", text);
    step.dir = "auto";
    this.live.insertBefore(step, this.text);
  }

  #down() {
    this.log.scrollTop = this.log.scrollHeight;
  }
}

// Draws a chat: text and steps as they come; then the server's drawing of the whole answer.

import { askable, button, cardOf, element, fold, tableOf } from "./elements.js";

const STOPPED_TRIES = 10; // until the journal has the end of what was stopped
const STOPPED_PAUSE_MS = 300;
const NEAR_PX = 48; // two lines

export class Drawing {
  constructor(box, { words, answerUrl }) {
    this.log = box.querySelector("[data-play-log]");
    this.room = box.closest("[data-ca-drawer-room]"); // what scrolls
    this.composer = this.room.parentElement.querySelector("[data-play-composer]");
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
    this.live = element("div", "");
    this.#below();
    this.turn.append(head, button("ca-plain-link", this.words.edit, edit), this.live);
    this.log.append(this.turn);
    this.events = [];
    this.suggestions = [];
    this.broke = "";
    this.began = performance.now();
    this.#hood(question, turn);
    this.#follow(true);
  }

  // Takes a question away, by its number, and everything after it.
  cutAt(turn) {
    for (const one of [...this.log.children, ...this.calls.children]) {
      if (Number(one.dataset.turn) >= turn) {
        one.remove();
      }
    }
  }

  event({ name, data }) {
    if (name === "playgroundModelCall") {
      this.hood.append(fold(`${this.words.model}: ${data.model}`, JSON.stringify(data, null, 2)));
      return;
    }
    const isAtEnd = this.#isAtEnd;
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
    this.#follow(isAtEnd);
  }

  given(call, data) {
    this.#below(
      fold(`${this.words.asked} ${call.function}`, JSON.stringify(call.input_arguments, null, 2)),
      fold(this.words.given, JSON.stringify(data, null, 2).slice(0, 20000)),
    );
  }

  // Asks the person for the result of a function; what he writes is what Workspace would send.
  asksFor(call, signal) {
    const leave = (card) => this.leave(card);
    const { card, answered } = cardOf(call, { words: this.words, signal, leave });
    this.#below(card);
    if (!document.activeElement?.closest(".ca-play-card")) {
      card.querySelector("textarea").focus(); // unless the other column asks too
    }
    this.#follow(true);
    return answered;
  }

  // What goes, or cannot be used any more, gives the focus to the question box.
  leave(place) {
    if (place.contains(document.activeElement)) {
      this.composer.querySelector("textarea").focus({ preventScroll: true });
    }
  }

  fault(kind, sentence) {
    const note = element("p", "ca-note ca-note-warn", sentence || this.words[kind]);
    note.dir = "auto";
    this.turn.append(note);
    this.broke = kind;
  }

  // Puts the server's drawing in the place of what was streamed. What was stopped keeps its words
  // and gets the figures only: the journal may have fewer words than came.
  async finish(chat, suggest) {
    const { turn, live, suggestions = [], broke } = this; // the next question may begin meanwhile
    this.hood.append(fold(this.words.events, this.events.join("\n")));
    const isAtEnd = this.#isAtEnd;
    const drawn = chat.wasTaken ? await this.#drawn(chat, turn, broke === "stopped") : null;
    if (drawn && broke === "stopped") {
      turn.append(...drawn.querySelectorAll(".ca-play-facts"));
    } else if (drawn) {
      const blocks = element("div", "ca-answer");
      blocks.append(...drawn.childNodes);
      this.leave(live);
      live.replaceWith(blocks);
    }
    const listed = turn.querySelectorAll(".ca-suggestions li");
    listed.forEach((item) => askable(item, suggest));
    if (!listed.length) {
      turn.append(...suggestions.map((text) => button("ca-chip", text, () => suggest(text))));
    }
    this.#follow(isAtEnd);
  }

  // The newest answer as the server draws it; null where there is none. Of one that was stopped, once
  // the server has noticed.
  async #drawn(chat, turn, isStopped) {
    for (let left = isStopped ? STOPPED_TRIES : 1; left > 0; left -= 1) {
      const address = `${this.answerUrl}?chat=${chat.id}`;
      const response = await fetch(address).catch(() => null);
      const drawn = response?.ok
        ? new DOMParser().parseFromString(await response.text(), "text/html").body
        : null;
      if (isStopped && this.turn !== turn) {
        return null; // the newest answer is another one by now
      }
      if (!isStopped || drawn?.querySelector("[data-play-ended]")) {
        return drawn;
      }
      await new Promise((done) => setTimeout(done, STOPPED_PAUSE_MS));
    }
    return null;
  }

  // What is told of a question below it; those of earlier ones are folded.
  #hood(question, turn) {
    this.calls.querySelectorAll(":scope > :not([data-turn])").forEach((hint) => hint.remove());
    this.calls.querySelectorAll(":scope > [open]").forEach((one) => (one.open = false));
    this.hood = element("details", "");
    Object.assign(this.hood, { open: true });
    this.hood.dataset.turn = turn;
    const title = element("summary", "", question);
    title.dir = "auto";
    this.hood.append(title);
    this.calls.append(this.hood);
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

  // Whether the end of the answer is in sight: who reads further up is left there.
  get #isAtEnd() {
    return this.#hidden < NEAR_PX;
  }

  #follow(isWished) {
    if (isWished) {
      this.room.scrollTop += Math.max(0, this.#hidden);
    }
  }

  // By how much the question box hides the end of the answer.
  get #hidden() {
    return this.turn.getBoundingClientRect().bottom - this.composer.getBoundingClientRect().top;
  }
}

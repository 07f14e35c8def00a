// One column of the playground: who answers in it, and its chat. There are one or two of them.

import { post } from "../post.js";
import { Chat } from "./chat.js";
import { Drawing } from "./drawing.js";
import { inputs } from "./taking.js";

export class Column {
  // `hub` knows what the columns share: words, addresses, the Workspace, the form, and whom to tell.
  constructor(box, hub) {
    this.box = box;
    this.hub = hub;
    this.drawing = new Drawing(box, hub);
    this.chat = this.#start([]);
    this.part("of").addEventListener("change", () => this.#choose());
    this.part("provider").addEventListener("change", () => this.#offerModels());
    this.part("stop-one").addEventListener("click", () => this.chat.stop());
    this.part("take").addEventListener("click", () => hub.take(this));
    this.drawing.log.addEventListener("click", (event) => this.#judge(event));
  }

  part(name) {
    return this.box.querySelector(`[data-play-${name}]`);
  }

  get of() {
    return this.part("of").value;
  }

  get name() {
    const chosen = this.part("of").selectedOptions[0].textContent;
    return this.of === "other" ? `${chosen}: ${this.part("model").value}` : chosen;
  }

  // Shows who may be asked; `choices` is null where the draft alone answers.
  offer(choices) {
    this.part("side").hidden = !choices;
    if (!choices) {
      this.part("of").value = "draft";
    } else if (this.part("of").options.length === 2) {
      this.part("of").append(...choices.versions.map(({ value, label }) => new Option(label, value)));
      this.part("provider").append(
        ...choices.providers.map(({ value, label }) => new Option(label, value)),
      );
      this.part("provider").value = inputs().provider.value;
      this.#offerModels();
    }
    this.#choose();
  }

  choose(value) {
    this.part("of").value = value;
    this.#choose();
  }

  restart(messages = []) {
    this.chat.stop();
    this.chat = this.#start(messages);
    this.drawing.clear();
  }

  async run(turn, text, answer) {
    this.drawing.begin(text, { turn, edit: () => this.hub.edit(turn) });
    const { chat } = this;
    this.part("stop-one").hidden = this.part("side").hidden;
    await answer(chat);
    this.drawing.leave(this.part("stop-one"));
    this.part("stop-one").hidden = true;
    this.hub.tell(this, this.drawing.broke);
    await this.drawing.finish(chat, this.hub.ask);
  }

  cutAt(turn) {
    this.chat.cutAt(turn);
    this.drawing.cutAt(turn);
  }

  #start(messages) {
    const { workspace } = this.hub;
    const send = (query, about) => this.#send(query, about);
    return new Chat({ workspace, send, show: this.drawing, messages });
  }

  #send(query, { chat: id, signal }) {
    if (this.of === "other") {
      delete query.model; // one model answers, whatever users may pick
    }
    const options = { headers: { "X-Trace-Id": id }, signal };
    return post(this.hub.askUrl, () => this.#body(query), options);
  }

  #body(query) {
    const body = this.of === "draft" || this.of === "other" ? this.hub.typed() : this.hub.token();
    if (this.of === "other") {
      body.set("playground-provider", this.part("provider").value);
      body.set("playground-model", this.part("model").value);
    } else if (this.of !== "draft") {
      body.set("playground-version", this.of);
    }
    body.set("playground", new Blob([JSON.stringify(query)])); // as a file: a form's texts are short
    return body;
  }

  #choose() {
    this.part("other").hidden = this.of !== "other";
    this.part("take").disabled = this.of === "draft";
    this.box.setAttribute("aria-label", this.name);
  }

  async #offerModels() {
    const { modelsUrl } = this.hub;
    const address = `${modelsUrl}?provider=${encodeURIComponent(this.part("provider").value)}`;
    const response = await fetch(address).catch(() => null);
    const models = response?.ok ? (await response.json()).models : [];
    this.part("models").replaceChildren(...models.map((id) => new Option("", id)));
  }

  async #judge({ target }) {
    const pressed = target.closest("[data-vote]");
    if (!pressed) {
      return;
    }
    const group = pressed.closest("[data-play-turn]");
    const made = () => {
      const body = this.hub.token();
      body.set("vote", pressed.dataset.vote);
      body.set("turn", group.dataset.playTurn);
      return body;
    };
    const response = await post(this.hub.judgeUrl, made).catch(() => null);
    const said = await response?.json().catch(() => null);
    const fault = response?.status === 403 ? "refused" : "failed";
    group.querySelector("[role=status]").textContent = said?.detail ?? this.hub.words[fault];
    if (response?.ok) {
      for (const one of group.querySelectorAll("[data-vote]")) {
        one.setAttribute("aria-pressed", String(one === pressed));
      }
    }
  }
}

// A target of the questions, with its own chat: the draft, a version, or another model.

import { post } from "../post.js";
import { Chat } from "./chat.js";

export class Target {
  constructor(root, hub, messages = []) {
    this.root = root;
    this.hub = hub;
    this.choice = {}; // { version, number, name, model } or { provider, model }; empty: the draft
    this.answers = [];
    this.restart(messages);
    root.addEventListener("click", (event) => this.#click(event));
    this.showName();
  }

  part(name) {
    return this.root.querySelector(`[data-play-${name}]`);
  }

  get name() {
    const { version, provider, name, model } = this.choice;
    return version ? name : provider ? model : this.hub.words.draft;
  }

  choose(choice) {
    this.choice = choice;
    this.root.querySelector("details").open = false;
    this.part("use").hidden = !choice.version && !choice.provider;
    this.showName();
  }

  showName() {
    const { version, name, model } = this.choice;
    const isListed = version && version !== "live";
    const own = this.hub.form.querySelector("[name=model]")?.value;
    const shown = model || own || this.hub.words.noName;
    this.part("name").textContent = isListed ? `${name} · ${shown}` : shown;
    this.part("draft").setAttribute("aria-pressed", String(!version));
    this.root
      .querySelector(".ca-segment [data-play-version]")
      ?.setAttribute("aria-pressed", String(version === "live"));
  }

  restart(messages = []) {
    this.chat?.stop();
    const send = (query, options) => this.#send(query, options);
    this.chat = new Chat({ workspace: this.hub.workspace, send, messages });
    this.answers = [];
  }

  cutAt(turn) {
    this.chat.cutAt(turn);
    this.answers.length = Math.min(this.answers.length, turn);
  }

  async run(answer, question) {
    this.answers.push(answer);
    const fault = await this.chat.ask(question, answer);
    if (!fault) {
      await answer.finish(this.chat);
    }
    return fault;
  }

  #click({ target }) {
    const pressed = target.closest("button");
    if (!pressed) {
      return;
    }
    const { playVersion: version, playModel, provider, name, model, number } = pressed.dataset;
    if (version) {
      this.choose({ version, name, model, number });
    } else if (playModel) {
      this.choose({ provider, model: playModel });
    } else if (pressed.matches("[data-play-draft]")) {
      this.choose({});
    } else if (pressed.matches("[data-play-use-model]")) {
      this.#useModel();
    } else if (pressed.matches("[data-play-remove]")) {
      this.hub.remove(this);
    } else if (pressed.matches("[data-play-use]")) {
      this.hub.useInDraft(this);
    }
  }

  #useModel() {
    const provider = this.part("provider").value;
    const model = this.part("model-id").value.trim();
    if (provider && model) {
      this.choose({ provider, model });
    } else {
      this.hub.notify(this.hub.words.noModel);
    }
  }

  #send(query, { chat, signal }) {
    const { version, provider, model } = this.choice;
    if (provider) {
      delete query.model; // one model answers, whatever users may pick
    }
    const makeBody = () => {
      const body = version ? this.hub.makeToken() : this.hub.readForm();
      const fields = version ? { version } : provider ? { provider, model } : {};
      for (const [name, value] of Object.entries(fields)) {
        body.set(`playground-${name}`, value);
      }
      body.set("playground", new Blob([JSON.stringify(query)])); // a file: form fields are limited
      return body;
    };
    return post(this.hub.askUrl, makeBody, { headers: { "X-Trace-Id": chat }, signal });
  }
}

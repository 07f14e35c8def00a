// A chat as Workspace leads it: each request repeats the history, client functions run in the
// simulated Workspace, and their results go with the next request.

import { readEvents } from "./stream.js";

const MAX_REQUESTS = 16; // for one question

export class Chat {
  // `messages`: history, if the chat continues another one.
  constructor({ workspace, send, messages = [] }) {
    this.id = newId();
    this.messages = [...messages];
    this.workspace = workspace;
    this.send = send;
    this.results = new Map(); // by function, as supplied by a person
    this.running = null;
  }

  // Places of the questions in the messages.
  get questions() {
    return this.messages.flatMap(({ role }, place) => (role === "human" ? [place] : []));
  }

  questionOf(turn) {
    return this.messages[this.questions[turn]]?.content ?? "";
  }

  answerOf(turn) {
    const last = this.messages[(this.questions[turn + 1] ?? this.messages.length) - 1];
    return last?.role === "ai" ? last.content : "";
  }

  // Removes a question and everything after it.
  cutAt(turn) {
    this.messages.length = this.questions[turn] ?? this.messages.length;
  }

  // A question as a test case: with its history, without calls and results.
  toTestCase(turn) {
    const place = this.questions[turn];
    const history = this.messages
      .slice(0, place)
      .filter(({ role }, index) => role !== "tool" && this.messages[index + 1].role !== "tool");
    return {
      question: this.messages[place].content,
      earlier: history.map(({ role, content }) => ({ role, content })),
      results: Object.fromEntries(this.results),
    };
  }

  stop() {
    this.running?.abort();
  }

  // Resolves to how it ended: "", or what went wrong.
  async ask(question, view) {
    this.messages.push({ role: "human", content: question });
    this.running = new AbortController();
    const length = this.messages.length;
    try {
      for (let request = 1; request <= MAX_REQUESTS; request += 1) {
        const call = await this.#request(view, { isFirst: request === 1 });
        if (!call) {
          return "";
        }
        await this.#run(call, view);
      }
      throw Object.assign(new Error(), { kind: "circles" });
    } catch (error) {
      const kind = error.name === "AbortError" ? "stopped" : (error.kind ?? "failed");
      view.showFault(kind, error.detail);
      this.messages.length = length; // as in Workspace, a broken answer isn't repeated
      return kind;
    } finally {
      this.running = null;
    }
  }

  async #request(view, { isFirst }) {
    const query = { messages: this.messages, ...this.workspace.buildRequest({ isFirst }) };
    const response = await this.send(query, { chat: this.id, signal: this.running.signal });
    if (!response.ok) {
      const { detail = "" } = await response.json().catch(() => ({}));
      const kind = response.status === 403 ? "refused" : "failed";
      throw Object.assign(new Error(), { kind, detail });
    }
    let text = "";
    let call = null;
    for await (const event of readEvents(response)) {
      text += event.name === "copilotMessageChunk" ? event.data.delta : "";
      call = event.name === "copilotFunctionCall" ? event.data : call;
      view.addEvent(event);
    }
    if (!call) {
      this.messages.push({ role: "ai", content: text });
    }
    return call;
  }

  async #run(call, view) {
    const made = { function: call.function, input_arguments: call.input_arguments };
    let data = this.workspace.resultOf(call);
    if (data) {
      view.addResult(call, data);
    } else {
      data = await view.askForResult(call, this.running.signal);
      this.results.set(call.function, data);
    }
    this.messages.push(
      { role: "ai", content: JSON.stringify(made) },
      { role: "tool", ...made, data, extra_state: call.extra_state ?? {} },
    );
  }
}

// crypto.randomUUID exists only on https and localhost.
function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// A chat with a draft as Workspace leads it: it repeats the whole history with each request, carries
// out what the copilot calls, and sends the result with the next request.

import { eventsOf } from "./stream.js";

const MOST_LEGS = 16;

export class Chat {
  constructor({ workspace, send, show }) {
    this.id = newId();
    this.messages = [];
    this.workspace = workspace;
    this.send = send; // posts a query with the form as it stands
    this.show = show; // draws what comes, and asks a person for what the simulation cannot give
    this.results = new Map(); // by function, what a person answered
    this.running = null;
  }

  // The last question as it is saved: with what was said before it, without calls and results.
  lastQuestion() {
    const at = this.messages.findLastIndex((message) => message.role === "human");
    const said = this.messages
      .slice(0, at)
      .filter(({ role }, index) => role !== "tool" && this.messages[index + 1].role !== "tool");
    return {
      question: this.messages[at].content,
      earlier: said.map(({ role, content }) => ({ role, content })),
      results: Object.fromEntries(this.results),
    };
  }

  // Asks a question; one of an earlier place takes everything after it away.
  async ask(question, { at = this.messages.length } = {}) {
    this.messages.length = at;
    this.messages.push({ role: "human", content: question });
    await this.#answer();
  }

  async again() {
    const last = this.messages.findLastIndex((message) => message.role === "human");
    await this.ask(this.messages[last].content, { at: last });
  }

  stop() {
    this.running?.abort();
  }

  async #answer() {
    this.running = new AbortController();
    const before = this.messages.length;
    try {
      for (let leg = 1; ; leg += 1) {
        const call = await this.#leg({ isFirst: leg === 1 });
        if (!call) {
          return;
        }
        if (leg === MOST_LEGS) {
          this.show.fault("circles");
          return;
        }
        await this.#carryOut(call);
      }
    } catch (error) {
      this.show.fault(error.name === "AbortError" ? "stopped" : "failed", error.sentence);
      this.messages.length = before; // as in Workspace, what was broken off is not repeated
    } finally {
      this.running = null;
    }
  }

  async #leg({ isFirst }) {
    const query = { messages: this.messages, ...this.workspace.request({ isFirst }) };
    const response = await this.send(query, { chat: this.id, signal: this.running.signal });
    if (!response.ok) {
      throw Object.assign(new Error("refused"), { sentence: await sentenceOf(response) });
    }
    let text = "";
    let call = null;
    for await (const event of eventsOf(response)) {
      text += event.name === "copilotMessageChunk" ? event.data.delta : "";
      call = event.name === "copilotFunctionCall" ? event.data : call;
      this.show.event(event);
    }
    if (!call) {
      this.messages.push({ role: "ai", content: text });
    }
    return call;
  }

  async #carryOut(call) {
    const made = { function: call.function, input_arguments: call.input_arguments };
    const found = this.workspace.resultOf(call);
    const data = found ?? (await this.show.asksFor(call, this.running.signal));
    if (!found) {
      this.results.set(call.function, data);
    }
    if (found) {
      this.show.given(call, found);
    }
    this.messages.push(
      { role: "ai", content: JSON.stringify(made) },
      { role: "tool", ...made, data, extra_state: call.extra_state ?? {} },
    );
  }
}

async function sentenceOf(response) {
  try {
    return (await response.json()).detail;
  } catch {
    return "";
  }
}

// crypto.randomUUID is there only where the page came over https or from this machine.
function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

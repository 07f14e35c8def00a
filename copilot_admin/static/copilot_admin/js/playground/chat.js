// A chat with a draft as Workspace leads it: it repeats the whole history with each request, carries
// out what the copilot calls, and sends the result with the next request.

import { eventsOf } from "./stream.js";

const MOST_LEGS = 16;

export class Chat {
  // `messages` is what was said before, where a chat goes on with what another one answered.
  constructor({ workspace, send, show, messages = [] }) {
    this.id = newId();
    this.messages = [...messages];
    this.workspace = workspace;
    this.send = send; // posts a query with the form as it stands
    this.show = show; // draws what comes, and asks a person for what the simulation cannot give
    this.results = new Map(); // by function, what a person answered
    this.running = null;
    this.wasTaken = false; // whether the server took the newest question: its answer can be drawn
  }

  // The questions so far, as places in the messages.
  get questions() {
    return this.messages.flatMap(({ role }, index) => (role === "human" ? [index] : []));
  }

  textOf(turn) {
    return this.messages[this.questions[turn]]?.content ?? "";
  }

  // Takes a question away, by its number, and everything after it.
  cutAt(turn) {
    this.messages.length = this.questions[turn] ?? this.messages.length;
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

  async ask(question) {
    this.messages.push({ role: "human", content: question });
    await this.#answer();
  }

  stop() {
    this.running?.abort();
  }

  async #answer() {
    this.running = new AbortController();
    this.wasTaken = false;
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
      const kind = error.name === "AbortError" ? "stopped" : (error.kind ?? "failed");
      this.show.fault(kind, error.sentence);
      this.messages.length = before; // as in Workspace, what was broken off is not repeated
    } finally {
      this.running = null;
    }
  }

  async #leg({ isFirst }) {
    const query = { messages: this.messages, ...this.workspace.request({ isFirst }) };
    const response = await this.send(query, { chat: this.id, signal: this.running.signal });
    if (!response.ok) {
      const kind = response.status === 403 ? "refused" : "failed";
      throw Object.assign(new Error("refused"), { kind, sentence: await sentenceOf(response) });
    }
    this.wasTaken = true;
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

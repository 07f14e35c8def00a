// Follows a conversation as it happens. A socket says which turn changed; its HTML is fetched from
// the server, with the rights that the reader has at that moment. Without a socket the page asks
// every two seconds, for as long as something runs.

import { morph } from "./transcript-morph.js";

const POLL_EVERY = 2000; // milliseconds: checkpoints come once a second
const RETRY_AFTER = [1000, 2000, 5000, 10000, 30000]; // and so on, every 30 seconds
const UNHEARD = 20; // questions that were asked meanwhile, which are fetched to show one that follows them

export function startLive(transcript) {
  const page = new LivePage(transcript);
  page.connect();
}

class LivePage {
  constructor(transcript) {
    this.transcript = transcript;
    this.failures = 0;
    this.fetching = new Map(); // turn id -> whether it changed again meanwhile, and when it is shown
    this.elsewhere = new Set(); // turns on other branches
    this.polling = null;
    this.asking = false;
    this.ended = false;
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}${this.transcript.dataset.socket}`);
    socket.addEventListener("open", () => {
      const wasAway = this.failures > 0;
      this.failures = 0;
      this.stopPolling();
      this.catchUp(wasAway);
    });
    socket.addEventListener("message", (event) => {
      const change = JSON.parse(event.data);
      this.refresh(change.turn);
    });
    socket.addEventListener("close", () => this.lost());
    window.addEventListener("pagehide", () => socket.close(), { once: true });
  }

  lost() {
    if (this.ended) {
      return;
    }
    this.startPolling();
    const wait = RETRY_AFTER[Math.min(this.failures, RETRY_AFTER.length - 1)];
    this.failures += 1;
    setTimeout(() => this.ended || this.connect(), wait);
  }

  startPolling() {
    this.polling ??= setInterval(() => this.poll(), POLL_EVERY);
    this.poll();
  }

  stopPolling() {
    clearInterval(this.polling);
    this.polling = null;
  }

  // A server that is slow is not asked again before it has answered.
  async poll() {
    if (this.asking) {
      return;
    }
    this.asking = true;
    try {
      if (!(await this.catchUp())) {
        this.stopPolling();
      }
    } finally {
      this.asking = false;
    }
  }

  // Fetches what changed unheard, after a while also an answer that came and ended; says whether anything runs.
  async catchUp(wasAway = false) {
    const answer = await this.get(this.transcript.dataset.stateUrl);
    if (!answer) {
      return !this.ended;
    }
    const { live, latest } = await answer.json();
    const shown = [...this.transcript.querySelectorAll("[data-live]")];
    const turns = new Set([...live, ...shown.map((turn) => Number(turn.dataset.turn))]);
    if (latest && (wasAway || !document.getElementById(`turn-${latest}`))) {
      turns.add(latest);
    }
    await Promise.all([...turns].map((turn) => this.refresh(turn)));
    return live.length > 0;
  }

  // One request for a turn at a time; what changes meanwhile is fetched once more.
  refresh(turn, most = UNHEARD) {
    const known = this.fetching.get(turn);
    if (known) {
      known.again = true;
      return known.shown;
    }
    const work = { again: false };
    this.fetching.set(turn, work);
    work.shown = this.fetchAndShow(turn, work, most);
    return work.shown;
  }

  async fetchAndShow(turn, work, most) {
    const address = this.transcript.dataset.turnUrl.replace("/0/", `/${turn}/`);
    try {
      do {
        work.again = false;
        const answer = await this.get(address);
        if (answer) {
          await this.show(turn, await answer.text(), most);
        }
      } while (work.again);
    } finally {
      this.fetching.delete(turn);
    }
  }

  async get(address) {
    try {
      const answer = await fetch(address, { redirect: "manual" });
      if (answer.ok) {
        return answer;
      }
      if (answer.type === "opaqueredirect" || answer.status === 403) {
        this.end();
      }
    } catch {
      // The server is away: the socket or the next poll tries again.
    }
    return null;
  }

  // Logged out or no longer allowed: there will be no more news, and the reader is told so once.
  end() {
    this.stopPolling();
    if (this.ended) {
      return;
    }
    this.ended = true;
    const { saidEnded, saidLogIn, logInUrl } = this.transcript.dataset;
    this.tell(saidEnded, saidLogIn, logInUrl);
  }

  async show(turn, html, most) {
    const fresh = new DOMParser().parseFromString(html, "text/html");
    morph(document.getElementById("facts"), fresh.getElementById("facts"));
    const part = fresh.getElementById(`turn-${turn}`);
    const shown = document.getElementById(`turn-${turn}`);
    if (shown) {
      const wasLive = "live" in shown.dataset;
      morph(shown, part);
      if (wasLive && !("live" in part.dataset)) {
        this.say(`${nameOf(part)}: ${endOf(part)}`);
      }
      return;
    }
    const before = Number(part.dataset.follows);
    // Of questions that were asked one after the other, the last may come first, or the others unheard.
    if (most && !this.isKnown(before)) {
      await this.refresh(before, most - 1);
    }
    if (this.follows(part)) {
      this.transcript.querySelector(":scope > .ca-empty")?.remove();
      this.transcript.append(document.importNode(part, true));
      this.say(this.transcript.dataset.saidNew);
    } else if (!most || this.isKnown(before)) {
      this.elsewhere.add(turn);
      this.offer(turn);
    }
  }

  // Whether it is known where a turn stands; before a first question there is none.
  isKnown(turn) {
    return !turn || this.elsewhere.has(turn) || document.getElementById(`turn-${turn}`) !== null;
  }

  follows(part) {
    const turns = this.transcript.querySelectorAll("[data-turn]");
    const last = turns[turns.length - 1];
    return part.dataset.follows === last?.dataset.turn;
  }

  offer(turn) {
    const query = new URLSearchParams(location.search);
    query.set("turn", turn);
    const { saidBranch, saidShow } = this.transcript.dataset;
    this.tell(saidBranch, saidShow, `?${query}#turn-${turn}`);
  }

  // A sentence that stays on the page, with where to go from it.
  tell(sentence, words, address) {
    const news = document.getElementById("news");
    const link = document.createElement("a");
    link.href = address;
    link.textContent = words;
    news.replaceChildren(`${sentence} `, link);
    news.hidden = false;
    this.say(sentence);
  }

  say(text) {
    document.getElementById("announcement").textContent = text;
  }
}

function nameOf(part) {
  return part.querySelector("h2").textContent.trim();
}

function endOf(part) {
  const runs = part.querySelectorAll(".ca-run > summary .ca-outcome");
  return runs[runs.length - 1]?.textContent.trim() ?? "";
}

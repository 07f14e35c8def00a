// Turns that the page has only placeholders of are fetched when they come into view, some at a time.
// Who wants to save data follows their links instead. Whoever looks for a text in the page
// (Ctrl+F) gets all of them.

import { morph } from "./transcript-morph.js";

const AT_ONCE = 6; // as many as the server sends
const AHEAD = "800px 0px";

export function startLater(transcript) {
  const later = new LaterTurns(transcript);
  later.watch();
  return later;
}

class LaterTurns {
  constructor(transcript) {
    this.transcript = transcript;
    this.wanted = new Set();
    this.fetching = null;
    this.observer = new IntersectionObserver((entries) => this.seen(entries), { rootMargin: AHEAD });
  }

  watch() {
    if (!savesData()) {
      this.placeholders().forEach((one) => this.observer.observe(one));
    }
    document.addEventListener("keydown", (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key === "f") {
        this.fetch(this.placeholders());
      }
    });
    this.transcript.addEventListener("click", (event) => {
      const turn = event.target.closest("h2 a")?.closest("[data-later]");
      if (turn && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
        event.preventDefault();
        this.show(turn);
      }
    });
  }

  placeholders() {
    return [...this.transcript.querySelectorAll("[data-later]")];
  }

  // A turn somebody goes to; it is shown once it is there.
  async show(turn) {
    turn.focus({ preventScroll: true });
    turn.scrollIntoView({ block: "start" });
    if ("later" in turn.dataset) {
      await this.fetch([turn]);
      turn.scrollIntoView({ block: "start" });
    }
  }

  seen(entries) {
    this.fetch(entries.filter((one) => one.isIntersecting).map((one) => one.target));
  }

  // One request at a time: what is wanted meanwhile is of the next.
  fetch(turns) {
    turns.forEach((turn) => this.wanted.add(turn));
    this.fetching ??= this.fetchAll().finally(() => {
      this.fetching = null;
    });
    return this.fetching;
  }

  async fetchAll() {
    while (this.wanted.size) {
      const turns = [...this.wanted].filter((turn) => "later" in turn.dataset).slice(0, AT_ONCE);
      const fresh = turns.length ? await this.get(turns) : null;
      if (!fresh) {
        this.wanted.clear();
        return;
      }
      for (const turn of turns) {
        const part = fresh.getElementById(turn.id);
        if (part && "later" in turn.dataset) {
          this.observer.unobserve(turn);
          morph(turn, part);
        }
      }
      const missing = !turns.some((turn) => fresh.getElementById(turn.id));
      const done = [...this.wanted].filter((turn) => missing || !("later" in turn.dataset));
      done.forEach((turn) => this.wanted.delete(turn));
    }
  }

  async get(turns) {
    turns.forEach((turn) => turn.setAttribute("aria-busy", "true"));
    try {
      const ids = turns.map((turn) => turn.dataset.turn).join(",");
      const answer = await fetch(this.transcript.dataset.turnsUrl + ids, { redirect: "error" });
      return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
    } catch {
      return null; // the links are still there
    } finally {
      turns.forEach((turn) => turn.removeAttribute("aria-busy"));
    }
  }
}

function savesData() {
  return navigator.connection?.saveData || matchMedia("(prefers-reduced-data: reduce)").matches;
}

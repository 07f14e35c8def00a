// j and k go from question to question, o folds and unfolds, ? says so.

export function startKeys(transcript) {
  const help = document.getElementById("keyboard-help");
  const button = document.querySelector("[data-help]");
  button.hidden = false;
  button.addEventListener("click", () => help.showModal());
  const actions = {
    j: () => go(transcript, 1),
    k: () => go(transcript, -1),
    o: () => fold(current(transcript)),
    "?": () => help.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open || isTyping(event.target)) {
      return;
    }
    const action = actions[event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  });
}

function isTyping(element) {
  return element.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(element.tagName);
}

function turnsOf(transcript) {
  return [...transcript.querySelectorAll("[data-turn]")];
}

// The turn with the focus, else the one at the top of the window.
function current(transcript) {
  const focused = document.activeElement?.closest("[data-turn]");
  return focused ?? turnsOf(transcript).find((turn) => turn.getBoundingClientRect().bottom > 80);
}

function go(transcript, step) {
  const turns = turnsOf(transcript);
  const from = document.activeElement?.closest("[data-turn]");
  const here = turns.indexOf(current(transcript));
  const to = turns[from ? here + step : step > 0 ? here : here - 1];
  if (to) {
    to.focus({ preventScroll: true });
    to.scrollIntoView({ block: "start" });
    history.replaceState(null, "", `#${to.id}`);
  }
}

function fold(turn) {
  const cards = [...(turn?.querySelectorAll("details:not(.ca-raw, .ca-event)") ?? [])];
  const open = cards.some((card) => !card.open);
  for (const card of cards) {
    card.open = open;
  }
}

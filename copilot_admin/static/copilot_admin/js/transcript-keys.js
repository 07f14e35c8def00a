// The keys of the page: from question to question, to what is to be noticed, to the next conversation.

export function startKeys(transcript, later) {
  const help = document.getElementById("keyboard-help");
  const button = document.querySelector("[data-help]");
  button.hidden = false;
  button.addEventListener("click", () => help.showModal());
  const jump = (mark, step) => () => go(transcript, later, step, `[data-${mark}]`);
  const steps = {
    j: jump("turn", 1),
    k: jump("turn", -1),
    t: jump("thumb", 1),
    T: jump("thumb", -1),
    e: jump("error", 1),
    E: jump("error", -1),
    d: jump("edited", 1),
    D: jump("edited", -1),
  };
  const actions = {
    ...steps,
    o: () => fold(current(transcript)),
    "?": () => help.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.isComposing) {
      return; // the key is of the signs that are being put together
    }
    if (event.key === "Escape" && !help.open && isTyping(event.target)) {
      event.target.blur();
      event.target.closest("[data-turn], #review")?.focus({ preventScroll: true });
    }
    if (event.ctrlKey || event.metaKey || event.altKey || help.open || isTyping(event.target)) {
      return;
    }
    const action = actions[event.key] ?? pressed(event.key);
    if (action) {
      event.preventDefault();
      // A key that is held down goes on from place to place, and presses nothing a second time, least of
      // all in the next conversation.
      if (!event.repeat || event.key in steps) {
        action();
      }
    }
  });
}

// What has a key of its own in the page: links, buttons, choices; of a turn's, that of the current.
function pressed(key) {
  const named = [...document.querySelectorAll("[data-key]")].filter((one) => one.dataset.key === key);
  const turn = current(document.getElementById("transcript"));
  const element = named.find((one) => turn?.contains(one)) ?? named[0];
  if (!element) {
    return null;
  }
  return () => {
    element.closest("details")?.setAttribute("open", "");
    element.focus();
    if (!("focusOnly" in element.dataset)) {
      element.click();
    }
  };
}

function isTyping(element) {
  const takesText = element.tagName === "INPUT" && !["checkbox", "radio"].includes(element.type);
  return element.isContentEditable || takesText || ["TEXTAREA", "SELECT"].includes(element.tagName);
}

function turnsOf(transcript) {
  return [...transcript.querySelectorAll("[data-turn]")];
}

// The turn with the focus, else the one at the top of the window.
function current(transcript) {
  const focused = document.activeElement?.closest("[data-turn]");
  return focused ?? turnsOf(transcript).find((turn) => turn.getBoundingClientRect().bottom > 80);
}

function go(transcript, later, step, mark) {
  const turns = turnsOf(transcript);
  const from = document.activeElement?.closest("[data-turn]");
  const here = turns.indexOf(current(transcript));
  const first = from ? here + step : step > 0 ? here : here - 1;
  const ahead = step > 0 ? turns.slice(Math.max(first, 0)) : turns.slice(0, first + 1).reverse();
  const to = ahead.find((turn) => turn.matches(mark));
  if (to) {
    later.show(to);
    history.replaceState(null, "", `#${to.id}`);
  } else if (mark !== "[data-turn]") {
    document.getElementById("announcement").textContent = transcript.dataset.saidNone;
  }
}

function fold(turn) {
  const cards = [...(turn?.querySelectorAll("details:not(.ca-raw, .ca-event)") ?? [])];
  const open = cards.some((card) => !card.open);
  for (const card of cards) {
    card.open = open;
  }
}

// Keyboard shortcuts of a conversation and of the list; `?` shows them.

export function startKeys() {
  const help = document.getElementById("keyboard-help");
  document.addEventListener("click", (event) => event.target.closest("[data-help]") && help.showModal());
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || help.open) {
      return;
    }
    if (isTyping(event.target)) {
      if (event.key === "Escape") {
        event.target.blur();
      }
      return;
    }
    const action = actionOf(event.key, help);
    if (action) {
      event.preventDefault();
      // A key that is held down moves on, but presses nothing a second time.
      if (!event.repeat || "jk".includes(event.key)) {
        action();
      }
    }
  });
}

export function isTyping(element) {
  const takesText = element.tagName === "INPUT" && !["checkbox", "radio"].includes(element.type);
  return element.isContentEditable || takesText || ["TEXTAREA", "SELECT"].includes(element.tagName);
}

function actionOf(key, help) {
  if (key === "?") {
    return () => help.showModal();
  }
  const step = { j: 1, k: -1 }[key];
  if (step && !document.getElementById("conversations")) {
    return () => goToTurn(step);
  }
  const current = currentTurn();
  const named = [...document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)];
  const target = named.find((one) => current?.contains(one)) ?? named[0] ?? savingButton(key);
  return target && (() => press(target));
}

// The buttons of the side panel, which have no keys of their own.
function savingButton(key) {
  const name = { s: "_stay", S: "_next" }[key];
  return name && document.querySelector(`[form="verdict-form"][name="${name}"]`);
}

function press(target) {
  const review = document.getElementById("panel-review");
  if (review && target.closest('[data-panel="review"]')) {
    review.checked = true;
  }
  target.focus();
  if (!("focusOnly" in target.dataset)) {
    target.click();
  }
}

function turns() {
  return [...document.querySelectorAll("#chat [data-turn]")];
}

// The turn with the focus, else the one at the top of the window.
function currentTurn() {
  const focused = document.activeElement?.closest("[data-turn]");
  return focused ?? turns().find((turn) => turn.getBoundingClientRect().bottom > 120);
}

function goToTurn(step) {
  const all = turns();
  const focused = document.activeElement?.closest("[data-turn]");
  const place = all.indexOf(currentTurn()) + (focused ? step : step > 0 ? 0 : -1);
  const to = all[place];
  if (to) {
    to.focus({ preventScroll: true });
    to.scrollIntoView({ block: "start" });
    history.replaceState(null, "", `#${to.id}`);
  }
}

// Texts have a length beyond which the server takes none. What would exceed it is not put in, and why
// is said: browsers cut it without a word, or stand still for minutes while they take in megabytes. What
// came past that, from a script, is not sent: the answer would bring it back, to be drawn once more.

const words = document.querySelector("[data-ca-length-words]")?.dataset;
const { format } = new Intl.NumberFormat(document.documentElement.lang || "en");
const TEXTS = "textarea, input:not([type]), input[type=text], input[type=search], input[type=url], input[type=email]";

if (words) {
  addEventListener("paste", pasted, { capture: true });
  addEventListener("beforeinput", (event) => refuse(event, event.data), { capture: true });
  addEventListener("input", ({ target }) => noteOf(target)?.remove(), { capture: true });
  addEventListener("submit", hold, { capture: true }); // before the form asks whether one is logged in
}

function pasted(event) {
  refuse(event, event.clipboardData?.getData("text/plain"));
}

function refuse(event, put) {
  const text = event.target;
  const most = mostOf(text);
  if (!put || !event.cancelable || most === Infinity) {
    return;
  }
  const length = text.value.length - (text.selectionEnd - text.selectionStart) + put.length;
  if (length > most) {
    event.preventDefault();
    tell(text, words.notPut, length);
  }
}

function hold(event) {
  const text = [...event.target.elements].find((one) => one.name && one.value?.length > mostOf(one));
  if (!text) {
    return;
  }
  event.preventDefault();
  event.stopImmediatePropagation();
  if (!text.checkVisibility()) {
    location.hash = text.id; // of several tabs, the one it stands in
  }
  text.focus();
  tell(text, words.notSent, text.value.length);
}

// How many characters a field takes; infinite of what is no text or has no bound.
function mostOf(field) {
  const most = field.matches?.(TEXTS) && (field.dataset.caMost ?? field.getAttribute("maxlength"));
  return most ? Number(most) : Infinity;
}

function tell(text, sentence, length) {
  noteOf(text)?.remove();
  const note = document.createElement("p");
  note.className = "ca-too-long";
  note.setAttribute("role", "alert");
  note.textContent = sentence
    .replace("{length}", format(length))
    .replace("{most}", format(mostOf(text)));
  text.after(note);
}

function noteOf(text) {
  const next = text.nextElementSibling;
  return next?.matches(".ca-too-long") ? next : null;
}

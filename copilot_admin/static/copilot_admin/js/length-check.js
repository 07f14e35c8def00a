// Texts have a length beyond which the server takes none. What would exceed it is not put in, and why
// is said: browsers cut it without a word, or stand still for minutes while they take in megabytes. What
// came past that, from a script, is not sent: the answer would bring it back, to be drawn once more. Nor is a
// form that is too long as a whole: the server would not read it, and could not bring it back.

const words = document.querySelector("[data-ca-length-words]")?.dataset;
const { format } = new Intl.NumberFormat(document.documentElement.lang || "en");
const TEXTS = "textarea, input:not([type]), input[type=text], input[type=search], input[type=url], input[type=email]";
const MOST_OF_ONE = 24; // bytes that a character may count as

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
  const texts = [...event.target.elements].filter((one) => one.name && one.value?.length);
  const text = texts.find((one) => one.value.length > mostOf(one));
  if (text) {
    keepHere(event, text, words.notSent);
    return;
  }
  const [most, sizeOf] = countedLike(event.target);
  const longest = texts
    .filter((one) => one.matches(TEXTS))
    .sort((one, other) => other.value.length - one.value.length)[0];
  if (longest && isMore(texts, most, sizeOf)) {
    const kilobytes = format(Math.floor(most / 1024));
    keepHere(event, longest, words.notSentTogether.replace("{most}", kilobytes));
  }
}

// How many bytes the server reads of a form like this, and how it counts a text of it.
function countedLike({ method, enctype }) {
  if (method !== "post") {
    return [Infinity];
  }
  return enctype === "multipart/form-data"
    ? [Number(words.mostTogether) || Infinity, largerSize]
    : [Number(words.mostEncoded) || Infinity, encodedSize];
}

function isMore(texts, most, sizeOf) {
  const characters = texts.reduce((sum, { value }) => sum + value.length, 0);
  return characters * MOST_OF_ONE > most && texts.reduce((sum, one) => sum + sizeOf(one), 0) > most;
}

function encodedSize({ name, value }) {
  return String(new URLSearchParams([[name, value]])).length;
}

function largerSize({ value }) {
  return Math.max(new TextEncoder().encode(value).length, shownSize(value));
}

// What a text takes where it is shown again: one emoji widens all, and a quote becomes six characters.
function shownSize(text) {
  const width = /[\ud800-\udfff]/.test(text) ? 4 : /[^\0-\xff]/.test(text) ? 2 : 1;
  return width * (text.length + 5 * (text.match(/[&<>"']/g)?.length ?? 0));
}

function keepHere(event, text, sentence) {
  event.preventDefault();
  event.stopImmediatePropagation();
  if (!text.checkVisibility()) {
    location.hash = text.id; // of several tabs, the one it stands in
  }
  text.focus();
  tell(text, sentence, text.value.length);
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

// Keeps what was typed into a form until the next page is there: one that refuses it shows the words, to
// copy. Browsers that go back ask for the page anew, which its reader may not see any more, or get it empty.

const KEY = "copilot-admin-typed";
const KINDS = new Set(["textarea", "text", "search", "url", "email", "number", "date", "datetime-local"]);

const place = document.querySelector("[data-ca-typed-words]");
if (place) {
  show(JSON.parse(sessionStorage.getItem(KEY) ?? "[]"));
} else {
  sessionStorage.removeItem(KEY); // what was sent arrived
}

// Of the window: behind all that keep a form here, or send it themselves.
addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.getAttribute("method")?.toLowerCase() !== "post") {
    return;
  }
  try {
    sessionStorage.setItem(KEY, JSON.stringify(wordsOf(form)));
  } catch {
    sessionStorage.removeItem(KEY); // more than a browser keeps: no copy beats half of one
  }
});

// A form that came back with faults has as its own what was typed before.
function wordsOf(form) {
  const cameBack = form.querySelector(".errorlist, .errornote, [data-ca-typed]") !== null;
  return [...form.elements]
    .filter((one) => KINDS.has(one.type) && !one.hidden && !one.readOnly && one.value)
    .filter((one) => cameBack || one.value !== one.defaultValue)
    .map((one) => ({ label: labelOf(one), text: one.value }));
}

function labelOf(field) {
  return (field.labels[0]?.textContent ?? field.ariaLabel ?? field.name).trim();
}

function show(words) {
  for (const { label, text } of words) {
    const shown = place.querySelector("template").content.cloneNode(true);
    shown.querySelector("span").textContent = label;
    const area = shown.querySelector("textarea");
    area.value = text;
    area.rows = text.includes("\n") || text.length > area.cols ? 4 : 1;
    place.append(shown);
  }
  place.hidden = !words.length;
  document.querySelectorAll("[data-ca-go-back]").forEach((one) => (one.hidden = words.length > 0));
}

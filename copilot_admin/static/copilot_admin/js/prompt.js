// The palette of the system prompt: puts placeholders where the cursor is, offers those of the
// builder's own controls as they are typed, and says at once which names mean nothing and which
// placeholder has no end.

import { romanized } from "./romanized.js";

for (const box of document.querySelectorAll("[data-ca-prompt]")) {
  const text = box.querySelector("textarea");
  const palette = box.querySelector("[data-ca-palette]");
  const note = box.querySelector("[data-ca-unknown]");

  palette.addEventListener("click", (event) => {
    const button = event.target.closest("[data-insert]");
    if (button) {
      text.setRangeText(button.dataset.insert, text.selectionStart, text.selectionEnd, "end");
      text.focus();
      text.dispatchEvent(new Event("input", { bubbles: true }));
    }
  });
  // The note below says the same, and goes away while it is mended.
  box.parentElement.querySelectorAll(".ca-open-problem").forEach((line) => line.remove());
  text.form.addEventListener("input", refresh);
  text.form.addEventListener("change", refresh);
  refresh();

  function refresh() {
    offerOptions();
    const known = new Set(
      [...palette.querySelectorAll("[data-insert]")].map((button) => name(button.dataset.insert)),
    );
    const { names, open } = placeholdersIn(text.value);
    const unknown = new Set(names.filter((one) => !known.has(one)));
    const sentences = [...unknown].map((one) =>
      box.dataset.unknownOne.replace("{name}", `{{ ${one} }}`),
    );
    if (open !== undefined) {
      sentences.push(box.dataset.unclosed.replace("{name}", `{{ ${open}`));
    }
    if (note.textContent !== sentences.join(" ")) {
      note.textContent = sentences.join(" ");
    }
  }

  function offerOptions() {
    const wanted = new Map();
    for (const row of document.querySelectorAll('[data-ca-rows="custom_features"] [data-ca-row]')) {
      const label = row.querySelector('[name$="-label"]').value.trim();
      const key = row.querySelector('[name$="-key"]').value.trim() || slug(label);
      if (!key || row.hidden) {
        continue;
      }
      wanted.set(`options.${key}`, label);
      if (row.querySelector('[name$="-type"]').value === "toggle") {
        wanted.set(`options.${key}.state`, label);
      }
    }
    for (const button of palette.querySelectorAll("[data-insert]")) {
      const own = name(button.dataset.insert);
      if (own.startsWith("options.") && !wanted.delete(own)) {
        button.closest("li").remove();
      }
    }
    for (const [own, label] of wanted) {
      palette.append(chip(own, label));
    }
  }
}

// The names between `{{` and `}}` that stand in no code, and the first word behind a `{{` without an
// end, if there is one. The server reads prompts in the same way.
function placeholdersIn(prompt) {
  const spans = prompt.includes("{{") ? codeSpans(prompt) : [];
  const names = [];
  for (let start = 0; ; ) {
    const opening = prompt.indexOf("{{", start);
    if (opening < 0) {
      return { names };
    }
    while (spans.length && spans[0].end <= opening) {
      spans.shift();
    }
    const code = spans[0]?.start <= opening ? spans[0] : undefined;
    const rest = code ? prompt.slice(0, code.end) : prompt;
    const closing = rest.indexOf("}}", opening + 2);
    if (closing < 0 && code) {
      start = code.end;
      continue;
    }
    if (closing < 0) {
      return { names, open: prompt.slice(opening + 2).trimStart().split(/\s/, 1)[0] };
    }
    if (!code) {
      names.push(prompt.slice(opening + 2, closing).trim());
    }
    start = closing + 2;
  }
}

// What stands between backticks: three go on over blank lines, fewer end with their paragraph.
function codeSpans(text) {
  const runs = [];
  let paragraph = 0;
  for (const { 0: found, index } of text.matchAll(/`+|\n[ \t\r]*\n/g)) {
    if (found.startsWith("\n")) {
      paragraph += 1;
    } else {
      const kind = `${found.length} ${found.length < 3 ? paragraph : ""}`;
      runs.push({ start: index, end: index + found.length, kind });
    }
  }
  const following = new Map();
  for (let place = runs.length - 1; place >= 0; place -= 1) {
    runs[place].closing = following.get(runs[place].kind);
    following.set(runs[place].kind, place);
  }
  const spans = [];
  for (let place = 0; place < runs.length; place += 1) {
    const { end, closing } = runs[place];
    if (closing !== undefined) {
      spans.push({ start: end, end: runs[closing].start });
      place = closing;
    }
  }
  return spans;
}

function name(placeholder) {
  return placeholder.replace(/^\{\{\s*|\s*\}\}$/g, "");
}

function chip(own, label) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "ca-chip ca-mono";
  button.dataset.insert = `{{ ${own} }}`;
  button.title = label;
  button.textContent = own;
  item.append(button);
  return item;
}

function slug(text) {
  return romanized(text)
    .replace(/[^\w\s-]/g, "")
    .trim()
    .toLowerCase()
    .replace(/[-\s]+/g, "-")
    .replace(/^[-_]+|[-_]+$/g, "");
}

// The palette of the system prompt: puts placeholders where the cursor is, offers those of the
// builder's own controls as they are typed, and says at once which names mean nothing and which
// placeholder has no end.

import { placeholdersIn } from "./placeholders.js";
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

function name(placeholder) {
  return placeholder.replace(/^\{\{/, "").replace(/\}\}$/, "").trim();
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
    .replace(/^[-_]+|(?<![-_])[-_]+$/g, "");
}

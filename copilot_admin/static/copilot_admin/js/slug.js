// Writes the slug of a new copilot from its name, until somebody writes one by hand. The rule is that
// of `copilots/slugs.py`, which transliterates names in other scripts when they are saved.

import { romanized } from "./romanized.js";

const name = document.getElementById("id_name");
const slug = document.getElementById("id_slug");
let isOurs = Boolean(slug) && !slug.value && !slug.disabled;

slug?.addEventListener("input", () => (isOurs = false));
name?.addEventListener("input", write);
if (name?.value) {
  write(); // typed before this script was there
}

function write() {
  if (isOurs) {
    const text = romanized(name.value);
    const isLatin = !/[^\x00-\x7f]/.test(text.replace(/[^\p{L}\p{N}]/gu, ""));
    slug.value = isLatin
      ? text
          .replace(/[^a-z0-9]+/g, "-")
          .replace(/^-+/, "")
          .slice(0, 60)
          .replace(/(?<!-)-+$/, "")
      : "";
  }
}

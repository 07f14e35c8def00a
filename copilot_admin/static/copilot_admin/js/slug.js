// Writes the slug of a new copilot from its name, until somebody writes one by hand. The rule is that
// of `copilots/slugs.py`, which makes one of a name without any Latin letter when it is saved.

const name = document.getElementById("id_name");
const slug = document.getElementById("id_slug");
const PLAIN = { ß: "ss", æ: "ae", ø: "o", œ: "oe", đ: "d", ł: "l", ı: "i" };
let isOurs = Boolean(slug) && !slug.value && !slug.disabled;

slug?.addEventListener("input", () => (isOurs = false));
name?.addEventListener("input", write);
if (name?.value) {
  write(); // typed before this script was there
}

function write() {
  if (isOurs) {
    slug.value = name.value
      .toLowerCase()
      .replace(/[ßæøœđłı]/g, (letter) => PLAIN[letter])
      .normalize("NFKD")
      .replace(/\p{M}/gu, "")
      .replace(/[^a-z0-9]+/g, "-")
      .slice(0, 60)
      .replace(/^-+|-+$/g, "");
  }
}

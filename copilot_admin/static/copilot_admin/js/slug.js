// Writes the slug of a new copilot from its name, until somebody writes one by hand.

const name = document.getElementById("id_name");
const slug = document.getElementById("id_slug");
let isOurs = Boolean(slug) && !slug.value && !slug.disabled;

slug?.addEventListener("input", () => (isOurs = false));
name?.addEventListener("input", () => {
  if (isOurs) {
    slug.value = name.value
      .normalize("NFKD")
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .slice(0, 60)
      .replace(/^-+|-+$/g, "");
  }
});

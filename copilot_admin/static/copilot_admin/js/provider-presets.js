// Fills the form of a provider with the values of a well-known server.

const select = document.getElementById("id_preset");

if (select) {
  const presets = JSON.parse(select.dataset.caPresets);
  select.addEventListener("change", () => fill(presets[select.value] ?? {}));
}

function fill(values) {
  for (const [name, value] of Object.entries(values)) {
    const field = document.getElementById(`id_${name}`);
    if (field?.type === "checkbox") {
      field.checked = value;
    } else if (field) {
      field.value = value;
    }
    field?.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

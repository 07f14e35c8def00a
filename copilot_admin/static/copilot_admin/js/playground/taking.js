// Makes a column the draft: its model goes into the form at once and can be taken back; a version is
// put into the form by the server, which keeps what was typed beside it.

import { button, element } from "./elements.js";

export function take(column, { form, note, words }) {
  if (column.of !== "other") {
    form.querySelectorAll("[name=_version]").forEach((one) => one.remove()); // nobody let it pass
    const sent = element("button", "");
    Object.assign(sent, { name: "_version", value: column.of, formNoValidate: true, hidden: true });
    form.append(sent);
    form.requestSubmit(sent);
    return;
  }
  const model = column.part("model").value.trim();
  const provider = column.part("provider").value;
  if (!model || !provider) {
    note.textContent = words.noModel;
    return;
  }
  const before = [inputs().provider.value, inputs().model.value];
  put(provider, model);
  const back = button("button", words.undo, () => {
    put(...before);
    note.textContent = words.undone;
    column.part("of").focus(); // the button that was pressed is gone
  });
  note.replaceChildren(`${words.taken} ${model}. `, back);
  column.choose("draft");
  back.focus(); // what was pressed cannot be pressed again
}

function put(provider, model) {
  const fields = inputs();
  fields.provider.value = provider;
  fields.provider.dispatchEvent(new Event("change", { bubbles: true }));
  fields.model.value = model;
  fields.model.dispatchEvent(new Event("input", { bubbles: true }));
}

export function inputs() {
  const [provider, model] = ["id_provider", "id_model"].map((id) => document.getElementById(id));
  return { provider, model };
}

// A question of a transcript asked again: the address names it, the server has it with all it brought.

const NAMED = /^(\d+)\/(\d+)$/;

// Puts its widgets, their data and its options into the workspace; gives the question and what was
// said before it, null where none is named or it is gone.
export async function askedAgain(panel, workspace) {
  const named = NAMED.exec(new URLSearchParams(location.search).get("again") ?? "");
  const address = panel.dataset.againUrl;
  if (!named || !address) {
    return null;
  }
  const [, conversation, turn] = named;
  const path = address.replace("/0/turns/0/", `/${conversation}/turns/${turn}/`);
  const response = await fetch(path, { redirect: "error" }).catch(() => null);
  if (!response?.ok) {
    return null;
  }
  const asked = await response.json();
  for (const { widget, place, items } of asked.widgets) {
    const id = widget.widget_id;
    const others = workspace.samples.filter((sample) => sample.widget.widget_id !== id);
    workspace.samples = [...others, { widget, data: { items } }];
    workspace.places.set(id, place);
  }
  for (const [key, value] of Object.entries(asked.options)) {
    workspace.options.set(key, value);
  }
  workspace.tools = asked.tools.length ? JSON.stringify(asked.tools) : "";
  workspace.skills = asked.skills.length ? JSON.stringify(asked.skills) : "";
  workspace.timezone = asked.timezone;
  workspace.model = asked.model;
  return asked;
}

// Reads prompts for their placeholders, as the server does: `{{ name }}`; `{{{{` is an escaped `{{`.

// The names of placeholders, and the first word behind the first `{{` without an end, if any.
export function placeholdersIn(prompt) {
  const names = [];
  let open;
  for (const { 0: found, 1: name, index } of prompt.matchAll(/\{\{\{\{|\{\{([^{}]*)\}\}|\{\{/g)) {
    if (name !== undefined) {
      names.push(name.trim());
    } else if (found === "{{") {
      open ??= prompt.slice(index + 2).trimStart().split(/\s/, 1)[0];
    }
  }
  return open === undefined ? { names } : { names, open };
}

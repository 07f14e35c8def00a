// Reads prompts for their placeholders, as the server does.

// The names between `{{` and `}}` that stand in no code, and the first word behind a `{{` without an
// end, if there is one.
export function placeholdersIn(prompt) {
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

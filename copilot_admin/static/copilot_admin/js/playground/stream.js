// Server-sent events of a response body.

export async function* readEvents(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let pieces = [""]; // of an unfinished event, which may have megabytes in thousands of pieces
  for (;;) {
    const { value, done } = await reader.read();
    if (done) {
      return;
    }
    const last = pieces.at(-1).slice(-1);
    pieces.push(value);
    if (!(last + value).includes("\n\n")) {
      continue;
    }
    const blocks = pieces.join("").split("\n\n");
    pieces = [blocks.pop()];
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event) {
        yield event;
      }
    }
  }
}

function parseEvent(block) {
  const fields = { event: "", data: "" };
  for (const line of block.split("\n")) {
    const [, name, value] = /^(event|data): ?(.*)$/.exec(line) ?? [];
    if (name) {
      fields[name] += value;
    }
  }
  return fields.event && { name: fields.event, data: JSON.parse(fields.data) };
}

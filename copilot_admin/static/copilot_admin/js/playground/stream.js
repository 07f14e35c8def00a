// Server-sent events out of the body of an answer, one after the other.

export async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let pieces = [""]; // of what is no event yet; an event may have megabytes, in thousands of them
  for (;;) {
    const { value, done } = await reader.read();
    if (done) {
      return;
    }
    const before = pieces.at(-1).slice(-1);
    pieces.push(value);
    if (!(before + value).includes("\n\n")) {
      continue;
    }
    const blocks = pieces.join("").split("\n\n");
    pieces = [blocks.pop()];
    for (const block of blocks) {
      const event = eventIn(block);
      if (event) {
        yield event;
      }
    }
  }
}

function eventIn(block) {
  const fields = { event: "", data: "" };
  for (const line of block.split("\n")) {
    const [, name, value] = /^(event|data): ?(.*)$/.exec(line) ?? [];
    if (name) {
      fields[name] += value;
    }
  }
  return fields.event && { name: fields.event, data: JSON.parse(fields.data) };
}

// Server-sent events out of the body of an answer, one after the other.

export async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) {
      return;
    }
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop(); // without its end it is no event yet
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

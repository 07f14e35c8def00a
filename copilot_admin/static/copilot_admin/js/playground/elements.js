// The pieces that a chat is drawn with.

export function element(name, classes, text = "") {
  const made = document.createElement(name);
  made.className = classes;
  made.textContent = text;
  return made;
}

export function button(classes, text, act) {
  const made = element("button", classes, text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

// Makes a question that stands in a list one that is asked at a click.
export function askable(item, ask) {
  const text = item.textContent;
  const made = button("ca-ws-starter", text, () => ask(text));
  made.dir = "auto";
  item.replaceChildren(made);
}

export function fold(title, text) {
  const details = element("details", "");
  details.append(element("summary", "", title), element("pre", "ca-mono", text));
  return details;
}

const MOST_ROWS = 20; // until the server draws all of them

// A table as it comes; of a chart its numbers.
export function tableOf({ name, content }) {
  const names = Object.keys(content[0] ?? {});
  const row = (kind, cells) => {
    const line = element("tr", "");
    line.append(...cells.map((cell) => element(kind, "", cell)));
    return line;
  };
  const [box, table, head, body] = ["div", "table", "thead", "tbody"].map((tag) => element(tag, ""));
  box.className = "ca-play-table";
  head.append(row("th", names));
  body.append(
    ...content.slice(0, MOST_ROWS).map((one) => row("td", names.map((key) => textOf(one?.[key])))),
  );
  table.append(element("caption", "", name), head, body);
  box.append(table);
  return box;
}

function textOf(value) {
  return value && typeof value === "object" ? JSON.stringify(value) : String(value ?? "");
}

// Functions whose result is words of somebody else, and what the form for them is called.
const SAID = { get_skill_content: "skill", execute_agent_tool: "tool" };
const USUAL = JSON.stringify({ status: "success", message: "Done" });

// A form for the result of a function; `answered` is what is written in it.
export function cardOf(call, { words, signal, leave }) {
  const said = SAID[call.function];
  const card = element("div", "ca-play-card");
  card.append(element("p", "", `${words.asked} ${call.function}`));
  card.append(element("pre", "ca-mono", JSON.stringify(call.input_arguments, null, 2)));
  const box = element("textarea", said ? "ca-plaintext" : "ca-mono");
  box.rows = 3;
  box.value = said ? "" : USUAL;
  const label = element("label", "", words[said ?? "result"]);
  label.append(box);
  const answered = new Promise((resolve, reject) => {
    const done = (data) => {
      leave(card);
      card.querySelectorAll("button, textarea").forEach((one) => (one.disabled = true));
      resolve(data);
    };
    card.append(
      label,
      button("button default", words.answer, () => done([resultOf(call, box.value)])),
      button("button", words.refuse, () => {
        const content = box.value === USUAL ? "" : box.value.trim();
        done([{ error_type: "unexpected_error", content: content || words.broken }]);
      }),
    );
    signal.addEventListener("abort", () => {
      card.remove();
      reject(new DOMException("stopped", "AbortError"));
    });
  });
  return { card, answered };
}

function resultOf({ function: name, input_arguments: given }, text) {
  const content = text.trim();
  try {
    const value = JSON.parse(content);
    if (value && (value.status || value.items || value.error_type)) {
      return value;
    }
  } catch {
    // words are an answer too
  }
  if (name === "get_skill_content") {
    const skill = { slug: given?.slug, contentMarkdown: content, source: "model_selected" };
    return { status: "success", data: { skill } };
  }
  return { items: [{ content, data_format: { data_type: "object", parse_as: "text" } }] };
}

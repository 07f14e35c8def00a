// The form for the result of a client function that the simulated Workspace can't supply.

import { button, code, element, step } from "./elements.js";

const TEXT_RESULTS = { get_skill_content: "skill", execute_agent_tool: "tool" };
const SUCCESS = JSON.stringify({ status: "success", message: "Done" });

// Returns the form and a promise of the result that is entered.
export function makeCallForm(call, { words, signal, leave }) {
  const kind = TEXT_RESULTS[call.function];
  const box = element("textarea", "ca-input");
  box.rows = 3;
  box.value = kind ? "" : SUCCESS;
  const label = element("label", "ca-field", words[kind ?? "command"], box);
  const form = element("div", "ca-box ca-block");
  form.append(step("widget", `${words.call} ${call.function}`), code(call.input_arguments), label);
  const result = new Promise((resolve, reject) => {
    const send = (data) => {
      leave(form);
      form.querySelectorAll("button, textarea").forEach((one) => (one.disabled = true));
      resolve([data]);
    };
    const refuse = () => {
      const content = box.value === SUCCESS ? "" : box.value.trim();
      send({ error_type: "unexpected_error", content: content || words.broken });
    };
    form.append(
      element(
        "div",
        "ca-line",
        button("ca-btn ca-btn--primary", words.answer, () => send(parseResult(call, box.value))),
        button("ca-btn", words.refuse, refuse),
      ),
    );
    signal.addEventListener("abort", () => {
      form.remove();
      reject(new DOMException("stopped", "AbortError"));
    });
  });
  return { form, result };
}

function parseResult({ function: name, input_arguments: input }, text) {
  const content = text.trim();
  try {
    const value = JSON.parse(content);
    if (value && (value.status || value.items || value.error_type)) {
      return value;
    }
  } catch {
    // plain text is a result too
  }
  if (name === "get_skill_content") {
    const skill = { slug: input?.slug, contentMarkdown: content, source: "model_selected" };
    return { status: "success", data: { skill } };
  }
  return { items: [{ content, data_format: { data_type: "object", parse_as: "text" } }] };
}

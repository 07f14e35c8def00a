// The playground beside the form: one question box, and the one or two columns that it asks.

import { ageOf } from "../age.js";
import { post } from "../post.js";
import { whileBusy } from "../pressed.js";
import { askedAgain } from "./again.js";
import { Column } from "./column.js";
import { element } from "./elements.js";
import { keepQuestion } from "./kept-question.js";
import { keepOptions, simulate } from "./simulation.js";
import { take } from "./taking.js";
import { Workspace } from "./workspace.js";

const panel = document.getElementById("playground");
if (panel) {
  open(panel);
}

async function open(panel) {
  const drawer = panel.closest("[data-ca-drawer]"); // it has the question box too, below what scrolls
  const part = (name) => drawer.querySelector(`[data-play-${name}]`);
  const form = panel.closest("form");
  const question = part("question");
  const words = part("words").dataset;
  const workspace = new Workspace(await (await fetch(panel.dataset.samplesUrl)).json());
  const again = await askedAgain(panel, workspace);
  const { askUrl, answerUrl, judgeUrl } = panel.dataset;
  const { caModelsUrl: modelsUrl } = document.querySelector("[data-ca-models-url]").dataset;
  const urls = { askUrl, answerUrl, judgeUrl, modelsUrl };
  const hub = { ...urls, words, workspace, form, typed, token, ask, edit, tell, take: makeDraft };
  const columns = [new Column(part("column"), hub)];
  let choices = null;
  let unanswered = ""; // the question that is being asked, or found no server
  let opening = null; // the second column, while it comes

  // What is typed here is no part of the draft.
  for (const kind of ["input", "change"]) {
    drawer.addEventListener(kind, (event) => event.stopPropagation());
  }
  simulate(panel, { workspace, words });
  keepOptions(document.getElementById("preview"), { workspace, ask });
  if (again) {
    fill(again);
  } else {
    const typedAt = keepQuestion(question, () => unanswered);
    part("note").textContent = typedAt ? `${words.kept} ${ageOf(typedAt, words.justNow)}` : "";
  }

  part("send").addEventListener("click", () => ask(question.value));
  part("stop").addEventListener("click", () => columns.forEach(({ chat }) => chat.stop()));
  part("again").addEventListener("click", () => {
    const turn = turns() - 1;
    const text = columns[0].chat.textOf(turn);
    columns.forEach((column) => column.cutAt(turn));
    run(text);
  });
  part("new").addEventListener("click", () => {
    columns.forEach((column) => column.restart());
    unanswered = "";
    buttons();
    question.focus();
  });
  part("save").addEventListener("click", save);
  part("two").addEventListener("click", () => {
    opening = columns.length === 2 ? oneColumn() : twoColumns();
  });
  question.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      ask(question.value);
    }
  });

  // A question of a transcript stands in the composer, with what was said before it.
  function fill({ question: text, earlier }) {
    columns[0].restart(earlier);
    question.value = text;
    part("tools").value = workspace.tools;
    part("skills").value = workspace.skills;
    part("timezone").value = workspace.timezone;
    buttons();
    panel.scrollIntoView();
    question.focus();
  }

  async function ask(text) {
    await opening;
    if (text.trim() && !isRunning()) {
      question.value = "";
      question.dispatchEvent(new Event("input"));
      part("note").replaceChildren();
      run(text);
    }
  }

  async function run(text) {
    const turn = turns();
    unanswered = text;
    part("news").replaceChildren();
    const running = columns.map((column) => column.run(turn, text, (chat) => chat.ask(text)));
    buttons();
    await Promise.all(running);
    unanswered = columns[0].drawing.broke === "failed" ? text : ""; // as on a page that is left
    question.dispatchEvent(new Event("input"));
    buttons();
  }

  // Takes a question back into the composer; what came after it goes, in every column.
  function edit(turn) {
    if (isRunning()) {
      return;
    }
    question.value = columns[0].chat.textOf(turn);
    columns.forEach((column) => column.cutAt(turn));
    buttons();
    question.focus();
  }

  // The second column goes on with what was said in the first.
  async function twoColumns() {
    choices ??= await chosen();
    if (!choices || columns.length === 2) {
      return;
    }
    const box = part("second").content.firstElementChild.cloneNode(true);
    part("columns").append(box);
    const second = new Column(box, hub);
    columns.push(second);
    columns.forEach((column) => column.offer(choices));
    second.choose(choices.versions[0]?.value ?? "other");
    second.restart(columns[0].chat.messages);
    wide(true);
    second.part("of").focus();
  }

  function oneColumn() {
    const [second] = columns.splice(1);
    second.chat.stop();
    second.box.remove();
    columns[0].offer(null);
    wide(false);
  }

  function wide(isTwo) {
    panel.classList.toggle("ca-play-two", isTwo);
    part("two").setAttribute("aria-pressed", String(isTwo));
    // Two logs that speak at once are understood by nobody: their ends are told instead.
    columns.forEach(({ drawing }) => drawing.log.setAttribute("aria-live", isTwo ? "off" : "polite"));
    buttons();
  }

  async function chosen() {
    const response = await fetch(panel.dataset.choicesUrl).catch(() => null);
    if (!response?.ok) {
      part("note").textContent = response?.status === 403 ? words.refused : words.failed;
      return null;
    }
    return response.json();
  }

  function tell(column, broke) {
    if (columns.length === 2) {
      const said = broke ? words[broke] : words.answered;
      part("news").append(element("span", "", `${column.name}: ${said} `));
    }
    buttons();
  }

  function makeDraft(column) {
    take(column, { form, note: part("note"), words });
  }

  function typed() {
    const body = new FormData(form);
    body.delete("upload");
    return withOrigin(body);
  }

  // What is asked again is erased with the transcript that it comes from.
  function withOrigin(body) {
    if (again) {
      body.set("playground-origin", again.origin);
    }
    return body;
  }

  function token() {
    const body = new FormData();
    body.set("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
    return withOrigin(body);
  }

  // Keeps the last question with all that it brought.
  function save() {
    return whileBusy(part("save"), keep);
  }

  async function keep() {
    const asked = JSON.stringify({ ...columns[0].chat.lastQuestion(), ...workspace.saved });
    const made = () => {
      const body = token();
      body.set("question", new Blob([asked]));
      return body;
    };
    const response = await post(panel.dataset.saveUrl, made).catch(() => null);
    const said = await response?.json().catch(() => null);
    const link = element("a", "", said?.sentence);
    link.href = said?.url ?? "";
    const fault = response?.status === 403 ? "refused" : "failed";
    part("note").replaceChildren(said?.url ? link : (said?.detail ?? words[fault]));
  }

  function turns() {
    return columns[0].chat.questions.length;
  }

  function isRunning() {
    return columns.some(({ chat }) => chat.running);
  }

  function buttons() {
    const focused = document.activeElement;
    part("send").disabled = isRunning();
    part("stop").hidden = !isRunning();
    part("two").disabled = isRunning();
    part("again").disabled = isRunning() || !turns();
    part("new").disabled = !turns();
    part("save").disabled = isRunning() || !turns();
    if (drawer.contains(focused) && (focused.disabled || focused.hidden)) {
      question.focus({ preventScroll: true }); // what cannot be pressed any more loses the focus
    }
  }
}

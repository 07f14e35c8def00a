// The playground beside the form of a copilot: one composer, and one or more targets side by side.

import { post } from "../post.js";
import { Answer } from "./answer.js";
import { makeFollower, sendOnEnter } from "./composer.js";
import { element, iconButton } from "./elements.js";
import { Target } from "./target.js";
import { connectOptions, connectTestData, loadAgain } from "./test-data.js";
import { Workspace } from "./workspace.js";

const MAX_TARGETS = 4;

const pane = document.getElementById("playground");
if (pane?.dataset.askUrl) {
  open();
}

async function open() {
  const part = (name) => pane.querySelector(`[data-play-${name}]`);
  const words = part("words").dataset;
  const form = document.getElementById(pane.dataset.form);
  const box = part("question");
  const log = part("log");
  const workspace = new Workspace(await (await fetch(pane.dataset.samplesUrl)).json());
  const again = await loadAgain(pane, workspace);
  const { askUrl, answerUrl } = pane.dataset;
  const hub = { words, form, workspace, askUrl, answerUrl, readForm, makeToken, notify };
  const { start, follow } = makeFollower(part("scroll"));
  Object.assign(hub, { follow, remove, useInDraft, under, focusComposer });
  const targets = [];

  addTarget();
  connectTestData(pane, { workspace, words });
  connectOptions(pane, { workspace });
  form.addEventListener("change", () => targets.forEach((target) => target.showName()));
  pane.addEventListener("click", click);
  sendOnEnter(box, () => ask(box.value));
  if (again) {
    targets[0].restart(again.earlier);
    box.value = again.question;
    pane.scrollIntoView();
    box.focus();
  }
  update();

  // ---- Questions ----

  async function ask(question) {
    if (question.trim() && !isRunning()) {
      box.value = "";
      notify("");
      await run(question);
    }
  }

  async function run(question) {
    const turn = targets[0].chat.questions.length;
    const row = element("article", "ca-turn");
    row.dataset.turn = turn;
    const text = element("div", "ca-msg ca-msg--user", question);
    text.dir = "auto";
    const edit = iconButton("ca-btn ca-btn--quiet ca-btn--icon ca-btn--s", "edit", words.edit, () =>
      editQuestion(turn),
    );
    const answers = targets.map((target) => new Answer(hub, question, target));
    const cells = answers.map(({ cell }) => cell);
    row.append(element("div", "ca-turn__question", edit, text), ...cells);
    log.append(row);
    start();
    follow(answers[0]);
    const running = targets.map((target, place) => target.run(answers[place], question));
    update();
    const faults = await Promise.all(running);
    if (isComparing()) {
      notify(words.done);
    } else if (faults[0] === "failed" && !box.value) {
      box.value = question;
    }
    update();
  }

  function editQuestion(turn) {
    if (!isRunning()) {
      box.value = targets[0].chat.questionOf(turn);
      cutAt(turn);
      box.focus();
    }
  }

  function retry(turn) {
    const question = targets[0].chat.questionOf(turn) || box.value;
    if (!isRunning()) {
      cutAt(turn);
      ask(question);
    }
  }

  function cutAt(turn) {
    targets.forEach((target) => target.cutAt(turn));
    for (const row of [...log.children]) {
      if (Number(row.dataset.turn) >= turn) {
        row.remove();
      }
    }
    update();
  }

  // ---- Targets ----

  function addTarget(choice, messages) {
    const root = part("target").content.firstElementChild.cloneNode(true);
    part("targets").append(root);
    window.htmx?.process(root);
    const target = new Target(root, hub, messages);
    targets.push(target);
    if (choice) {
      target.choose(choice);
    }
    for (const row of log.children) {
      row.append(element("div", "ca-msg"));
    }
  }

  function addCompared() {
    const live = pane.querySelector(".ca-segment [data-play-version]")?.dataset;
    const isUsed = targets.some((target) => target.choice.version === "live");
    const choice = live && !isUsed ? { version: "live", ...live } : undefined;
    addTarget(choice, targets[0].chat.messages);
    layOut();
    targets.at(-1).root.querySelector("summary").focus();
  }

  function remove(target) {
    const place = targets.indexOf(target);
    target.chat.stop();
    target.root.remove();
    targets.splice(place, 1);
    for (const row of log.children) {
      row.children[place + 1].remove();
    }
    layOut();
  }

  function toggleCompare() {
    if (isComparing()) {
      targets.slice(1).forEach(remove);
    } else {
      addCompared();
    }
  }

  function isComparing() {
    return targets.length > 1;
  }

  function layOut() {
    pane.classList.toggle("ca-pane--compare", isComparing());
    pane.style.setProperty("--targets", targets.length);
    part("compare").setAttribute("aria-pressed", String(isComparing()));
    part("add").hidden = !isComparing() || targets.length >= MAX_TARGETS;
    // Two answers that are read out at once can't be understood: their end is announced instead.
    log.setAttribute("aria-live", isComparing() ? "off" : "polite");
    targets.forEach((target) => (target.part("remove").hidden = !isComparing()));
    update();
  }

  // A model goes into the form; a version is restored on its own page.
  function useInDraft({ choice }) {
    if (choice.version) {
      location.assign(pane.dataset.restoreUrl.replace("/0/", `/${choice.number}/`));
      return;
    }
    for (const name of ["provider", "model"]) {
      const field = form.querySelector(`[name=${name}]`);
      field.value = choice[name];
      field.dispatchEvent(new Event(name === "provider" ? "change" : "input", { bubbles: true }));
    }
    targets.find((target) => target.choice === choice).choose({});
    notify(words.used);
  }

  // ---- Buttons ----

  function click({ target: pressed }) {
    const turn = Number(pressed.closest(".ca-turn")?.dataset.turn);
    const act = Object.entries({
      "[data-play-send]": () => ask(box.value),
      "[data-play-stop]": () => targets.forEach(({ chat }) => chat.stop()),
      "[data-play-ask]": ({ textContent }) => ask(textContent),
      "[data-play-compare]": toggleCompare,
      "[data-play-add]": addCompared,
      "[data-play-new]": startAgain,
      "[data-play-retry]": () => retry(turn),
      "[data-play-copy]": () => copy(targetOf(pressed).chat.answerOf(turn)),
      "[data-play-save]": () => save(targetOf(pressed), turn),
      "[data-play-debug-answer]": () => openDrawer("debug", targetOf(pressed).answers[turn]),
      "[data-play-open]": ({ dataset }) => openDrawer(dataset.playOpen, targets[0].answers.at(-1)),
      "[data-play-close]": (button) => button.closest("dialog").close(),
    }).find(([selector]) => pressed.closest(selector));
    act?.[1](pressed.closest(act[0]));
    if (pressed.matches("dialog")) {
      pressed.close(); // the backdrop
    }
  }

  function targetOf(pressed) {
    const cell = pressed.closest(".ca-msg");
    return targets[[...cell.parentElement.children].indexOf(cell) - 1];
  }

  function openDrawer(name, answer) {
    if (name === "debug" && answer) {
      part("debug").replaceChildren(...answer.describe());
    }
    pane.querySelector(`[data-play-drawer="${name}"]`).showModal();
    pane.querySelectorAll("details.ca-menu[open]").forEach((menu) => (menu.open = false));
  }

  function startAgain() {
    targets.forEach((target) => target.restart());
    log.replaceChildren();
    update();
    focusComposer();
  }

  async function copy(text) {
    const copied = navigator.clipboard?.writeText(text) ?? Promise.reject(); // none without https
    notify(await copied.then(() => words.copied, () => words.notCopied));
  }

  async function save(target, turn) {
    const test = { ...target.chat.toTestCase(turn), ...workspace.toTestCase() };
    const makeBody = () => {
      const body = makeToken();
      body.set("question", new Blob([JSON.stringify(test)]));
      return body;
    };
    const response = await post(pane.dataset.saveUrl, makeBody).catch(() => null);
    const { message, url, detail } = (await response?.json().catch(() => null)) ?? {};
    const link = element("a", "", message ?? "");
    link.href = url ?? "";
    notify(url ? link : (detail ?? words.failed));
  }

  // ---- Shared parts ----

  function readForm() {
    const body = new FormData(form);
    body.delete("upload");
    return withOrigin(body);
  }

  function makeToken() {
    const body = new FormData();
    body.set("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
    return withOrigin(body);
  }

  // What is asked again is erased with the conversation that it comes from.
  function withOrigin(body) {
    if (again) {
      body.set("playground-origin", again.origin);
    }
    return body;
  }

  function under() {
    return part("under").content.cloneNode(true);
  }

  function notify(content) {
    part("note").replaceChildren(content);
  }

  function focusComposer() {
    box.focus({ preventScroll: true });
  }

  function isRunning() {
    return targets.some(({ chat }) => chat.running);
  }

  function update() {
    const focused = document.activeElement;
    const running = isRunning();
    part("send").hidden = running;
    part("stop").hidden = !running;
    for (const name of ["compare", "add"]) {
      part(name).disabled = running;
    }
    part("new").disabled = !targets[0].chat.questions.length && !log.children.length;
    if (pane.contains(focused) && (focused.disabled || focused.hidden)) {
      focusComposer();
    }
  }
}

// Tries the provider as its form stands, and says beside the buttons what came of it: nothing that was
// typed is sent away for it.

import { post } from "./post.js";
import { whileBusy } from "./pressed.js";

const section = document.getElementById("provider-trial");
const typed = document.querySelector("#content-main > form");

if (section && typed) {
  section.hidden = false;
  section.querySelector("[data-ca-unsaved-too]").hidden = false;
  for (const form of section.querySelectorAll("[data-ca-try]")) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      event.stopImmediatePropagation();
      whileBusy(form.querySelector("button"), () => ask(form));
    });
  }
}

async function ask(form) {
  const what = form.dataset.caTry;
  const address = what === "test" ? section.dataset.caTryTest : section.dataset.caTryModels;
  const made = () => {
    const body = new FormData(typed);
    body.set("model", form.elements.model?.value ?? "");
    return body;
  };
  const answer = await told(address, made);
  const note = document.createElement("p");
  note.className = `ca-note ${answer.is_good ? "ca-note-good" : "ca-note-bad"}`;
  note.textContent = answer.sentence;
  section.querySelector("[data-ca-told]").replaceChildren(note);
  if (answer.models?.length) {
    list(answer.models);
  }
}

async function told(address, made) {
  try {
    const response = await post(address, made);
    return response.ok ? await response.json() : { is_good: false, sentence: section.dataset.failed };
  } catch {
    return { is_good: false, sentence: section.dataset.failed };
  }
}

function list(models) {
  const tags = document.createElement("ul");
  tags.className = "ca-tags";
  for (const model of models) {
    const tag = document.createElement("li");
    tag.className = "ca-tag ca-mono";
    tag.textContent = model;
    tags.append(tag);
  }
  section.querySelector("[data-ca-models]").replaceChildren(tags);
  const options = models.map((model) => new Option("", model));
  document.getElementById("trial-models").replaceChildren(...options);
}

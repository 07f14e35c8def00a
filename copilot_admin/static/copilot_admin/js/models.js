// The models of the chosen provider: those that are known at once, all of them at a button.

import { post } from "./post.js";
import { whileBusy } from "./pressed.js";

const page = document.querySelector("[data-ca-models-url]");
const provider = document.getElementById("id_provider");
const model = document.getElementById("id_model");

if (page && provider && model) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button";
  button.textContent = page.dataset.loadModels;
  const said = document.createElement("p");
  said.className = "help";
  said.setAttribute("role", "status");
  model.list.after(button, said);

  button.addEventListener("click", () =>
    whileBusy(button, async () => {
      said.textContent = page.dataset.loading;
      said.textContent = await load();
    }),
  );
  provider.addEventListener("change", async () => {
    model.list.replaceChildren();
    said.textContent = "";
    const known = `${page.dataset.caModelsUrl}?provider=${encodeURIComponent(provider.value)}`;
    said.textContent = await offered(() => fetch(known));
  });
}

function load() {
  return offered(() => post(page.dataset.caModelsUrl, chosen));
}

function chosen() {
  const body = new FormData();
  body.set("provider", provider.value);
  body.set("csrfmiddlewaretoken", model.form.elements.csrfmiddlewaretoken.value);
  return body;
}

// Suggests what the server answers, and gives the sentence to say.
async function offered(asked) {
  try {
    const response = await asked();
    if (!response.ok) {
      return page.dataset.failed;
    }
    const answer = await response.json();
    model.list.replaceChildren(...answer.models.map((id) => new Option("", id)));
    return answer.sentence;
  } catch {
    return page.dataset.failed;
  }
}

// Tests a connection step by step, each with a request of its own, and shows each result as it
// comes. Without this the form is sent whole, and the page comes back with all results.

import { post } from "./post.js";

const form = document.querySelector("[data-ca-test]");
const status = document.querySelector("[data-ca-test-status]");
let isRunning = false;

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (isRunning) {
    return;
  }
  isRunning = true;
  form.setAttribute("aria-busy", "true");
  status.textContent = await run([...document.querySelectorAll("[data-ca-step]")]);
  form.removeAttribute("aria-busy");
  isRunning = false;
});

// What was just published is tested without being told to.
if ("now" in form.dataset) {
  form.requestSubmit();
}

async function run(steps) {
  steps.forEach(clear);
  const counts = { good: 0, warn: 0, bad: 0 };
  for (const [index, step] of steps.entries()) {
    status.textContent = filled(form.dataset.running, { n: index + 1, all: steps.length });
    const doing = document.createElement("span");
    doing.className = "ca-muted";
    doing.textContent = form.dataset.step;
    step.append(doing);
    const drawn = await drawnStep(step.dataset.caStep);
    if (!drawn) {
      doing.remove();
      return form.dataset.failed;
    }
    counts[drawn.dataset.verdict] += 1;
    step.replaceWith(drawn);
  }
  return filled(form.dataset.done, counts);
}

function clear(step) {
  step.removeAttribute("data-verdict");
  step.replaceChildren(step.querySelector("h3"));
}

async function drawnStep(name) {
  const made = () => {
    const body = new FormData(form);
    body.set("step", name);
    return body;
  };
  const address = new URL(form.action);
  address.hash = "";
  address.searchParams.set("part", "1");
  try {
    const response = await post(address, made);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    return response.ok ? page.querySelector("[data-ca-step][data-verdict]") : null;
  } catch {
    return null;
  }
}

function filled(text, values) {
  return Object.entries(values).reduce((said, [name, value]) => said.replace(`%${name}%`, value), text);
}

// The chat of a conversation, on its page and in the side panel: copy, trace, keys, live updates.

import { startKeys } from "./conversation-keys.js";
import { startLive } from "./conversation-live.js";
import "./load-parts.js";

document.addEventListener("click", async (event) => {
  const target = event.target.closest("[data-copy], [data-copy-answer], [data-copy-from]");
  if (!target || event.ctrlKey || event.metaKey || event.shiftKey) {
    return;
  }
  event.preventDefault();
  await navigator.clipboard.writeText(await textOf(target));
  const icon = target.querySelector("use");
  const before = icon?.getAttribute("href");
  icon?.setAttribute("href", before.replace("#i-copy", "#i-check"));
  setTimeout(() => icon?.setAttribute("href", before), 1500);
});

async function textOf(target) {
  if (target.dataset.copyFrom !== undefined) {
    return (await fetch(target.href)).text();
  }
  if (target.dataset.copyAnswer !== undefined) {
    const texts = target.closest("[data-turn]").querySelectorAll("[data-answer] .ca-prose");
    return [...texts].map((one) => one.innerText).join("\n\n");
  }
  return target.dataset.copy;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-trace]");
  const panel = document.getElementById("panel-trace");
  if (link && panel && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    document.getElementById("trace").replaceChildren(); // it would load the newest turn
    panel.checked = true;
    htmx.ajax("GET", link.href, { target: "#trace", swap: "innerHTML" });
  }
});

startKeys();
const chat = document.getElementById("chat");
if (chat?.dataset.socket) {
  startLive(chat);
}

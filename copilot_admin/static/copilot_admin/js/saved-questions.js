// Draws the list of saved questions anew while some are being asked; what is unfolded stays so.

const PAUSE_MS = 1500;

const list = document.querySelector("[data-ca-questions]");
if (list) {
  watch();
}

async function watch() {
  while (isUnfinished()) {
    await new Promise((done) => setTimeout(done, PAUSE_MS));
    const response = await fetch(list.dataset.caQuestions).catch(() => null);
    if (response?.ok && !response.redirected) {
      draw(await response.text());
    }
  }
}

function isUnfinished() {
  return Number(list.querySelector("[data-unfinished]")?.dataset.unfinished) > 0;
}

function draw(html) {
  const drawn = new DOMParser().parseFromString(html, "text/html");
  const open = [...list.querySelectorAll("details[open]")].map((one) => one.id);
  list.replaceChildren(...drawn.body.childNodes);
  for (const id of open) {
    document.getElementById(id)?.setAttribute("open", "");
  }
}

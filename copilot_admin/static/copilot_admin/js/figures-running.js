// Keeps the strip of what is running up to date while the page is looked at.

const EVERY_MS = 5000;

const strip = document.getElementById("running");
let timer = 0;

async function refresh() {
  timer = 0;
  try {
    const answer = await fetch(strip.dataset.address, { redirect: "manual" });
    if (!answer.ok) {
      return answer.type !== "opaqueredirect" && answer.status !== 403; // logged out: no more news
    }
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const focused = strip.contains(document.activeElement) ? document.activeElement.href : "";
    strip.replaceChildren(...fresh.body.childNodes);
    const same = [...strip.querySelectorAll("a")].find((link) => link.href === focused);
    same?.focus();
  } catch {
    // The server is away: the next time.
  }
  return true;
}

function plan() {
  if (timer || document.hidden) {
    return;
  }
  timer = setTimeout(async () => {
    if (await refresh()) {
      plan();
    }
  }, EVERY_MS);
}

if (strip) {
  document.addEventListener("visibilitychange", plan);
  plan();
}

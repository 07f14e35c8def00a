// A question that was typed and not asked yet outlives a crash and a closed tab, as the form does.

const START = "copilot-admin-question:";
const QUIET_MS = 400; // after the last key
const OLDEST_MS = 24 * 3600 * 1000; // a question is asked on the day that it is written

// Keeps what is typed in `box`, or is not answered yet; gives when what stands in the box now was typed,
// 0 if nothing was kept.
export function keepQuestion(box, unanswered) {
  const key = START + location.pathname;
  let timer;
  dropOld();
  const kept = read(key);
  if (kept && !box.value) {
    box.value = kept.text;
  }
  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(keep, QUIET_MS);
  });
  addEventListener("pagehide", keep);
  return kept ? kept.at : 0;

  function keep() {
    clearTimeout(timer);
    const text = box.value.trim() ? box.value : unanswered();
    try {
      if (!text) {
        localStorage.removeItem(key);
      } else if (read(key)?.text !== text) {
        localStorage.setItem(key, JSON.stringify({ at: Date.now(), text }));
      }
    } catch {
      localStorage.removeItem(key); // there is no room for it
    }
  }
}

function dropOld() {
  for (const name of Object.keys(localStorage).filter((one) => one.startsWith(START))) {
    const kept = read(name);
    if (!kept || Date.now() - kept.at > OLDEST_MS) {
      localStorage.removeItem(name);
    }
  }
}

function read(name) {
  try {
    const { at, text } = JSON.parse(localStorage.getItem(name));
    return typeof text === "string" && typeof at === "number" ? { at, text } : null;
  } catch {
    return null;
  }
}

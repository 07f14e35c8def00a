// Texts have a length beyond which the server takes none. What would exceed it is not put in, and why
// is said: browsers cut it without a word, or stand still for minutes while they take in megabytes. What
// came past that, from a script, is not sent: the answer would bring it back, to be drawn once more.

// `say` is told why a text was not put in, or not sent; both sentences have {length} and {most} in them.
export function checkLength(text, { most, sentence, notSent, say }) {
  const { format } = new Intl.NumberFormat(document.documentElement.lang || "en");

  function refuse(event, put) {
    const length = text.value.length - (text.selectionEnd - text.selectionStart) + put.length;
    if (put && length > most) {
      event.preventDefault();
      tell(sentence, length);
    }
  }

  function tell(words, length) {
    say(words.replace("{length}", format(length)).replace("{most}", format(most)));
  }

  text.addEventListener("paste", (event) => {
    refuse(event, event.clipboardData?.getData("text/plain") ?? "");
  });
  text.addEventListener("beforeinput", (event) => refuse(event, event.data ?? "")); // dropped, dictated
  if (notSent) {
    addEventListener("submit", hold, { capture: true }); // before the form asks whether one is logged in
  }

  function hold(event) {
    if (event.target === text.form && text.value.length > most) {
      event.preventDefault();
      event.stopImmediatePropagation();
      location.hash = text.id; // of several tabs, the one it stands in
      text.focus();
      tell(notSent, text.value.length);
    }
  }
}

for (const text of document.querySelectorAll("textarea[data-ca-most]")) {
  const note = document.createElement("p");
  note.className = "ca-too-long";
  note.setAttribute("role", "status");
  text.after(note);
  text.removeAttribute("maxlength"); // it cuts
  const say = (words) => (note.textContent = words);
  const { caMost: most, caTooLong: sentence, caNotSent: notSent } = text.dataset;
  checkLength(text, { most: Number(most), sentence, notSent, say });
  text.addEventListener("input", () => say(""));
}

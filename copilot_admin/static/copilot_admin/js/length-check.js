// Texts have a length beyond which the server takes none. What would exceed it is not put in, and why
// is said: browsers cut it without a word, or stand still for minutes while they take in megabytes.

// `say` is told why a text was not put in; `sentence` has {length} and {most} in it.
export function checkLength(text, { most, sentence, say }) {
  const { format } = new Intl.NumberFormat(document.documentElement.lang || "en");

  function refuse(event, put) {
    const length = text.value.length - (text.selectionEnd - text.selectionStart) + put.length;
    if (put && length > most) {
      event.preventDefault();
      say(sentence.replace("{length}", format(length)).replace("{most}", format(most)));
    }
  }

  text.addEventListener("paste", (event) => {
    refuse(event, event.clipboardData?.getData("text/plain") ?? "");
  });
  text.addEventListener("beforeinput", (event) => refuse(event, event.data ?? "")); // dropped, dictated
}

for (const text of document.querySelectorAll("textarea[data-ca-most]")) {
  const note = document.createElement("p");
  note.className = "ca-too-long";
  note.setAttribute("role", "status");
  text.after(note);
  text.removeAttribute("maxlength"); // it cuts
  const say = (words) => (note.textContent = words);
  const { caMost: most, caTooLong: sentence } = text.dataset;
  checkLength(text, { most: Number(most), sentence, say });
  text.addEventListener("input", () => say(""));
}

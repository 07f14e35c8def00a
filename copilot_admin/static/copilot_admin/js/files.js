// Choosing files in the words and looks of these pages: the browser's own input lies, unseen, on top
// of them, so that clicks, keys, dropped files and labels work as they do without this script.

const words = document.querySelector("[data-ca-file-words]")?.dataset;

for (const input of words ? document.querySelectorAll("input[type=file]") : []) {
  const choose = element("span", "button", input.multiple ? words.chooseSome : words.choose);
  choose.setAttribute("aria-hidden", "true");
  const chosen = element("span", "ca-file-chosen");
  chosen.setAttribute("role", "status");
  const drop = element("button", "ca-plain-link", words.drop);
  drop.type = "button";
  const box = element("span", "ca-file");
  const face = element("span", "ca-file-face");
  input.before(box);
  face.append(choose, input);
  box.append(face, chosen, drop);
  drop.addEventListener("click", () => {
    input.value = "";
    input.dispatchEvent(new Event("change", { bubbles: true }));
    input.focus();
  });
  input.addEventListener("change", later);
  input.form?.addEventListener("reset", later);
  addEventListener("pageshow", show); // a page that comes back has what was chosen
  show();

  // Others look at the files first, and may refuse them.
  function later() {
    requestAnimationFrame(show);
  }

  function show() {
    const names = [...input.files].map(({ name }) => name);
    chosen.textContent = names.join(", ") || words.none;
    drop.hidden = !names.length;
  }
}

function element(name, classes, text = "") {
  const made = document.createElement(name);
  made.className = classes;
  made.textContent = text;
  return made;
}

// Small helpers that build the DOM of the playground.

export function element(tag, classes = "", ...children) {
  const made = document.createElement(tag);
  made.className = classes;
  made.append(...children);
  return made;
}

export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "ca-icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(svg.namespaceURI, "use");
  use.setAttribute("href", `${document.body.dataset.icons}#i-${name}`);
  svg.append(use);
  return svg;
}

export function button(classes, label, act) {
  const made = element("button", classes, label);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

export function iconButton(classes, name, label, act) {
  const made = button(classes, icon(name), act);
  made.title = label;
  made.setAttribute("aria-label", label);
  return made;
}

// A line of muted text with an icon, as the server draws steps.
export function step(name, ...text) {
  const line = element("p", "ca-reads", icon(name), element("span", "", ...text));
  line.lastChild.dir = "auto";
  return line;
}

export function fold(title, content) {
  const summary = element("summary", "ca-reads", icon("right"), title);
  return element("details", "ca-fold", summary, code(content));
}

export function code(content) {
  const text = typeof content === "string" ? content : JSON.stringify(content, null, 2);
  const made = element("pre", "ca-code", text);
  made.tabIndex = 0;
  return made;
}

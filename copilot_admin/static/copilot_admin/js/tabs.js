// The parts of a long form as tabs: links to them that become a list of tabs, kept in the address.

const list = document.querySelector("[data-ca-tabs]");
const form = list?.closest("form");
const tabs = [...(list?.querySelectorAll("a") ?? [])];
const panels = tabs.map((tab) => document.querySelector(tab.hash));

if (list) {
  list.setAttribute("role", "tablist");
  tabs.forEach((tab, place) => {
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", panels[place].id);
    tab.id ||= `${panels[place].id}-name`;
    panels[place].setAttribute("role", "tabpanel");
    panels[place].setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("click", (event) => {
      event.preventDefault();
      show(place);
    });
  });
  list.addEventListener("keydown", walk);
  addEventListener("hashchange", goWhereTheAddressSays);
  show(0, { isKept: false });
  goWhereTheAddressSays();
  goToTheFirstFault();
}

function show(chosen, { isKept = true } = {}) {
  tabs.forEach((tab, place) => {
    tab.setAttribute("aria-selected", String(place === chosen));
    tab.tabIndex = place === chosen ? 0 : -1;
    panels[place].hidden = place !== chosen;
  });
  if (isKept) {
    // The address of the form keeps it too: a redirect after saving comes back to this tab.
    const hash = `#${name(chosen)}`;
    history.replaceState(history.state, "", hash);
    form.action = location.pathname + location.search + hash;
  }
}

function name(place) {
  return panels[place].id.replace("tab-", "");
}

function walk(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const now = tabs.indexOf(document.activeElement);
  const direction = getComputedStyle(list).direction === "rtl" ? -1 : 1;
  const ends = { Home: 0, End: tabs.length - 1 };
  const next = step ? (now + step * direction + tabs.length) % tabs.length : ends[event.key];
  if (now !== -1 && next !== undefined) {
    event.preventDefault();
    show(next);
    tabs[next].focus();
  }
}

function goWhereTheAddressSays() {
  const wanted = decodeURIComponent(location.hash.slice(1));
  const place = panels.findIndex((_, place) => name(place) === wanted);
  if (place !== -1) {
    show(place);
    return;
  }
  const target = wanted && document.getElementById(wanted);
  if (target && (form.contains(target) || target.closest("[data-ca-at-once]"))) {
    goTo(target);
  }
}

function goToTheFirstFault() {
  const fault = form.querySelector(".ca-field.errors, .errorlist:not(.nonfield)");
  if (fault) {
    goTo(fault.querySelector("[aria-invalid=true]") ?? fault); // of many rows, the field that is wrong
  }
}

function goTo(target) {
  const place = panels.findIndex((panel) => panel.contains(target));
  if (place !== -1) {
    show(place, { isKept: false });
  }
  for (let box = target.closest("details"); box; box = box.parentElement.closest("details")) {
    box.open = true;
  }
  const controls = "input:not([type=hidden]), select, textarea, button";
  const control = target.matches(controls)
    ? target
    : (target.querySelector("input[type=radio]:checked") ??
      target.querySelector(controls) ??
      target.parentElement.querySelector(controls));
  bringTo(control ?? target);
  if (document.readyState !== "complete") {
    addEventListener("load", () => inTheFrameAfterNext(() => bringBack(control ?? target)));
  }
}

function bringTo(element) {
  element.scrollIntoView({ block: "center" });
  element.focus({ preventScroll: true });
}

// When a page has loaded, browsers take the focus away if the address names what cannot have it,
// such as a group of inputs.
function bringBack(element) {
  if (document.activeElement === document.body) {
    bringTo(element);
  }
}

function inTheFrameAfterNext(act) {
  requestAnimationFrame(() => requestAnimationFrame(act));
}

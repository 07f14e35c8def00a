// Somebody who was about to leave stays after all: the browser asked whether to leave, and was told no, or
// it was told to stop. Browsers without this say nothing (Firefox before 147, Safari before 26.2).
// Source: https://html.spec.whatwg.org/multipage/nav-history-apis.html#event-navigateerror

export function whenStaying(act) {
  globalThis.navigation?.addEventListener("navigateerror", act);
}

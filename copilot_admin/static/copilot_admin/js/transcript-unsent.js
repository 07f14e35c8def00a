// Asks before a page is left on which a comment or a note was typed and not sent: a key is enough to go to
// the next conversation, and a form beside it, such as that of the state, leads to the page as it is stored.

import { whenStaying } from "./staying.js";

let sent = null; // the form whose words go on

export function startUnsent() {
  addEventListener("submit", (event) => {
    if (!event.defaultPrevented) {
      sent = event.target;
    }
  });
  const stay = () => (sent = null);
  addEventListener("pageshow", stay);
  whenStaying(stay);
  addEventListener("beforeunload", (event) => {
    const typed = [...document.querySelectorAll("form[method=post] textarea")];
    if (typed.some((one) => one.form !== sent && one.value !== one.defaultValue)) {
      event.preventDefault();
    }
  });
}

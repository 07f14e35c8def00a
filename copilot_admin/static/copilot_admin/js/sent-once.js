// A form is sent once: a second press, or a key that is held down, does nothing while the next page is on
// its way. Else the server does it twice, and shows the answer to the second alone: that the name is
// taken already, and never the key that the first has made.

import { whenStaying } from "./staying.js";

const HELD_MS = 5000; // then a press is meant: a file came, and no page
let sent = new WeakSet();

// Of the window: behind all that keep a form here, or send it themselves.
addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.getAttribute("method")?.toLowerCase() !== "post") {
    return;
  }
  if (sent.has(form)) {
    event.preventDefault();
    return;
  }
  sent.add(form);
  setTimeout(() => sent.delete(form), HELD_MS);
});
addEventListener("pageshow", release); // somebody came back to it
whenStaying(release);

function release() {
  sent = new WeakSet();
}

// The page of a conversation: everything here only adds to what works without it.

import { startCopying } from "./transcript-copy.js";
import { startKeys } from "./transcript-keys.js";
import { startLater } from "./transcript-later.js";
import { startLive } from "./transcript-live.js";
import { startLoading } from "./transcript-loading.js";
import { startUnsent } from "./transcript-unsent.js";

const transcript = document.getElementById("transcript");

startCopying(document.body, transcript?.dataset.saidCopied ?? "");
startLoading(document.body);
startUnsent();
if (transcript) {
  goToNamedTurn();
  const later = startLater(transcript);
  startKeys(transcript, later);
  keepWhatIsTyped(transcript);
  if ("watch" in transcript.dataset) {
    startLive(transcript);
  }
}

// A link to a turn on another branch: the server has to choose that branch.
function goToNamedTurn() {
  const named = /^#turn-(\d+)$/.exec(location.hash);
  const asked = new URLSearchParams(location.search).get("turn");
  if (named && !document.getElementById(`turn-${named[1]}`) && asked !== named[1]) {
    const query = new URLSearchParams(location.search);
    query.set("turn", named[1]);
    location.replace(`?${query}${location.hash}`);
  }
}

// What somebody writes in the margin of a turn stays while the turn changes.
function keepWhatIsTyped(transcript) {
  transcript.addEventListener("input", (event) => {
    const margin = event.target.closest(".ca-margin");
    if (margin) {
      margin.dataset.kept = "";
    }
  });
}

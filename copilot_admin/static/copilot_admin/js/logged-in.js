// Tells the page that waits for this log-in, and closes the window that it had opened.

new BroadcastChannel("copilot-admin-log-in").postMessage("in");
window.close();

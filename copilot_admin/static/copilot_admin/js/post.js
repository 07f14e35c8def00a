// Sends a form to the server; says so if the session has ended.

import { showSignedOut } from "./shell.js";

export async function post(url, made, options = {}) {
  const response = await fetch(url, { method: "POST", body: made(), ...options });
  if ([401, 403].includes(response.status) || response.redirected) {
    showSignedOut();
  }
  return response;
}

// Sends something to the server; who was logged out meanwhile logs in on the spot, and it is sent then.

// `made` makes what is sent: a log-in renews the secret that goes with it.
export async function post(address, made, options = {}) {
  const send = () => fetch(address, { method: "POST", body: made(), ...options });
  const response = await send();
  const isOut = [401, 403].includes(response.status) || response.redirected; // nothing was done
  return isOut && (await isLoggedInAgain()) ? send() : response;
}

// `log-in-again.js` answers; where it is not in the page, nobody does.
function isLoggedInAgain() {
  return new Promise((done) => {
    const asked = new CustomEvent("ca-log-in-again", { cancelable: true, detail: done });
    if (document.dispatchEvent(asked)) {
      done(false);
    }
  });
}

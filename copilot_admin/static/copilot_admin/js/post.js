// Sends something to the server; who was logged out meanwhile logs in on the spot, and it is sent then.

// `made` makes what is sent: a log-in renews the secret that goes with it. Who has stopped it with the
// signal of `options` is asked for no log-in.
export async function post(address, made, options = {}) {
  const send = () => fetch(address, { method: "POST", body: made(), ...options });
  const response = await send();
  const isOut = [401, 403].includes(response.status) || response.redirected; // nothing was done
  if (!isOut) {
    return response;
  }
  const isIn = await isLoggedInAgain(() => !options.signal?.aborted);
  options.signal?.throwIfAborted();
  return isIn ? send() : response;
}

// `log-in-again.js` answers; where it is not in the page, nobody does.
function isLoggedInAgain(isWanted) {
  return new Promise((tell) => {
    const detail = { tell, isWanted };
    const asked = new CustomEvent("ca-log-in-again", { cancelable: true, detail });
    if (document.dispatchEvent(asked)) {
      tell(false);
    }
  });
}

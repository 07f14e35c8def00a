// Passkeys: asks the browser for a credential, and sends it with the form.

const options = (form) => {
  const { publicKey } = JSON.parse(form.querySelector("#webauthn-options").textContent);
  return form.dataset.webauthn === "create"
    ? PublicKeyCredential.parseCreationOptionsFromJSON(publicKey)
    : PublicKeyCredential.parseRequestOptionsFromJSON(publicKey);
};

for (const form of document.querySelectorAll("form[data-webauthn]")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const failed = form.querySelector("[data-failed]");
    failed.hidden = true;
    try {
      const publicKey = options(form);
      const credential = await navigator.credentials[form.dataset.webauthn]({ publicKey });
      form.elements.credential.value = JSON.stringify(credential.toJSON());
      form.submit();
    } catch {
      failed.hidden = false;
    }
  });
}

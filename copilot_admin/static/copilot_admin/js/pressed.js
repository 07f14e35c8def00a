// A button that takes no second press while its work goes on. It is not disabled meanwhile: that would
// take the focus away from whoever pressed it with the keyboard.

export async function whileBusy(button, work) {
  if (button.ariaDisabled === "true") {
    return;
  }
  button.ariaDisabled = "true";
  try {
    await work();
  } finally {
    button.ariaDisabled = null;
  }
}

// Looks at a chosen image before it is sent: one that would be refused is refused at its field.

const upload = document.getElementById("id_upload");

upload?.addEventListener("change", async () => {
  const [file] = upload.files;
  tell("");
  const fault = file ? await faultOf(file) : "";
  if (!fault || upload.files[0] !== file) {
    return; // it is right, or another one was chosen meanwhile
  }
  upload.value = "";
  upload.dispatchEvent(new Event("change", { bubbles: true })); // the preview shows it no more
  tell(fault);
});

function tell(fault) {
  document.getElementById("upload-fault")?.remove();
  upload.toggleAttribute("aria-invalid", Boolean(fault));
  if (fault) {
    const note = document.createElement("p");
    note.id = "upload-fault";
    note.className = "errorlist";
    note.setAttribute("role", "alert");
    note.textContent = fault;
    (upload.closest(".ca-file") ?? upload).after(note);
  }
}

async function faultOf(file) {
  const { most, mostPixels, otherKind, tooLarge, tooMany } = upload.dataset;
  if (!upload.accept.split(",").includes(file.type)) {
    return otherKind;
  }
  if (file.size > Number(most)) {
    return tooLarge;
  }
  try {
    const picture = await createImageBitmap(file); // a name and a type say nothing of what is in it
    const pixels = picture.width * picture.height;
    picture.close();
    return pixels > Number(mostPixels) ? tooMany : "";
  } catch {
    return otherKind;
  }
}

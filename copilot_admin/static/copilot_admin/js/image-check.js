// Looks at a chosen image before it is sent: one that would be refused is refused at its field.

const upload = document.getElementById("id_upload");

upload?.addEventListener("change", () => {
  const [file] = upload.files;
  const fault = file ? faultOf(file) : "";
  document.getElementById("upload-fault")?.remove();
  upload.toggleAttribute("aria-invalid", Boolean(fault));
  if (fault) {
    const note = document.createElement("p");
    note.id = "upload-fault";
    note.className = "errorlist";
    note.setAttribute("role", "alert");
    note.textContent = fault;
    (upload.closest(".ca-file") ?? upload).after(note);
    upload.value = "";
  }
});

function faultOf(file) {
  if (!upload.accept.split(",").includes(file.type)) {
    return upload.dataset.otherKind;
  }
  return file.size > Number(upload.dataset.most) ? upload.dataset.tooLarge : "";
}

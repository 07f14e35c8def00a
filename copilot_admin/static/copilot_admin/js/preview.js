// Redraws the preview while somebody types. The server draws it, from the form as it stands.

const QUIET_MS = 200; // after the last key: less redraws in the middle of a word
const page = document.querySelector("[data-ca-preview-url]");
const preview = document.getElementById("preview");
const form = page?.closest("form");
const upload = document.getElementById("id_upload");
let timer;
let running;
let picture = "";

form?.addEventListener("input", later);
form?.addEventListener("change", later);
upload?.addEventListener("change", () => {
  const [file] = upload.files;
  picture = "";
  if (!file) {
    return;
  }
  const reader = new FileReader();
  reader.addEventListener("load", () => {
    picture = reader.result;
    showPicture();
  });
  reader.readAsDataURL(file);
});

function later() {
  clearTimeout(timer);
  timer = setTimeout(redraw, QUIET_MS);
}

async function redraw() {
  running?.abort();
  running = new AbortController();
  const body = new FormData(form);
  body.delete("upload");
  try {
    const response = await fetch(page.dataset.caPreviewUrl, {
      method: "POST",
      body,
      signal: running.signal,
    });
    if (response.ok) {
      const drawn = new DOMParser().parseFromString(await response.text(), "text/html");
      replace(drawn.body.children);
    }
  } catch (error) {
    if (error.name !== "AbortError") {
      return; // the server is away: the last preview stays, and saving will say so
    }
  }
}

function replace(drawn) {
  const place = controls().indexOf(document.activeElement);
  preview.replaceChildren(...drawn);
  showPicture();
  // Whoever has gone on into the preview stays there, when the playground has made buttons in it.
  queueMicrotask(() => controls()[place]?.focus({ preventScroll: true }));
}

function controls() {
  return [...preview.querySelectorAll("a, button, input, select, summary, [tabindex]")];
}

function showPicture() {
  const place = preview.querySelector(".ca-avatar");
  if (!picture || !place) {
    return;
  }
  const image = new Image();
  image.className = place.className;
  image.alt = "";
  image.src = picture;
  place.replaceWith(image);
}

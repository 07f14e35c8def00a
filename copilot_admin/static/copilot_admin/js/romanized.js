// Letters of other scripts in Latin ones, by the table that the page brings (`copilots/romanized.py`).

const words = document.getElementById("id_slug")?.dataset.letters?.split(" ") ?? [];
const LETTERS = new Map();
for (let at = 0; at < words.length; at += 2) {
  LETTERS.set(words[at], words[at + 1] === "_" ? "" : words[at + 1]);
}

export function romanized(text) {
  return [...text.toLowerCase().normalize("NFKC")].map(inLatin).join("");
}

function inLatin(letter) {
  return (
    LETTERS.get(letter) ??
    [...letter.normalize("NFKD").replace(/\p{M}/gu, (mark) => LETTERS.get(mark) ?? "")]
      .map((one) => LETTERS.get(one) ?? one)
      .join("")
  );
}

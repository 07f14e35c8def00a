// Latin letters as ASCII, by the same rule as `copilots/slugs.py`.

const LATIN = { ß: "ss", æ: "ae", ø: "o", œ: "oe", đ: "d", ð: "d", ł: "l", ı: "i", þ: "th" };

export function romanized(text) {
  return text
    .toLowerCase()
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[ßæøœđðłıþ]/g, (letter) => LATIN[letter]);
}

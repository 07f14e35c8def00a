// Latin letters as ASCII, as `anyascii` writes them on the server.

const LATIN = { ß: "ss", æ: "ae", ø: "o", œ: "oe", đ: "d", ð: "d", ł: "l", ı: "i", þ: "th" };

export function romanized(text) {
  return text
    .toLowerCase()
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[ßæøœđðłıþ]/g, (letter) => LATIN[letter]);
}

// Text as people search for it: without marks on letters, capitals or not.

export function plain(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

// Lists as people type or paste them: rows of a spreadsheet, tools and skills one per line. Text
// that starts with a bracket is JSON. Each parser returns null for text that it can't read.

const SEPARATORS = ["\t", ";", ","]; // the first that the header line has
const NUMBER = /^[-+]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?(e[-+]?\d+)?$/i;
const DECIMAL_COMMA = /^[-+]?\d+,\d+$/; // if no comma separates cells
const ENTRY = /^([^\s:]+)\s*(?::\s*(.*))?$/;

export function parseRows(source) {
  return parseJsonOr(source, () => {
    const header = source.split("\n", 1)[0];
    const separator = SEPARATORS.find((one) => header.includes(one)) ?? ",";
    const [names, ...lines] = splitCells(source, separator);
    const isTable =
      lines.length > 0 &&
      names.every(Boolean) &&
      new Set(names).size === names.length &&
      lines.every((cells) => cells.length <= names.length);
    const parse = (text = "") => parseCell(text, separator);
    const makeRow = (cells) =>
      Object.fromEntries(names.map((name, place) => [name, parse(cells[place])]));
    return isTable ? lines.map(makeRow) : null;
  });
}

export function parseTools(source) {
  const input_schema = { type: "object" };
  return parseEntries(source, (name, description) => ({ name, description, input_schema }));
}

export function parseSkills(source) {
  return parseEntries(source, (slug, description) => ({ slug, description }));
}

// "name: description", one per line.
function parseEntries(source, make) {
  return parseJsonOr(source, () => {
    const lines = source.split("\n").filter((line) => line.trim());
    const found = lines.map((line) => ENTRY.exec(line.trim()));
    return found.every(Boolean) ? found.map(([, name, text = ""]) => make(name, text)) : null;
  });
}

function parseJsonOr(source, parse) {
  const text = source.trim();
  if (!text) {
    return [];
  }
  if (!/^[[{]/.test(text)) {
    return parse();
  }
  try {
    const found = JSON.parse(text);
    return Array.isArray(found) && found.length && found.every(isObject) ? found : null;
  } catch {
    return null;
  }
}

function isObject(value) {
  return Boolean(value) && typeof value === "object" && !Array.isArray(value);
}

// The cells of all lines that aren't empty; a quoted cell may hold separators and line breaks.
function splitCells(source, separator) {
  const quoted = `"(?:[^"]|"")*"`;
  const cell = new RegExp(`(${quoted}|[^${separator}\\n]*)(${separator}|\\n|$)`, "g");
  const lines = [[]];
  for (const [, text, end] of source.replaceAll("\r\n", "\n").trim().matchAll(cell)) {
    const isQuoted = text.startsWith('"') && text.endsWith('"') && text.length > 1;
    lines.at(-1).push(isQuoted ? text.slice(1, -1).replaceAll('""', '"') : text.trim());
    if (end === "\n") {
      lines.push([]);
    } else if (!end) {
      break;
    }
  }
  return lines.filter((cells) => cells.some(Boolean));
}

function parseCell(text, separator) {
  if (NUMBER.test(text)) {
    return Number(text.replaceAll(",", ""));
  }
  return separator !== "," && DECIMAL_COMMA.test(text) ? Number(text.replace(",", ".")) : text;
}

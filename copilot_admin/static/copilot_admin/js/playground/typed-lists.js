// Lists as people write them: rows as they come out of a spreadsheet, tools and skills a line each. What
// begins with a bracket is JSON. Each gives null where it cannot be read.

const SEPARATORS = ["\t", ";", ","]; // the first that the line of names has
const NUMBER = /^[-+]?\d+(\.\d+)?(e[-+]?\d+)?$/i;
const GROUPED = /^[-+]?\d{1,3}(,\d{3})+(\.\d+)?$/;
const WITH_COMMA = /^[-+]?\d+,\d+$/; // where no comma stands between cells
const NAMED = /^([^\s:]+)\s*(?::\s*(.*))?$/;

export function rowsIn(source) {
  return jsonOr(source, () => {
    const separator = SEPARATORS.find((one) => source.split("\n", 1)[0].includes(one)) ?? ",";
    const [names, ...lines] = cellsIn(source, separator);
    const isTable =
      lines.length > 0 &&
      names.every(Boolean) &&
      new Set(names).size === names.length &&
      lines.every((cells) => cells.length <= names.length);
    const rowOf = (cells) =>
      Object.fromEntries(names.map((name, place) => [name, valueOf(cells[place] ?? "", separator)]));
    return isTable ? lines.map(rowOf) : null;
  });
}

export function toolsIn(source) {
  return named(source, (name, description) => ({
    name,
    description,
    input_schema: { type: "object" },
  }));
}

export function skillsIn(source) {
  return named(source, (slug, description) => ({ slug, description }));
}

// "name: what it does", a line each.
function named(source, made) {
  return jsonOr(source, () => {
    const lines = source.split("\n").filter((line) => line.trim());
    const found = lines.map((line) => NAMED.exec(line.trim()));
    return found.every(Boolean) ? found.map(([, name, text = ""]) => made(name, text)) : null;
  });
}

function jsonOr(source, plain) {
  const text = source.trim();
  if (!text) {
    return [];
  }
  return /^[[{]/.test(text) ? objectsIn(text) : plain();
}

function objectsIn(text) {
  try {
    const found = JSON.parse(text);
    return Array.isArray(found) && found.length && found.every(isObject) ? found : null;
  } catch {
    return null;
  }
}

function isObject(one) {
  return Boolean(one) && typeof one === "object" && !Array.isArray(one);
}

// The cells of all lines that have some; one in quotes may hold separators and ends of lines.
function cellsIn(source, separator) {
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

function valueOf(text, separator) {
  if (NUMBER.test(text)) {
    return Number(text);
  }
  if (GROUPED.test(text)) {
    return Number(text.replaceAll(",", ""));
  }
  return separator !== "," && WITH_COMMA.test(text) ? Number(text.replace(",", ".")) : text;
}

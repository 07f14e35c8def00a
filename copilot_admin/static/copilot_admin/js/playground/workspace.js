// A Workspace that is not there: the widgets, files and options that a question brings, and what
// its client functions would bring back.

import { pdfOf } from "./pdf.js";
import { rowsIn, skillsIn, toolsIn } from "./typed-lists.js";

export const PLACES = ["none", "primary", "secondary", "extra"];
const OWN_ROWS = "6f1c1d5e-5a7b-4f0c-9a55-0b1f3f6f7aff";

export class Workspace {
  constructor(samples) {
    this.samples = samples;
    this.places = new Map(); // by the widget's id; what is not in it is not there
    this.rows = "";
    this.ownPlace = "primary";
    this.ownChart = ""; // the kind of chart that they are; empty: a table
    this.tools = "";
    this.skills = "";
    this.files = [];
    this.timezone = "UTC";
    this.options = new Map();
    this.model = "";
  }

  // What Workspace says beside the messages; a follow-up after a call says less.
  request({ isFirst }) {
    const widgets = { primary: [], secondary: [], extra: [] };
    for (const { widget } of this.samples) {
      widgets[this.places.get(widget.widget_id)]?.push(widget);
    }
    if (this.ownRows.length) {
      widgets[this.ownPlace]?.push(this.#ownWidget());
    }
    widgets.primary.push(...this.files.map((file) => widgetOfFile(file)));
    return {
      widgets,
      context: [],
      tools: toolsIn(this.tools) ?? [],
      ...(this.skills && { skills_catalog: skillsIn(this.skills) ?? [] }),
      workspace_options: Object.fromEntries(this.options),
      ...(this.model && { model: this.model }),
      ...(isFirst && { timezone: this.timezone }),
    };
  }

  // What a saved question keeps of it, in the words of a copilot file.
  get saved() {
    const widgets = this.samples
      .map((sample) => ({ ...sample, place: this.places.get(sample.widget.widget_id) ?? "none" }))
      .filter(({ place }) => place !== "none")
      .map((sample) => savedWidget(sample));
    if (this.ownRows.length && this.ownPlace !== "none") {
      const { uuid, name, description, columns } = this.#ownWidget();
      const data = this.ownChart ? { items: this.#ownData().items } : { rows: this.ownRows };
      const place = this.ownPlace;
      widgets.push({ id: "own_rows", uuid, name, description, columns, place, ...data });
    }
    return {
      widgets,
      files: this.files,
      options: Object.fromEntries(this.options),
      model: this.model,
      timezone: this.timezone,
      tools: toolsIn(this.tools) ?? [],
      skills: skillsIn(this.skills) ?? [],
    };
  }

  get ownRows() {
    return rowsIn(this.rows) ?? [];
  }

  get faults() {
    return {
      rows: rowsIn(this.rows) !== null,
      tools: toolsIn(this.tools) !== null,
      skills: skillsIn(this.skills) !== null,
      timezone: isTimezone(this.timezone),
    };
  }

  get count() {
    const placed = [...this.places.values()].filter((place) => place !== "none").length;
    const hasOwn = this.ownRows.length && this.ownPlace !== "none";
    return placed + this.files.length + (hasOwn ? 1 : 0);
  }

  // The data of a function's result; null where a person has to say it.
  resultOf({ function: name, input_arguments: given }) {
    if (name !== "get_widget_data" && name !== "get_extra_widget_data") {
      return null;
    }
    const sources = given.data_sources ?? [];
    return sources.map((source) => this.#dataOf(source));
  }

  #dataOf({ widget_uuid: uuid, id }) {
    const sample = this.samples.find(
      ({ widget }) => widget.uuid === uuid || widget.widget_id === id,
    );
    if (sample) {
      return dataOfSample(sample);
    }
    const file = this.files.find((one) => one.id === id);
    if (file) {
      return { items: [{ content: file.content, data_format: formatOf(file.name) }] };
    }
    if (uuid === OWN_ROWS || id === "own_rows") {
      return this.#ownData();
    }
    return { error_type: "not_found", content: `There is no widget ${id}.` };
  }

  #ownData() {
    return this.ownChart ? chart(this.ownRows, this.ownChart) : table(this.ownRows);
  }

  #ownWidget() {
    return {
      uuid: OWN_ROWS,
      origin: "Playground",
      widget_id: "own_rows",
      name: "Own rows",
      description: "Rows that the builder typed",
      columns: Object.keys(this.ownRows[0]),
      params: [],
      metadata: {},
    };
  }
}

function savedWidget({ widget, data, place }) {
  const { widget_id: id, uuid, origin, name, description, category, columns = [], params } = widget;
  const kept = { id, uuid, origin, name, description, category, columns, params, place };
  if (data.pdf || data.items) {
    return { ...kept, items: dataOfSample({ data, widget }).items };
  }
  const kind = data.parse_as === "table" ? "rows" : "text";
  return { ...kept, [kind]: data.content };
}

export async function fileOf(file, place) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  for (let start = 0; start < bytes.length; start += 32768) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 32768));
  }
  return { id: `file-${place + 1}-${idOf(file)}`, name: file.name, content: btoa(binary) };
}

function idOf(file) {
  return `${file.name.replace(/\W+/g, "-").slice(0, 40)}-${file.size}`;
}

function widgetOfFile(file) {
  return {
    origin: "OpenBB Hub",
    widget_id: file.id,
    name: file.name,
    description: file.name,
    params: [],
    metadata: {},
  };
}

function formatOf(name) {
  const extension = name.split(".").pop().toLowerCase();
  return { data_type: extension === "text" ? "txt" : extension, filename: name };
}

function dataOfSample({ data, widget }) {
  if (data.items) {
    return { items: data.items };
  }
  if (data.pdf) {
    const format = { data_type: "pdf", filename: `${widget.widget_id}.pdf` };
    return { items: [{ content: btoa(pdfOf(data.pdf)), data_format: format }] };
  }
  return data.parse_as === "table" ? table(data.content) : text(data.content);
}

function table(rows) {
  return {
    items: [
      { content: JSON.stringify(rows), data_format: { data_type: "object", parse_as: "table" } },
    ],
  };
}

// The first column runs along, and every other one that has numbers is drawn.
function chart(rows, chartType) {
  const [xKey, ...others] = Object.keys(rows[0]);
  const yKey = others.filter((key) => rows.some((row) => typeof row[key] === "number"));
  const format = { data_type: "object", parse_as: "chart", chart_params: { chartType, xKey, yKey } };
  return { items: [{ content: JSON.stringify(rows), data_format: format }] };
}

function text(content) {
  return { items: [{ content, data_format: { data_type: "object", parse_as: "text" } }] };
}

// The server takes what it does not know for UTC, as it does where Workspace says nothing.
function isTimezone(name) {
  try {
    return Boolean(new Intl.DateTimeFormat("en", { timeZone: name }));
  } catch {
    return false;
  }
}

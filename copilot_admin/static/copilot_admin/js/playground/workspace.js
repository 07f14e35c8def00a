// The simulated Workspace: widgets, files and options of a question, and the data of its widgets.

import { parseRows, parseSkills, parseTools } from "./pasted.js";

export const PLACES = ["none", "primary", "secondary", "extra"];
const OWN_UUID = "6f1c1d5e-5a7b-4f0c-9a55-0b1f3f6f7aff";
const OWN_ID = "own_rows";

export class Workspace {
  constructor(samples) {
    this.samples = samples; // { widget, data: { items } or { content, parse_as } }
    this.places = new Map(); // by widget id; others are off
    this.rows = "";
    this.ownPlace = "primary";
    this.ownChart = ""; // kind of chart; empty: a table
    this.tools = "";
    this.skills = "";
    this.files = [];
    this.timezone = "UTC";
    this.options = new Map();
    this.model = "";
  }

  get ownRows() {
    return this.ownPlace === "none" ? [] : (parseRows(this.rows) ?? []);
  }

  // The first input that can't be read.
  get fault() {
    const parsers = { rows: parseRows, tools: parseTools, skills: parseSkills };
    return Object.keys(parsers).find((name) => parsers[name](this[name]) === null);
  }

  // The fields of a query beside its messages; follow-ups after a call have fewer.
  buildRequest({ isFirst }) {
    const widgets = { primary: [], secondary: [], extra: [] };
    for (const { widget } of this.samples) {
      widgets[this.places.get(widget.widget_id)]?.push(widget);
    }
    if (this.ownRows.length) {
      widgets[this.ownPlace].push(this.#ownWidget());
    }
    widgets.primary.push(...this.files.map(fileWidget));
    return {
      widgets,
      context: [],
      tools: parseTools(this.tools) ?? [],
      ...(this.skills && { skills_catalog: parseSkills(this.skills) ?? [] }),
      workspace_options: Object.fromEntries(this.options),
      ...(this.model && { model: this.model }),
      ...(isFirst && { timezone: this.timezone }),
    };
  }

  // The same in the format of a test case.
  toTestCase() {
    const widgets = this.samples
      .filter(({ widget }) => (this.places.get(widget.widget_id) ?? "none") !== "none")
      .map((sample) => testWidget(sample, this.places.get(sample.widget.widget_id)));
    const rows = this.ownRows;
    if (rows.length) {
      const { uuid, name, description, columns } = this.#ownWidget();
      const data = this.ownChart ? chart(rows, this.ownChart) : { rows };
      widgets.push({ id: OWN_ID, uuid, name, description, columns, place: this.ownPlace, ...data });
    }
    return {
      widgets,
      files: this.files,
      options: Object.fromEntries(this.options),
      model: this.model,
      timezone: this.timezone,
      tools: parseTools(this.tools) ?? [],
      skills: parseSkills(this.skills) ?? [],
    };
  }

  // The result of a client function; null if a person has to supply it.
  resultOf({ function: name, input_arguments: input }) {
    const isData = name === "get_widget_data" || name === "get_extra_widget_data";
    return isData ? (input.data_sources ?? []).map((source) => this.#dataOf(source)) : null;
  }

  #dataOf({ widget_uuid: uuid, id }) {
    const isAsked = ({ widget }) => widget.uuid === uuid || widget.widget_id === id;
    const sample = this.samples.find(isAsked);
    const file = this.files.find((one) => one.id === id);
    if (sample) {
      return sampleData(sample.data);
    }
    if (file) {
      return { items: [{ content: file.content, data_format: fileFormat(file.name) }] };
    }
    if (uuid === OWN_UUID || id === OWN_ID) {
      return this.ownChart ? chart(this.ownRows, this.ownChart) : item(this.ownRows, "table");
    }
    return { error_type: "not_found", content: `There is no widget ${id}.` };
  }

  #ownWidget() {
    return {
      uuid: OWN_UUID,
      origin: "Playground",
      widget_id: OWN_ID,
      name: "Own rows",
      description: "Rows that the builder typed",
      columns: Object.keys(this.ownRows[0]),
      params: [],
      metadata: {},
    };
  }
}

function testWidget({ widget, data }, place) {
  const { widget_id: id, uuid, origin, name, description, category, columns = [], params } = widget;
  const content = { [data.parse_as === "table" ? "rows" : "text"]: data.content };
  const kept = data.items ? { items: data.items } : content;
  return { id, uuid, origin, name, description, category, columns, params, place, ...kept };
}

export async function readFile(file, place) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  for (let start = 0; start < bytes.length; start += 32768) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 32768));
  }
  const id = `file-${place + 1}-${file.name.replace(/\W+/g, "-").slice(0, 40)}-${file.size}`;
  return { id, name: file.name, content: btoa(binary) };
}

function fileWidget({ id, name }) {
  return {
    origin: "OpenBB Hub",
    widget_id: id,
    name,
    description: name,
    params: [],
    metadata: {},
  };
}

function fileFormat(filename) {
  const extension = filename.split(".").pop().toLowerCase();
  return { data_type: extension === "text" ? "txt" : extension, filename };
}

function sampleData(data) {
  return data.items ? { items: data.items } : item(data.content, data.parse_as);
}

function item(content, parse_as, more = {}) {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  return { items: [{ content: text, data_format: { data_type: "object", parse_as, ...more } }] };
}

// The first column is the x axis; every other one with numbers is a series.
function chart(rows, chartType) {
  const [xKey, ...others] = Object.keys(rows[0]);
  const yKey = others.filter((key) => rows.some((row) => typeof row[key] === "number"));
  return item(rows, "chart", { chart_params: { chartType, xKey, yKey } });
}

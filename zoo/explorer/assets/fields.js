// Makes the fields of the form from the inputs that a signature declares, and encodes their values.

import { make } from "./elements.js";
import { dataOf, fileOf, fitted, isPicture, pixelsOf } from "./images.js";
import { bitPad, inkPad } from "./pads.js";
import { numerals, visible } from "./words.js";

/** Labels and heights of the inputs of known tasks. */
const TEXTS = new Map(
  Object.entries({
    translation: [{ name: "text", label: "Text to translate", lines: 2 }],
    reading: [
      { name: "question", label: "Question", lines: 1 },
      { name: "context", label: "Text that holds the answer", lines: 5 },
    ],
    cloze: [
      { name: "query", label: "Query, with XXXXX for the blank", lines: 1 },
      { name: "document", label: "Document", lines: 5 },
    ],
    language_model: [{ name: "text", label: "Text", lines: 2 }],
    classification: [{ name: "text", label: "Text", lines: 2 }],
    inference: [
      { name: "premise", label: "Premise", lines: 2 },
      { name: "hypothesis", label: "Hypothesis", lines: 2 },
    ],
  }),
);
const COLORS = [1, 3]; // channels of what is taken for an image
const LINES = 4; // of a field for several lines

/** Tasks whose inputs may be left empty: nothing is a missing value, which only `strings` takes. */
const GAPS = new Map([["tabular", "strings"]]);

export const tasks = [...TEXTS.keys()];

/** Tells whether the page can show a model: its task is known, or its card declares axes. */
export const known = ({ task, axes }) => TEXTS.has(task) || !!axes;

/** Tasks whose sequences are bits, which can be drawn. */
const BITS = new Set(["algorithms"]);

/** Names the signature that a model is asked by. */
export const signatureOf = ({ task, signature }) => GAPS.get(task) ?? signature;

/**
 * Lists the fields of a model's form.
 *
 * @param model its description from the server; `inputs` is null until the model is loaded.
 * @returns {name, label, kind, ...} each, in the order of the task, others last. `title` is the
 *   label's beginning, for errors; `shape` that of one example; `optional` fields may be empty, and
 *   so may those that count the lines of another field, `counts`; `bits` can be drawn.
 */
export function fieldsOf({ task, inputs }) {
  const named = (TEXTS.get(task) ?? []).map((field) => ({ kind: "text", ...field }));
  if (!inputs) return named;
  const declared = new Map(Object.entries(inputs));
  const first = named.filter(({ name }) => isText(name, declared.get(name)));
  const taken = new Set(first.map(({ name }) => name));
  const others = [...declared].filter(([name]) => !taken.has(name));
  const fields = [...first, ...others.map(([name, tensor]) => fieldOf(name, tensor))];
  if (GAPS.has(task)) return fields.map(mayBeEmpty);
  if (!BITS.has(task)) return fields;
  const drawn = fields.map((field) => ofBits(field, fields));
  return [...drawn.filter(({ counts }) => !counts), ...drawn.filter(({ counts }) => counts)];
}

/** Makes a sequence one that can be drawn, and its length one that may be left out. */
function ofBits(field, fields) {
  if (field.kind !== "numbers") return field;
  if (field.shape.length === 2 && field.shape[1]) return { ...field, bits: field.shape[1] };
  const counts = fields.find(({ shape }) => shape?.length === 2)?.name;
  if (field.shape.length || !counts) return field;
  return { ...field, label: `${field.title}: a number, or nothing for all lines`, counts };
}

function mayBeEmpty(field) {
  const asked = field.kind === "numbers" ? field.label : `${field.label}: a text`;
  return { ...field, title: field.title ?? field.label, label: `${asked} or nothing`, optional: true };
}

const isText = (name, tensor) =>
  tensor?.dtype === "string" && tensor.shape?.length === 0 && !name.endsWith("_bytes");

/** Chooses the field of an input by its type and the shape of one example. */
function fieldOf(name, tensor) {
  const { dtype } = tensor;
  const shape = tensor.shape ?? [];
  const title = visible(name).replaceAll("_", " ");
  if (isText(name, tensor)) return { name, kind: "text", label: title, lines: 2 };
  // As for servers of TensorFlow, a name says which strings are files.
  if (dtype === "string" && !shape.length) return { name, kind: "file", title, label: `${title}: a file` };
  if (dtype.startsWith("float") && shape.length === 3 && COLORS.includes(shape[2])) {
    const [height, width] = shape;
    const size = height && width ? `, scaled to ${width} × ${height} pixels` : "";
    return { name, kind: "image", title, label: `${title}: a picture${size}`, shape };
  }
  const kind = dtype === "string" ? "texts" : "numbers";
  const several = `${shape.at(-1) ?? ""} ${kind}`.trim();
  const asked = ["a number", several, `lines of ${several}`][shape.length];
  const label = `${title}: ${asked ?? `lists of ${kind} in JSON`}`;
  return { name, kind, title, label, shape, lines: LINES };
}

/**
 * Makes a field of the form; the element with the field's name holds the value, a text.
 *
 * @param field as `fieldsOf` gives it.
 * @param value its value.
 * @param picked called once a file that was picked has been read, with an error if it could not be.
 */
export function makeField(field, value, picked) {
  const { name, label, kind, lines } = field;
  const id = `in-${name}`;
  if (kind === "image" || kind === "file") return makePicker(field, value, picked);
  const properties = { id, name, dir: "auto", spellcheck: "false" };
  const long = lines > 1 && (kind === "text" || field.shape.length > 1);
  const box = long
    ? make("textarea", { ...properties, rows: lines })
    : make("input", { ...properties, type: "text" });
  box.value = value;
  const typed = make("label", { class: "field" }, `${label} `, box);
  return field.bits ? make("div", { class: "drawn" }, typed, bitPad(box, field.bits)) : typed;
}

function makePicker({ name, title, label, kind, shape }, value, picked) {
  const box = make("input", { type: "hidden", name, value });
  const chosen = make("img", { class: "preview", alt: "" });
  const preview = () => {
    chosen.hidden = !isPicture(box.value);
    if (!chosen.hidden) chosen.src = box.value;
  };
  preview();
  const accept = kind === "image" ? "image/*" : null;
  const pick = make("input", {
    id: `in-${name}`,
    type: "file",
    accept,
    change: async () => {
      const [file] = pick.files;
      if (!file) return;
      try {
        box.value = await (kind === "image" ? fitted(file, shape) : dataOf(file));
        preview();
        picked();
      } catch (error) {
        picked(new Error(`${title}: ${error.message}`));
      }
    },
  });
  const picker = make("label", { class: "field" }, `${label} `, pick, chosen, box);
  if (kind !== "image" || shape[2] !== 1) return picker;
  const pad = inkPad(title, shape, value, (address) => {
    box.value = address;
    preview();
    picked();
  });
  return make("div", { class: "drawn" }, picker, pad);
}

/**
 * Encodes the values of a model's fields as its signature takes them.
 *
 * @param model its description from the server.
 * @param inputs name to text.
 * @returns name to value, as the signature takes it.
 */
export async function encoded(model, inputs) {
  const values = fieldsOf(model).map(async (field) => {
    try {
      const text = inputs[field.name] ?? "";
      if (field.counts && !text.trim()) return [field.name, null];
      return [field.name, await valueOf(field, text)];
    } catch (error) {
      throw new Error(`${field.title ?? field.label}: ${error.message}`);
    }
  });
  const found = Object.fromEntries(await Promise.all(values));
  for (const { name, counts } of fieldsOf(model)) found[name] ??= found[counts].length;
  return found;
}

function valueOf({ kind, shape, optional }, text) {
  if (optional) {
    if (kind === "numbers" && text.trim()) number(text.trim());
    return text.trim().toWellFormed?.() ?? text.trim();
  }
  if (kind === "text") return text.toWellFormed?.() ?? text;
  if (kind === "file") return { b64: fileOf(text) };
  if (kind === "image") return pixelsOf(text, shape);
  if (shape.length > 2) return JSON.parse(text);
  const one = kind === "texts" ? (word) => word.toWellFormed?.() ?? word : number;
  if (!shape.length) return one(text.trim());
  const texts = (line) => line.split(",").map((part) => part.trim()).filter(Boolean);
  const list = (line) => (kind === "texts" ? texts : numerals)(line).map(one);
  return shape.length === 1 ? list(text) : text.trim().split(/\n+/).map(list);
}

function number(word) {
  const value = Number(word);
  if (!word || !Number.isFinite(value)) throw new Error(`"${visible(word)}" is not a number.`);
  return value;
}

/** Says how to fill an empty field. */
export function missing({ title, label, kind }) {
  const say = { image: "choose a picture first.", file: "choose a file first." };
  return `${title ?? label}: ${say[kind] ?? "type something first."}`;
}

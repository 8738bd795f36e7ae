// Shows the maps of any model by the axes that its card declares, not by their names.

import { arcsView } from "./arcs.js";
import { barsView } from "./bars.js";
import { cellsView } from "./cells.js";
import { pathOf } from "./glimpses.js";
import { pickMap } from "./heads.js";
import { pairsView } from "./pairs.js";
import { shadedView } from "./shaded.js";
import { asText } from "./words.js";

const MAP = "attention_"; // how the names of maps begin
const DEEPEST = 2; // axes before rows and columns: layers and heads
const NUMBERED = new Map([
  ["slots", "slot"],
  ["features", "feature"],
]);
const VIEWS = {
  arcs: arcsView,
  bars: barsView,
  cells: cellsView,
  pairs: pairsView,
  shaded: shadedView,
};

const rank = ({ kind }) => (kind === "grid" ? 2 : 1);

function shapeOf(value) {
  const shape = [];
  for (let inner = value; Array.isArray(inner); [inner] = inner) shape.push(inner.length);
  return shape;
}

/** Names a single one of steps: "hop" of "hops". */
const stepOf = ({ of }) => (/^\w+s$/.test(of) ? of.slice(0, -1).replaceAll("_", " ") : "step");

/** Names the positions along an axis, and gives their place in the map. */
function sideOf(axis, outputs, sizes, texts) {
  const [size] = sizes;
  const tokens = outputs[`${axis.of}_tokens`];
  if (axis.kind === "grid") {
    const [rows, columns] = sizes;
    const names = Array.from({ length: rows * columns }, (_, at) => {
      return `row ${Math.floor(at / columns) + 1}, column ${(at % columns) + 1}`;
    });
    return { title: axis.of, names, positions: names.map((_, at) => at), grid: sizes };
  }
  if (["tokens", "steps"].includes(axis.kind) && Array.isArray(tokens)) {
    const length = outputs[`${axis.of}_length`] ?? tokens.length;
    const [names, positions] = [tokens.slice(0, length), [...Array(length).keys()]];
    if (looks(axis, outputs, texts))
      return { title: "step", names: positions.map((at) => `step ${at + 1}`), positions };
    return axis.sentinel
      ? { title: axis.of, names: [...names, "<none>"], positions: [...positions, size - 1] }
      : { title: axis.of, names, positions };
  }
  const listed = { listed: axis.of, features: `${axis.of}_features` }[axis.kind];
  const named = outputs[listed]?.map(asText);
  const word = axis.kind === "steps" ? stepOf(axis) : (NUMBERED.get(axis.kind) ?? "position");
  // The only slot needs no number.
  const alone = axis.kind === "slots" && size === 1;
  const called = (at) => named?.[at] || (alone ? "" : `${word} ${at + 1}`);
  const names = Array.from({ length: size }, (_, at) => called(at));
  return { title: named ? axis.of : word, names, positions: names.map((_, at) => at) };
}

/** Joins the two axes of a grid; makes a map without rows one row. */
function rowsOf(map, queries, keys) {
  const rows = queries ? (rank(queries) === 2 ? map.flat() : map) : [map];
  return rank(keys) === 2 ? rows.map((row) => row.flat()) : rows;
}

const within = (value, depth, change) =>
  depth ? value.map((inner) => within(inner, depth - 1, change)) : change(value);

/** Tells whether an axis is of steps that write no text; as many as a text that is read has places. */
const looks = ({ kind, of }, outputs, texts) =>
  kind === "steps" && (texts.includes(of) || !Array.isArray(outputs[`${of}_tokens`]));

/** Tells whether each word has weights of the words of its own text, and of nothing else. */
const ofItself = (queries, keys) =>
  queries?.kind === "tokens" &&
  keys.kind === "tokens" &&
  queries.of === keys.of &&
  !queries.sentinel &&
  !keys.sentinel;

function viewFor(queries, keys, outputs, depth, texts) {
  if (!depth && ofItself(queries, keys)) return "arcs"; // such as soft parents
  if (keys.kind === "grid") return "cells";
  if (keys.kind === "features") return "bars";
  if (queries && !(keys.kind === "tokens" && looks(queries, outputs, texts))) return "pairs";
  return keys.kind === "tokens" ? "shaded" : "bars";
}

/** Tells whether rows and columns are texts of which that of the rows is read first. */
function comesFirst(queries, keys, texts) {
  if (queries?.kind !== "tokens" || keys.kind !== "tokens") return false;
  const [row, column] = [queries, keys].map(({ of }) => texts.indexOf(of));
  return row >= 0 && row < column;
}

/** Makes a map with its sides, as the views take it; null if it is empty. */
function kindOf(name, axes, outputs, texts) {
  const [queries, keys] = axes.length === 2 ? axes : [null, ...axes];
  const shape = shapeOf(outputs[name]);
  const own = (queries ? rank(queries) : 0) + rank(keys);
  const depth = shape.length - own;
  if (depth < 0 || depth > DEEPEST || shape.includes(0)) return null;
  const columns = sideOf(keys, outputs, shape.slice(-rank(keys)), texts);
  const rows = queries
    ? sideOf(queries, outputs, shape.slice(depth), texts)
    : { title: "", names: [""], positions: [0] };
  if (!rows.names.length || !columns.names.length) return null;
  const picked = (map) => {
    const all = rowsOf(map, queries, keys);
    return rows.positions.map((row) => columns.positions.map((column) => all[row][column]));
  };
  const self = rows.title === columns.title;
  const id = name.slice(MAP.length);
  return {
    id,
    title: id === `${keys.of}_intra` ? `within the ${keys.of}` : id.replaceAll("_", " "),
    weights: within(outputs[name], depth, picked),
    rowTokens: rows.names,
    columnTokens: columns.names,
    rowTitle: self ? `${rows.title}, attending` : rows.title,
    columnTitle: self ? `${columns.title}, attended to` : columns.title,
    sides: `In each, a row is of ${rows.title || "all"}, a column of ${columns.title}.`,
    view: viewFor(queries, keys, outputs, depth, texts),
    rowsFirst: comesFirst(queries, keys, texts),
    of: keys.of,
    cell: keys.cell,
    grid: columns.grid,
    path: columns.grid && rows.names.length > 1 ? pathOf(outputs, columns.grid) : null,
    stepping: queries?.kind === "steps" && rows.names.length > 1,
  };
}

/** Lists the maps of an answer whose axes the card declares; `texts`: the inputs, in their order. */
export function declaredKinds(outputs, axes, texts) {
  return Object.entries(axes ?? {})
    .filter(([name]) => name.startsWith(MAP) && Array.isArray(outputs[name]))
    .filter(([, listed]) => listed.length === 1 || listed.length === 2)
    .map(([name, listed]) => kindOf(name, listed, outputs, texts))
    .filter(Boolean);
}

/** Shows the chosen one of maps as its axes ask; as pairs if they ask for nothing. */
export function chosenView({ kinds, ...given }) {
  return VIEWS[pickMap(kinds, given.state.map).view ?? "pairs"]({ kinds, ...given });
}

/** Shows the chosen map; returns null if there is none. */
export function declaredView({ axes, outputs, texts, ...given }) {
  const kinds = declaredKinds(outputs, axes, texts);
  return kinds.length ? chosenView({ kinds, ...given }) : null;
}

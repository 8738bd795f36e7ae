// Shows attention between two texts: translations, pairs, heads.

import { decimals, make } from "./elements.js";
import { mapChooser, pickMap } from "./heads.js";
import { matrix, scrolling } from "./matrix.js";
import { player } from "./player.js";
import { ribbons } from "./ribbons.js";
import { apart, merge, pieces, strongest, words } from "./words.js";

const SIDES = ["row", "column"];
const NARROWEST = 700; // pixels of a pane in which ribbons and matrix stand side by side

/** Converts a kept word to its form in a link ("row.3"), and back. */
export const written = (at) =>
  at ? Object.entries(at).map(([side, position]) => `${side}.${position}`)[0] : "";
export function placed(text) {
  const found = /^(row|column)\.(\d+)$/.exec(text ?? "");
  return found ? { [found[1]]: Number(found[2]) } : null;
}

/** Names the text of a side: "premise" of "premise, attending". */
const textOf = (map, side) => map[`${side}Title`].split(",")[0];

/** Finds a kept word in another map that has the same text, at the same side if possible. */
function moved(at, from, to) {
  if (!at) return null;
  const [[side, position]] = Object.entries(at);
  const sides = [side, ...SIDES].filter((one) => textOf(to, one) === textOf(from, side));
  return sides.length ? { [sides[0]]: position } : null;
}

function prepare(kinds, state) {
  const picked = pickMap(kinds, state.map);
  const cut = state.pieces ? pieces : words;
  const [rows, columns] = [cut(picked.rowTokens), cut(picked.columnTokens)];
  const weights = merge(picked.weights, rows, columns);
  const largest = Math.max(1e-9, ...weights.map((row) => Math.max(...row)));
  return { ...picked, rows, columns, weights, largest };
}

function reading(map, at) {
  if (!at) return "Point at a word to see what it attends to.";
  if (at.row !== undefined && at.column !== undefined) {
    const weight = decimals(map.weights[at.row][at.column]);
    return `${apart(map.rows[at.row].text)} → ${apart(map.columns[at.column].text)}: ${weight}`;
  }
  if (at.row !== undefined)
    return `${apart(map.rows[at.row].text)} → ${strongest(map.weights[at.row], map.columns) || "–"}`;
  const weights = map.weights.map((row) => row[at.column]);
  return `${apart(map.columns[at.column].text)} ← ${strongest(weights, map.rows) || "–"}`;
}

function tell(map, lists) {
  map.rows.forEach((_, row) =>
    lists.row.describe(row, `attends to ${strongest(map.weights[row], map.columns) || "nothing"}`),
  );
  map.columns.forEach((_, column) => {
    const weights = map.weights.map((row) => row[column]);
    lists.column.describe(column, `attended to by ${strongest(weights, map.rows) || "nothing"}`);
  });
}

/**
 * Shows maps between two texts.
 *
 * @param kinds {id, title, weights, rowTokens, columnTokens, rowTitle, columnTitle} each;
 *   `stepping`: rows are steps, one after the other.
 * @param state the user's choices: map, pieces, kept.
 * @param change called with the choices that change.
 * @param looked called with {of, text, position} of a word that is looked at, or null, so that a
 *   pane beside this one can follow; `of` is the text that it is of.
 */
export function pairsView({ kinds, state, change, looked, width }) {
  const map = prepare(kinds, state);
  const readout = make("p", { class: "readout" });
  const exists = (at) =>
    at && Object.entries(at).every(([side, position]) => position < map[`${side}s`].length);
  let kept = exists(placed(state.kept)) ? placed(state.kept) : null;

  const keep = (at) => {
    kept = at;
    change({ kept: written(at) }, { redraw: false });
    highlight(at);
  };
  const look = (at) => {
    highlight(at ?? kept);
    const side = at && (at.column === undefined ? "row" : "column");
    const text = side && map[`${side}s`][at[side]].text;
    looked(side && { of: textOf(map, side), position: at[side], text });
  };
  const flow = ribbons({ map, look, keep });
  const wide = width >= NARROWEST;
  const grid = matrix({ map, width: wide ? Math.min(640, width * 0.56) : width, look, keep });
  tell(map, flow.lists);

  function highlight(at) {
    const { row, column } = at ?? {};
    flow.highlight(at);
    grid.highlight(at);
    flow.lists.row.activate(row ?? null);
    flow.lists.column.activate(column ?? null);
    flow.lists.row.heat(
      row === undefined && column !== undefined ? map.weights.map((one) => one[column]) : null,
      1,
    );
    flow.lists.column.heat(column === undefined && row !== undefined ? map.weights[row] : null, 1);
    flow.lists.row.pin(kept?.row ?? null);
    flow.lists.column.pin(kept?.column ?? null);
    readout.textContent = reading(map, at);
  }
  highlight(kept);

  const merged = [map.rowTokens, map.columnTokens].some(
    (tokens) => words(tokens).length < tokens.length,
  );
  const box = make("input", {
    type: "checkbox",
    checked: !!state.pieces,
    change: (event) => change({ pieces: event.target.checked ? "1" : "", kept: "" }),
  });
  const parts = make("label", { class: "toggle" }, box, " subwords");
  const chooser = mapChooser({
    kinds,
    shown: map.id,
    choose: (id) => change({ map: id, kept: written(moved(kept, map, pickMap(kinds, id))) }),
    extra: merged ? parts : "",
  });
  if (map.stepping && map.rows.length > 1) {
    const last = map.rows.length - 1;
    const steps = player({
      label: "step",
      count: map.rows.length,
      at: Math.min(kept?.row ?? 0, last),
      told: (row) => reading(map, { row }),
      go: (row) => keep({ row }),
    });
    chooser.append(steps.element);
  }
  const figure = make(
    "div",
    { class: wide ? "figure wide" : "figure" },
    flow.element,
    scrolling(grid, map.largest),
  );
  return {
    elements: [chooser, readout, figure],
    figure,
    follow: (at) => {
      const has = (one) => map[`${one}s`][at.position]?.text === at.text;
      const side = at && SIDES.findLast((one) => textOf(map, one) === at.of && has(one));
      highlight(side ? { [side]: at.position } : kept);
    },
  };
}

// Two columns of words, and between them ribbons as thick as the attention.

import { draw, make } from "./elements.js";
import { TokenList } from "./tokens.js";

const LINE = 27; // pixels from word to word, of the longer side
const FILLED = 0.74; // of a line, by all the ribbons of a word
const LEAST = 0.02; // thinner ribbons are not drawn

/**
 * Where the ribbons of each side begin and end: as thick as the weights, one above the other.
 *
 * At the side that attends the thicknesses of a word add up to a line. At the other side more may
 * come together, and are drawn thinner so that they have room.
 */
function bands(weights, height) {
  const rows = weights.length;
  const columns = weights[0].length;
  const totals = { row: Array(rows).fill(0), column: Array(columns).fill(0) };
  weights.forEach((row, r) =>
    row.forEach((weight, c) => {
      totals.row[r] += weight;
      totals.column[c] += weight;
    }),
  );
  const place = (side, count) =>
    totals[side].map((total, position) => {
      const line = height / count;
      const unit = (Math.min(line, LINE) * FILLED) / Math.max(1, total);
      return { unit, next: line * (position + 0.5) - (unit * total) / 2 };
    });
  const at = { row: place("row", rows), column: place("column", columns) };
  const found = [];
  weights.forEach((row, r) =>
    row.forEach((weight, c) => {
      const ends = [at.column[c], at.row[r]].map((end) => {
        const from = end.next;
        end.next += end.unit * weight;
        return [from, end.next];
      });
      if (weight >= LEAST) found.push({ row: r, column: c, weight, ends });
    }),
  );
  return found;
}

function outline([[a, b], [c, d]]) {
  const y = (value) => value.toFixed(1);
  return (
    `M0 ${y(a)}C45 ${y(a)} 55 ${y(c)} 100 ${y(c)}V${y(d)}` + `C55 ${y(d)} 45 ${y(b)} 0 ${y(b)}Z`
  );
}

/**
 * Draws a map.
 *
 * @param map its rows and columns (words), its weights, and what the sides are called.
 * @param look called with what is looked at: {row} or {column}, or null.
 * @param keep called with what is to stay looked at, or null.
 */
export function ribbons({ map, look, keep }) {
  const height = LINE * Math.max(map.rows.length, map.columns.length);
  const lists = {};
  for (const side of ["column", "row"]) {
    const other = side === "row" ? "column" : "row";
    const words = map[`${side}s`];
    lists[side] = new TokenList({
      label: map[`${side}Title`],
      words,
      vertical: true,
      kind: side,
      look: (position) => look(position === null ? null : { [side]: position }),
      keep: (position) => keep(position === null ? null : { [side]: position }),
      cross: (position, step) => {
        if (step > 0 !== (side === "column")) return;
        const share = (position + 0.5) / words.length;
        lists[other].focus(Math.floor(share * map[`${other}s`].length));
      },
    });
    lists[side].element.style.setProperty("height", `${height}px`);
  }
  const paths = bands(map.weights, height).map((band) => ({
    ...band,
    path: draw("path", {
      d: outline(band.ends),
      "fill-opacity": (0.12 + 0.6 * band.weight).toFixed(3),
    }),
  }));
  const picture = draw(
    "svg",
    {
      class: "bands",
      viewBox: `0 0 100 ${height}`,
      height,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    },
    ...paths.map(({ path }) => path),
  );
  const element = make(
    "div",
    { class: "ribbons" },
    make("p", { class: "side column", text: map.columnTitle }),
    make("p", { class: "side row", text: map.rowTitle }),
    lists.column.element,
    picture,
    lists.row.element,
  );

  function highlight(at) {
    picture.classList.toggle("focused", !!at);
    for (const { path, row, column } of paths) {
      const on = at && (at.row ?? row) === row && (at.column ?? column) === column;
      path.classList.toggle("on", !!on);
    }
  }
  return { element, lists, highlight };
}

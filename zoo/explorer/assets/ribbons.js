// Draws two columns of words, joined by ribbons as thick as the attention.

import { draw, make } from "./elements.js";
import { TokenList } from "./tokens.js";

const LINE = 27; // pixels from word to word, of the longer side
const CLOSE = 21; // of long texts
const LONG = 40; // words from which on a text is a long one, in a box of its own that scrolls
const FILLED = 0.74; // of a line, by all the ribbons of a word
const LEAST = 0.02; // ribbons of less weight are not drawn
const TOGETHER = 0.05; // in long texts neighbours of less weight share one of at least this weight
const THINNEST = 1; // pixels of a ribbon that is drawn
const PLACES = ["left", "right"];

/**
 * Lists the ribbons of an attending word: one for each visible weight. In long texts, where these
 * may be less than half, neighbours whose sum is visible share one.
 */
function spans(row) {
  const large = row
    .map((weight, column) => ({ first: column, last: column, weight }))
    .filter(({ weight }) => weight >= LEAST);
  const total = large.reduce((sum, { weight }) => sum + weight, 0);
  return row.length > LONG && total < 0.5 ? [...large, ...shared(row)] : large;
}

function shared(row) {
  const found = [];
  let [first, sum] = [0, 0];
  row.forEach((weight, last) => {
    if (weight < LEAST) sum += weight;
    if (sum >= TOGETHER) found.push({ first, last, weight: sum, shared: true });
    if (weight >= LEAST || sum >= TOGETHER) [first, sum] = [last + 1, 0];
  });
  return found;
}

/**
 * Stacks the ends of the ribbons of each side, each as thick as its weight.
 *
 * At the side that attends the thicknesses of a word add up to a line. At the other side more may
 * come together, and are drawn thinner so that they have room. Each ribbon begins at the left.
 */
function bands({ weights, rowsFirst }, height) {
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
  weights.forEach((row, r) => {
    const before = row.map((weight, c) => {
      const from = at.column[c].next;
      at.column[c].next += at.column[c].unit * weight;
      return from;
    });
    for (const span of spans(row)) {
      const { unit, next } = at.row[r];
      at.row[r].next += unit * span.weight;
      const ends = [
        [before[span.first], at.column[span.last].next],
        [next, at.row[r].next],
      ].map(seen);
      found.push({ row: r, ...span, ends: rowsFirst ? ends.reverse() : ends });
    }
  });
  return found;
}

/** Makes the end of a ribbon at least visibly thick. */
function seen([from, to]) {
  const more = Math.max(0, THINNEST - (to - from)) / 2;
  return [from - more, to + more];
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
 * @param map its rows and columns (words), its weights, the titles of its sides, and `rowsFirst`:
 *   whether the rows, which attend, stand at the left.
 * @param look called with the highlighted {row} or {column}, or null.
 * @param keep called with the word to keep highlighted, or null.
 */
export function ribbons({ map, look, keep }) {
  const longest = Math.max(map.rows.length, map.columns.length);
  const height = (longest > LONG ? CLOSE : LINE) * longest;
  const lists = {};
  const sides = map.rowsFirst ? ["row", "column"] : ["column", "row"]; // from left to right
  sides.forEach((side, place) => {
    const other = sides[1 - place];
    const words = map[`${side}s`];
    lists[side] = new TokenList({
      label: map[`${side}Title`],
      words,
      vertical: true,
      kind: `${side} ${PLACES[place]}`,
      look: (position) => look(position === null ? null : { [side]: position }),
      keep: (position) => keep(position === null ? null : { [side]: position }),
      cross: (position, step) => {
        if (step > 0 !== (place === 0)) return;
        const share = (position + 0.5) / words.length;
        lists[other].focus(Math.floor(share * map[`${other}s`].length));
      },
    });
    lists[side].element.style.setProperty("height", `${height}px`);
  });
  const paths = bands(map, height).map((band) => ({
    ...band,
    path: draw("path", {
      d: outline(band.ends),
      "fill-opacity": band.shared ? 1 : (0.15 + (0.6 * band.weight) / map.largest).toFixed(3),
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
  );
  // Overlapping shared ribbons get no darker; there are as many as words.
  const haze = draw("g", { class: "haze" });
  picture.append(haze);
  for (const { path, shared } of paths) (shared ? haze : picture).append(path);
  const element = make(
    "div",
    { class: longest > LONG ? "ribbons long" : "ribbons" },
    ...sides.map((side, place) =>
      make("p", { class: `side ${side} ${PLACES[place]}`, text: map[`${side}Title`] }),
    ),
    lists[sides[0]].element,
    picture,
    lists[sides[1]].element,
  );

  function highlight(at) {
    picture.classList.toggle("focused", !!at);
    for (const { path, row, first, last } of paths) {
      const column = at?.column ?? first;
      const on = at && (at.row ?? row) === row && column >= first && column <= last;
      path.classList.toggle("on", !!on);
    }
  }
  return { element, lists, highlight };
}

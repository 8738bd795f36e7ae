// A map as a matrix: a row a word that attends, a column a word attended to.

import { draw, make, scaleOf } from "./elements.js";

const LEVELS = 40; // of the scale; cells of a level are one path, so that long texts are no burden
const LARGEST = 30; // pixels of a cell
const SMALLEST = 5;
const LETTER = 6.6; // pixels, about, of a label's letter
const LONGEST = 16; // letters of a label

const cut = (text) => ([...text].length > LONGEST ? `${[...text].slice(0, LONGEST - 1).join("")}…` : text);
const room = (list) => 10 + LETTER * Math.max(1, ...list.map(({ text }) => [...cut(text)].length));

function cells(weights, size, most) {
  const paths = Array.from({ length: LEVELS + 1 }, () => "");
  weights.forEach((row, r) =>
    row.forEach((weight, c) => {
      const level = Math.round((LEVELS * Math.min(weight, most)) / most);
      paths[level] += `M${c * size} ${r * size}h${size}v${size}h${-size}z`;
    }),
  );
  return paths
    .map((d, level) => ({ d, level }))
    .filter(({ d, level }) => d && level)
    .map(({ d, level }) => draw("path", { d, class: "cells", "fill-opacity": (level / LEVELS).toFixed(3) }));
}

function labels(list, size, across) {
  const step = Math.ceil(11 / size);
  return list
    .map((word, position) => ({ word, position }))
    .filter(({ position }) => position % step === 0)
    .map(({ word, position }) => {
      const middle = (position + 0.5) * size;
      const place = across
        ? { transform: `translate(${middle + 4} -6) rotate(${size >= 20 ? -50 : -90})` }
        : { x: -6, y: middle + 4, "text-anchor": "end" };
      const kind = word.special ? "label special" : "label";
      return draw("text", { ...place, class: kind, "data-position": position, text: cut(word.text) });
    });
}

/**
 * Draws a map.
 *
 * @param map its rows and columns (words), weights and the largest of them.
 * @param width what there is, in pixels.
 * @param look called with {row, column}, or null.
 * @param keep called with {row}, or null.
 */
export function matrix({ map, width, look, keep }) {
  const [left, top] = [room(map.rows), room(map.columns)];
  const fitting = (width - left - 4) / map.columns.length;
  const slanted = fitting >= 20 + top / map.columns.length / 1.6;
  const overhang = slanted ? top * 0.64 : 4;
  const size = Math.max(SMALLEST, Math.min(LARGEST, Math.floor((width - left - overhang) / map.columns.length)));
  const [wide, high] = [size * map.columns.length, size * map.rows.length];
  const above = size >= 20 ? top * 0.8 + 6 : top;
  const band = { row: draw("rect", { class: "band" }), column: draw("rect", { class: "band" }) };
  const frame = draw("rect", { class: "frame", x: 0, y: 0, width: wide, height: high });
  const named = {
    row: draw("g", {}, ...labels(map.rows, size, false)),
    column: draw("g", {}, ...labels(map.columns, size, true)),
  };
  const element = draw(
    "svg",
    {
      class: "matrix",
      width: Math.ceil(left + wide + (size >= 20 ? top * 0.64 : 6)),
      height: Math.ceil(above + high + 4),
      viewBox: `${-left} ${-above} ${Math.ceil(left + wide + (size >= 20 ? top * 0.64 : 6))} ${Math.ceil(above + high + 4)}`,
      role: "img",
      "aria-label": `${map.rowTitle} by ${map.columnTitle}: the weights that the words tell, as a matrix`,
    },
    named.row,
    named.column,
    ...cells(map.weights, size, map.largest),
    frame,
    band.row,
    band.column,
  );

  function cellAt(event) {
    const box = element.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - left) / size);
    const row = Math.floor((event.clientY - box.top - above) / size);
    const inRow = row >= 0 && row < map.rows.length;
    const inColumn = column >= 0 && column < map.columns.length;
    if (inRow && inColumn) return { row, column };
    if (inRow && column < 0) return { row };
    return inColumn && row < 0 ? { column } : null;
  }
  element.addEventListener("pointermove", (event) => look(cellAt(event)));
  element.addEventListener("pointerleave", () => look(null));
  element.addEventListener("click", (event) => {
    const at = cellAt(event);
    keep(at && (at.row === undefined ? at : { row: at.row }));
  });

  function highlight(at) {
    const places = {
      row: { x: 0, y: at?.row * size, width: wide, height: size },
      column: { x: at?.column * size, y: 0, width: size, height: high },
    };
    for (const side of ["row", "column"]) {
      const on = at?.[side] !== undefined;
      band[side].classList.toggle("on", on);
      if (on) for (const [name, value] of Object.entries(places[side])) band[side].setAttribute(name, value);
      for (const label of named[side].children) {
        label.classList.toggle("active", on && Number(label.dataset.position) === at[side]);
      }
    }
  }
  return { element, highlight, left };
}

/** A matrix with its scale below, in a box that scrolls sideways where the matrix is too wide. */
export function scrolling(grid, largest) {
  const box = make("div", { class: "scroller" }, grid.element, scaleOf(largest, "attention"));
  box.style.setProperty("--left", `${grid.left}px`);
  return box;
}

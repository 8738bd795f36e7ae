// A map as a matrix: a row a word that attends, a column a word attended to.

import { draw, make, scaleOf } from "./elements.js";

const LEVELS = 40; // of the scale; cells of a level are one path, so that long texts are no burden
const LARGEST = 30; // pixels of a cell
const SMALLEST = 5;
const LETTER = 6.6; // pixels, about, of a label's letter
const LONGEST = 16; // letters of a label
const LEAN = 0.64; // of a label's length, how far it reaches sideways if it leans
const LEANING = 20; // pixels of a cell from which on labels have room to lean

const cut = (text) =>
  [...text].length > LONGEST ? `${[...text].slice(0, LONGEST - 1).join("")}…` : text;
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
    .map(({ d, level }) =>
      draw("path", { d, class: "cells", "fill-opacity": (level / LEVELS).toFixed(3) }),
    );
}

/** Sizes in pixels: of a cell, of the cells together, and of the room for labels around them. */
function layout(map, width) {
  const [left, top] = [room(map.rows), room(map.columns)];
  const fit = (right) => Math.floor((width - left - right) / map.columns.length);
  // Labels that lean over reach beyond the last column, and need wide cells.
  const leaning = fit(top * LEAN) >= LEANING;
  const right = leaning ? top * LEAN : 6;
  const size = Math.max(SMALLEST, Math.min(LARGEST, fit(right)));
  const above = leaning ? top * 0.8 + 6 : top;
  const [wide, high] = [size * map.columns.length, size * map.rows.length];
  return { left, above, size, wide, high, right, leaning };
}

function labels(list, { size, leaning }, across) {
  const step = Math.ceil(11 / size);
  return list
    .map((word, position) => ({ word, position }))
    .filter(({ position }) => position % step === 0)
    .map(({ word, position }) => {
      const middle = (position + 0.5) * size;
      const place = across
        ? { transform: `translate(${middle + 4} -6) rotate(${leaning ? -50 : -90})` }
        : { x: -6, y: middle + 4, "text-anchor": "end" };
      return draw("text", {
        ...place,
        class: word.special ? "label special" : "label",
        "data-position": position,
        text: cut(word.text),
      });
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
  const sizes = layout(map, width);
  const { left, above, size, wide, high, right } = sizes;
  const [allWide, allHigh] = [Math.ceil(left + wide + right), Math.ceil(above + high + 4)];
  const band = { row: draw("rect", { class: "band" }), column: draw("rect", { class: "band" }) };
  const named = {
    row: draw("g", {}, ...labels(map.rows, sizes, false)),
    column: draw("g", {}, ...labels(map.columns, sizes, true)),
  };
  const element = draw(
    "svg",
    {
      class: "matrix",
      width: allWide,
      height: allHigh,
      viewBox: `${-left} ${-above} ${allWide} ${allHigh}`,
      role: "img",
      "aria-label": `A matrix of the weights that the words tell: ${map.rowTitle} by ${map.columnTitle}`,
    },
    named.row,
    named.column,
    ...cells(map.weights, size, map.largest),
    draw("rect", { class: "frame", x: 0, y: 0, width: wide, height: high }),
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
      if (on)
        for (const [name, value] of Object.entries(places[side]))
          band[side].setAttribute(name, value);
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

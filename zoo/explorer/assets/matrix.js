// Draws a map as a matrix: one row per attending word, one column per attended word.

import { draw, make, scaleOf } from "./elements.js";
import { thumbnail } from "./heads.js";

const LEVELS = 40; // of the scale; cells of a level are one path, so that long texts are no burden
const LARGEST = 30; // pixels of a cell
const SMALLEST = 12; // at which every word can be named; a matrix that is larger then is scrolled
const LETTER = 6.6; // pixels, about, of a label's letter
const LONGEST = 16; // letters of a label
const LEAN = 0.64; // of a label's length, how far it reaches sideways if it leans
const LEANING = 20; // pixels of a cell from which on labels have room to lean
const FONT = 0.85; // of a cell, the size of its label, which is 13 pixels at most

const cut = (text) =>
  [...text].length > LONGEST ? `${[...text].slice(0, LONGEST - 1).join("")}…` : text;
const room = (list) => 10 + LETTER * Math.max(1, ...list.map(({ text }) => [...cut(text)].length));

/**
 * Draws cells, those of a level of the scale as one path.
 *
 * @param weights (rows, columns), not negative.
 * @param size width and height of a cell in pixels.
 * @param most the weight at the end of the scale.
 */
export function levels(weights, [wide, high], most) {
  const paths = Array.from({ length: LEVELS + 1 }, () => "");
  weights.forEach((row, r) =>
    row.forEach((weight, c) => {
      const level = Math.round((LEVELS * Math.min(weight, most)) / most);
      paths[level] += `M${c * wide} ${r * high}h${wide}v${high}h${-wide}z`;
    }),
  );
  return paths
    .map((d, level) => ({ d, level }))
    .filter(({ d, level }) => d && level)
    .map(({ d, level }) =>
      draw("path", { d, class: "cells", "fill-opacity": (level / LEVELS).toFixed(3) }),
    );
}

/** Computes sizes in pixels: of a cell, of all cells, and of the margins for labels. */
function layout(map, width) {
  const [left, top] = [room(map.rows), room(map.columns)];
  const fit = (right) => Math.floor((width - left - right) / map.columns.length);
  // Slanted labels reach beyond the last column, and need wide cells.
  const leaning = fit(top * LEAN) >= LEANING;
  const right = leaning ? top * LEAN : 6;
  const size = Math.max(SMALLEST, Math.min(LARGEST, fit(right)));
  const above = leaning ? top * 0.8 + 6 : top;
  const [wide, high] = [size * map.columns.length, size * map.rows.length];
  return { left, above, size, wide, high, right, leaning };
}

function labels(list, { size, leaning }, across) {
  return list.map((word, position) => {
    const middle = (position + 0.5) * size;
    const place = across
      ? { transform: `translate(${middle + 4} -6) rotate(${leaning ? -50 : -90})` }
      : { x: -6, y: middle + 4, "text-anchor": "end" };
    return draw("text", {
      ...place,
      class: word.special ? "label special" : "label",
      "font-size": Math.min(13, FONT * size).toFixed(1),
      "data-position": position,
      text: cut(word.text),
    });
  });
}

/** Makes a part of the picture in a grid cell of its own, so that labels stay while cells scroll. */
function part(name, [x, y, width, height], ...children) {
  const [wide, high] = [Math.ceil(width), Math.ceil(height)];
  const viewBox = `${x} ${y} ${wide} ${high}`;
  return draw("svg", { class: name, width: wide, height: high, viewBox }, ...children);
}

/**
 * Draws a map.
 *
 * @param map its rows and columns (words), weights and the largest of them.
 * @param width available pixels.
 * @param look called with {row, column}, or null.
 * @param keep called with {row}, or null.
 */
export function matrix({ map, width, look, keep }) {
  const sizes = layout(map, width);
  const { left, above, size, wide, high, right } = sizes;
  const band = { row: draw("rect", { class: "band" }), column: draw("rect", { class: "band" }) };
  const named = {
    row: part("names row", [-left, 0, left, high], ...labels(map.rows, sizes, false)),
    column: part(
      "names column",
      [0, -above, wide + right, above],
      ...labels(map.columns, sizes, true),
    ),
  };
  const plane = part(
    "plane",
    [0, 0, wide + right, high + 4],
    ...levels(map.weights, [size, size], map.largest),
    draw("rect", { class: "frame", x: 0, y: 0, width: wide, height: high }),
    band.row,
    band.column,
  );
  const element = make(
    "div",
    {
      class: "matrix",
      role: "img",
      "aria-label": `A matrix of the weights that the words tell: ${map.rowTitle} by ${map.columnTitle}`,
    },
    named.row,
    named.column,
    plane,
    make("div", { class: "corner" }),
  );

  function cellAt(event) {
    const label = event.target.closest?.(".label");
    const side = ["row", "column"].find((one) => named[one].contains(event.target));
    if (label) return { [side]: Number(label.dataset.position) };
    const box = plane.getBoundingClientRect();
    const place = {
      row: Math.floor((event.clientY - box.top) / size),
      column: Math.floor((event.clientX - box.left) / size),
    };
    const inside = (one) => place[one] >= 0 && place[one] < map[`${one}s`].length;
    if (side) return inside(side) ? { [side]: place[side] } : null;
    return plane.contains(event.target) && inside("row") && inside("column") ? place : null;
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
  /** Tells whether it is larger than its box and scrolls. */
  const large = left + wide > width;
  return { element, highlight, left, large, weights: map.weights };
}

/** Makes an overview of a large matrix; pressing it scrolls to that part. */
function overview(grid, box) {
  const canvas = thumbnail(grid, 120);
  canvas.classList.add("overview");
  canvas.addEventListener("click", (event) => {
    const place = canvas.getBoundingClientRect();
    const share = (at, from, size) => (at - from) / size;
    box.scrollTo({
      left: share(event.clientX, place.left, place.width) * box.scrollWidth - box.clientWidth / 2,
      top: share(event.clientY, place.top, place.height) * box.scrollHeight - box.clientHeight / 2,
    });
  });
  return canvas;
}

/** Makes a matrix with its colour scale, in a box that scrolls if necessary. */
export function scrolling(grid, largest) {
  const box = make("div", { class: "scroller" }, grid.element);
  const below = make(
    "div",
    { class: "below" },
    scaleOf(largest, "attention"),
    grid.large ? overview(grid, box) : "",
  );
  const element = make("div", { class: "map" }, box, below);
  element.style.setProperty("--left", `${grid.left}px`);
  return element;
}

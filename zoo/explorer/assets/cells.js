// Draws attention over the cells of a picture, one step at a time.

import { choice, decimals, draw, make, mark, scaleOf } from "./elements.js";
import { patchOf } from "./glimpses.js";
import { mapChooser, pickMap, thumbnail } from "./heads.js";
import { isPicture, sizeOf } from "./images.js";
import { player } from "./player.js";
import { pieces, strongest } from "./words.js";

const WIDEST = 420; // pixels of a picture on the page
const HIGHEST = 420;
const STRONGEST = 0.7; // opacity of the largest weight

const folded = (weights, [rows, columns]) =>
  Array.from({ length: rows }, (_, row) => weights.slice(row * columns, (row + 1) * columns));

/**
 * Computes the pixels of each cell; cells at the right and lower edges may be cut off. Where cells
 * of that size do not cover the picture, the model scaled it first, and they divide it evenly.
 */
function placesOf([rows, columns], cell, [height, width]) {
  const fits = Math.ceil(height / cell) === rows && Math.ceil(width / cell) === columns;
  const [high, wide] = fits ? [cell, cell] : [height / rows, width / columns];
  return Array.from({ length: rows * columns }, (_, at) => {
    const [y, x] = [Math.floor(at / columns) * high, (at % columns) * wide];
    return { x, y, width: Math.min(wide, width - x), height: Math.min(high, height - y) };
  });
}

function drawing(name, [height, width], scale, ...children) {
  const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
  const viewBox = `0 0 ${width} ${height}`;
  return draw("svg", { class: name, width: wide, height: high, viewBox }, ...children);
}

function picture(address, [height, width], name) {
  const place = { width, height, preserveAspectRatio: "none" };
  return address ? draw("image", { class: name, href: address, ...place }) : "";
}

/**
 * Shows maps over the cells of a picture. A row that is pointed at is shown meanwhile.
 *
 * @param kinds as in `pairsView`, with columns that are cells, `grid` and `cell`; `of`: the name of
 *   the picture among the inputs; `path`: what was seen at each row, as in `glimpses.js`, or null.
 * @param inputs of the request; the picture is a data URL.
 * @param state the user's choices: map, step (a row), kept (a cell).
 * @param change called with the choices that change.
 */
export function cellsView({ kinds, inputs, state, change, width }) {
  const picked = pickMap(kinds, state.map);
  const [rows, columns] = [pieces(picked.rowTokens), pieces(picked.columnTokens)];
  const given = [inputs[picked.of], inputs[`${picked.of}_bytes`]];
  const address = given.find(isPicture) ?? "";
  const cell = picked.cell ?? 1;
  const size = sizeOf(address) ?? picked.grid.map((cells) => cells * cell);
  const places = placesOf(picked.grid, cell, size);
  let row = Math.min(Math.max(Number(state.step) || 1, 1), rows.length) - 1;
  const largest = Math.max(1e-9, ...picked.weights.flat());
  const scale = Math.min(WIDEST / size[1], HIGHEST / size[0], width / size[1]);

  const readout = make("p", { class: "readout" });
  const frame = draw("rect", { class: "band", "vector-effect": "non-scaling-stroke" });
  const unit = [size[1] / picked.grid[1], size[0] / picked.grid[0]];
  const retina = draw("g", { transform: `scale(${unit})` });
  const seen = make("div", { class: "patches" });
  const cells = places.map((place, at) =>
    draw("rect", { ...place, class: "cells", "data-position": at }),
  );
  const over = drawing(
    "over",
    size,
    scale,
    picture(address, size, "faded"),
    ...cells,
    draw("rect", {
      class: "frame",
      width: size[1],
      height: size[0],
      "vector-effect": "non-scaling-stroke",
    }),
    retina,
    frame,
  );
  over.setAttribute("role", "img");
  over.addEventListener("pointermove", ({ target }) => show(target.dataset.position ?? null));
  over.addEventListener("pointerleave", () => show(null));

  /** Points at a cell, or at none. */
  function show(at) {
    frame.classList.toggle("on", at !== null);
    if (at !== null)
      for (const [side, value] of Object.entries(places[at])) frame.setAttribute(side, value);
    readout.textContent =
      at === null
        ? looked(row)
        : `${columns[at].text}: ${decimals(picked.weights[row][at])}`;
  }

  function looked(of, none = "–") {
    const step = rows.length > 1 ? `, ${rows[of].said}` : "";
    const belief = picked.path?.[of]?.belief; // a retina sees all of its cells alike
    return `${picked.title}${step} → ${belief || strongest(picked.weights[of], columns) || none}`;
  }

  /** Lays the map of a row over the picture. */
  function lay(of) {
    cells.forEach((cell, at) => {
      const opacity = (STRONGEST * picked.weights[of][at]) / largest;
      cell.setAttribute("fill-opacity", opacity.toFixed(3));
    });
    const found = picked.path?.[of];
    retina.replaceChildren(
      ...(found?.frames ?? []).map((place) =>
        draw("rect", { ...place, class: "band on", "vector-effect": "non-scaling-stroke" }),
      ),
    );
    seen.replaceChildren(...(found?.seen ?? []).map(patchOf));
    over.setAttribute("aria-label", looked(of, "no weight").replace(" → ", ": "));
    readout.textContent = looked(of);
  }
  lay(row);

  const looks =
    rows.length > 1 &&
    choice({
      label: picked.rowTitle,
      chosen: String(row + 1),
      kind: "choice looks",
      options: rows.map(({ text, said }, at) => ({
        value: String(at + 1),
        title: said,
        content: look(
          [text, picked.path?.[at]?.belief].filter(Boolean).join(": "),
          folded(picked.weights[at], picked.grid),
          size,
        ),
      })),
      choose: (step) => change({ step }),
    });
  if (looks) {
    looks.addEventListener("pointerover", ({ target }) => {
      const value = target.closest("[data-value]")?.dataset.value;
      lay(value ? Number(value) - 1 : row);
    });
    looks.addEventListener("pointerleave", () => lay(row));
  }
  const controls =
    looks &&
    player({
      label: picked.rowTitle,
      count: rows.length,
      at: row,
      told: looked,
      go: (step) => {
        row = step;
        lay(row);
        mark(looks, String(row + 1));
        change({ step: String(row + 1) }, { redraw: false });
      },
    }).element;
  const chooser = mapChooser({ kinds, shown: picked.id, choose: (id) => change({ map: id }) });
  const plain = drawing("plain", size, scale, picture(address, size, ""));
  const figure = make(
    "div",
    { class: "figure" },
    make("div", { class: "pictures" }, over, address ? plain : "", picked.path ? seen : ""),
    scaleOf(largest, "attention"),
  );
  chooser.append(controls || "", looks || "");
  return { elements: [chooser, readout, figure], figure, follow: () => {} };
}

/** Makes the button of a row: a thumbnail of its weights above its name. */
function look(text, weights, [height, width]) {
  const canvas = thumbnail({ weights });
  canvas.style.setProperty("aspect-ratio", `${width} / ${height}`);
  return make("span", { class: "look" }, canvas, make("span", { text }));
}

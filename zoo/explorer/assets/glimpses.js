// What a retina saw at each step, where, and what the model believed after it.

import { asText } from "./words.js";
import { decimals, draw } from "./elements.js";

const PATCH = 72; // pixels of a patch on the page

/** Computes a frame around a place, in pixels of the picture that the model read. */
function frameOf([y, x], side, [height, width]) {
  // As the retina rounds locations to pixels.
  const [row, column] = [
    [y, height],
    [x, width],
  ].map(([place, size]) => Math.floor(0.5 * (place + 1) * size + 0.5) - Math.floor(side / 2));
  return { x: column, y: row, width: side, height: side };
}

/**
 * Lists the steps of a path: {frames, belief, seen}; null if the answer tells none.
 *
 * @param outputs `locations` (steps, 2), `seen` (steps, scales, side, side, channels),
 *   `label_per_step` and `probabilities_per_step`, those that there are.
 * @param grid rows and columns of the picture that the model read.
 */
export function pathOf(outputs, grid) {
  const { locations, seen, label_per_step: labels, probabilities_per_step: chances } = outputs;
  if (![locations, seen].every(Array.isArray) || !Array.isArray(seen[0]?.[0]?.[0])) return null;
  return locations.map((place, step) => ({
    frames: seen[step].map((patch, scale) => frameOf(place, patch.length * 2 ** scale, grid)),
    belief: labels?.[step] === undefined ? "" : `${asText(labels[step])} ${decimals(Math.max(...chances[step]))}`,
    seen: seen[step],
  }));
}

const shade = (pixel) => {
  const [red, green, blue] = pixel.length === 3 ? pixel : [pixel[0], pixel[0], pixel[0]];
  const byte = (value) => Math.round(255 * Math.min(1, Math.max(0, value)));
  return `rgb(${byte(red)},${byte(green)},${byte(blue)})`;
};

/** Draws a patch (side, side, channels). */
export function patchOf(pixels) {
  const side = pixels.length;
  const cells = pixels.flatMap((row, y) =>
    row.map((pixel, x) => draw("rect", { x, y, width: 1.02, height: 1.02, fill: shade(pixel) })),
  );
  return draw("svg", { class: "patch", width: PATCH, height: PATCH, viewBox: `0 0 ${side} ${side}` }, ...cells);
}

// Pads to draw on: a sequence of bits, and a picture in white on black.

import { draw, make } from "./elements.js";
import { fitted, isPicture } from "./images.js";
import { numbersOf } from "./words.js";

const CELL = 16; // pixels
const FIRST_STEPS = 12; // of an empty field
const PICTURE = 168; // pixels of a side of the pad for pictures
const STROKE = 0.08; // of a side, the width of a line

/** Reads bits, a line a step; null if the text holds anything else. */
function bitsOf(text, size) {
  if (!text.trim()) return Array.from({ length: FIRST_STEPS }, () => Array(size).fill(0));
  const rows = numbersOf(text);
  const all = rows.every((row) => row.length === size && row.every((bit) => bit === 0 || bit === 1));
  return all && rows.length ? rows : null;
}

const written = (rows) => rows.map((row) => row.join(" ")).join("\n");

/**
 * Makes a pad for a sequence of bits: a column a step. It writes into a text box, which remains for
 * those who would rather type, and follows what is typed there.
 *
 * @param box the text box, with a line a step.
 * @param size bits of a step.
 */
export function bitPad(box, size) {
  const surface = draw("svg", { role: "img", "aria-label": "The sequence, a column a step" });
  const more = (text, change) =>
    make("button", { type: "button", class: "example", text, click: () => put(change) });
  const buttons = make(
    "div",
    { class: "buttons" },
    more("longer", (rows) => [...rows, Array(size).fill(0)]),
    more("shorter", (rows) => (rows.length > 1 ? rows.slice(0, -1) : rows)),
    more("clear", (rows) => rows.map((row) => row.map(() => 0))),
  );
  const element = make("div", { class: "drawing" }, surface, buttons);
  let painting = null; // the bit that is written while the pointer is down

  function show() {
    const rows = bitsOf(box.value, size);
    element.hidden = !rows;
    if (!rows) return;
    const [wide, high] = [rows.length * CELL, size * CELL];
    for (const [name, value] of [["width", wide], ["height", high]]) surface.setAttribute(name, value);
    surface.setAttribute("viewBox", `0 0 ${wide} ${high}`);
    surface.replaceChildren(
      ...rows.flatMap((row, step) =>
        row.map((bit, at) =>
          draw("rect", {
            class: bit ? "one" : "blank",
            x: step * CELL,
            y: at * CELL,
            width: CELL,
            height: CELL,
          }),
        ),
      ),
    );
  }
  function put(change) {
    const rows = bitsOf(box.value, size);
    if (!rows) return;
    box.value = written(change(rows));
    show();
  }
  function paint({ clientX, clientY }, begins) {
    const rows = bitsOf(box.value, size);
    if (!rows || (!begins && painting === null)) return;
    const place = surface.getBoundingClientRect();
    const across = Math.floor(((clientX - place.left) / place.width) * rows.length);
    const down = Math.floor(((clientY - place.top) / place.height) * size);
    if (rows[across]?.[down] === undefined) return;
    if (begins) painting = 1 - rows[across][down];
    rows[across][down] = painting;
    put(() => rows);
  }
  surface.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    surface.setPointerCapture(event.pointerId);
    paint(event, true);
  });
  surface.addEventListener("pointermove", (event) => paint(event, false));
  for (const end of ["pointerup", "pointercancel"])
    surface.addEventListener(end, () => {
      painting = null;
    });
  box.addEventListener("input", show);
  show();
  return element;
}

/**
 * Makes a pad for a picture, white on black.
 *
 * @param label of the field.
 * @param shape height and width that the model reads.
 * @param value data URL of the picture to go on with, if any.
 * @param done called with the data URL of the picture after each line.
 */
export function inkPad(label, shape, value, done) {
  const canvas = make("canvas", {
    class: "ink",
    width: PICTURE,
    height: PICTURE,
    role: "img",
    "aria-label": `${label}: draw here`,
  });
  const context = canvas.getContext("2d");
  const clear = () => {
    context.fillStyle = "black";
    context.fillRect(0, 0, PICTURE, PICTURE);
  };
  clear();
  if (isPicture(value)) {
    const before = make("img", { src: value });
    before.decode().then(
      () => context.drawImage(before, 0, 0, PICTURE, PICTURE),
      () => {}, // no picture after all: the answer says so
    );
  }
  Object.assign(context, { lineCap: "round", lineJoin: "round", lineWidth: PICTURE * STROKE });
  context.strokeStyle = "white";
  let drawing = false;
  const placeOf = ({ clientX, clientY }) => {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    return [((clientX - left) / width) * PICTURE, ((clientY - top) / height) * PICTURE];
  };
  canvas.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    canvas.setPointerCapture(event.pointerId);
    drawing = true;
    context.beginPath();
    context.moveTo(...placeOf(event));
    context.lineTo(...placeOf(event)); // a dot
    context.stroke();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drawing) return;
    context.lineTo(...placeOf(event));
    context.stroke();
  });
  const finish = async () => {
    if (!drawing) return;
    drawing = false;
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
    done(await fitted(blob, shape));
  };
  canvas.addEventListener("pointerup", finish);
  canvas.addEventListener("pointercancel", finish);
  const button = make("button", { type: "button", class: "example", text: "clear", click: clear });
  return make("div", { class: "drawing" }, make("span", { text: "or draw it:" }), canvas, button);
}

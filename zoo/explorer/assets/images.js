// Pictures from files to what a model reads: pixels from 0 to 1, at the size that it declares.
// A picture is kept as the text of a data URL, so that the address of the page can hold it.

import { make } from "./elements.js";

const LARGEST = 160; // pixels of a side where a model reads any size: servers read so many values
const LARGEST_FILE = 1 << 20; // bytes of a file that is sent as it is
const GREY = [0.299, 0.587, 0.114]; // shares of red, green and blue

/** Draws a picture at a size; without one, at its own. */
async function drawn(blob, [height, width] = []) {
  let bitmap;
  try {
    bitmap = await createImageBitmap(blob, { colorSpaceConversion: "none" });
  } catch {
    throw new Error("this browser cannot read the picture.");
  }
  const scale = Math.min(1, LARGEST / Math.max(bitmap.width, bitmap.height));
  const own = [bitmap.height, bitmap.width].map((side) => Math.max(1, Math.round(side * scale)));
  const canvas = make("canvas", { width: width ?? own[1], height: height ?? own[0] });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.fillStyle = "white"; // behind what is transparent
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return { canvas, context };
}

/** A file's picture, of the height and width in `shape`, as the data URL of a PNG. */
export async function fitted(file, shape) {
  const { canvas } = await drawn(file, shape);
  return canvas.toDataURL("image/png");
}

/** A file as a data URL. */
export async function dataOf(file) {
  if (file.size > LARGEST_FILE)
    throw new Error(`the file must have at most ${LARGEST_FILE} bytes, got ${file.size}.`);
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return `data:${file.type};base64,${btoa(text)}`;
}

/** Whether a text is a data URL that says it is a picture. */
export const isPicture = (text) => /^data:image\//.test(text ?? "");

/** What is behind the head of a data URL: a file in base64. */
export function fileOf(text) {
  const found = /^data:[^,]*;base64,([A-Za-z0-9+/]*=*)$/.exec(text);
  if (!found) throw new Error("choose the file anew.");
  return found[1];
}

function bytesOf(text) {
  try {
    return Uint8Array.from(atob(fileOf(text)), (sign) => sign.charCodeAt(0));
  } catch {
    throw new Error("choose the picture anew.");
  }
}

/** The pixels of a picture, (height, width, channels), from 0 to 1. */
export async function pixelsOf(text, shape) {
  const { canvas, context } = await drawn(new Blob([bytesOf(text)]), shape);
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
  const share = (value) => Number((value / 255).toFixed(4));
  const pixel = (at) => {
    const color = [data[at], data[at + 1], data[at + 2]];
    if (shape[2] === 3) return color.map(share);
    return [share(color.reduce((sum, part, channel) => sum + GREY[channel] * part, 0))];
  };
  return Array.from({ length: canvas.height }, (_, y) =>
    Array.from({ length: canvas.width }, (_, x) => pixel(4 * (y * canvas.width + x))),
  );
}

/** Height and width of a picture, read from its first bytes; null if it is no PNG. */
export function sizeOf(text) {
  const found = /^data:image\/png;base64,([A-Za-z0-9+/]{32})/.exec(text);
  if (!found) return null;
  const bytes = atob(found[1]);
  const number = (at) =>
    [0, 1, 2, 3].reduce((sum, next) => sum * 256 + bytes.charCodeAt(at + next), 0);
  return [number(20), number(16)];
}

// Converts picture files to pixels from 0 to 1, at the size that a model declares.
// A picture is kept as the text of a data URL, so that the address of the page can hold it.

import { make } from "./elements.js";

const LARGEST = 160; // pixels of a side where a model reads any size: servers read so many values
const LARGEST_FILE = 1 << 20; // bytes of a file that is sent as it is
const GREY = [0.299, 0.587, 0.114]; // shares of red, green and blue

/** Draws a picture at a size, by default its own. */
async function drawn(blob, [height, width] = []) {
  let bitmap;
  try {
    // As models read pictures: whichever way the camera was held.
    const plain = { colorSpaceConversion: "none", imageOrientation: "none" };
    bitmap = await createImageBitmap(blob, plain);
  } catch {
    throw new Error("this browser cannot read the picture.");
  }
  const scale = Math.min(1, LARGEST / Math.max(bitmap.width, bitmap.height));
  const own = [bitmap.height, bitmap.width].map((side) => Math.max(1, Math.round(side * scale)));
  const canvas = make("canvas", { width: width ?? own[1], height: height ?? own[0] });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
  // Models ignore transparency, and see the colours behind it, which a browser does not tell.
  if (data.some((value, at) => at % 4 === 3 && value < 255))
    throw new Error("the picture has transparent parts: save it without transparency.");
  return { canvas, context };
}

/** Reads a picture from a file, scaled to `shape` (height, width), as the data URL of a PNG. */
export async function fitted(file, shape) {
  const { canvas } = await drawn(file, shape);
  return canvas.toDataURL("image/png");
}

/** Reads a file as a data URL. */
export async function dataOf(file) {
  if (file.size > LARGEST_FILE)
    throw new Error(`the file must have at most ${LARGEST_FILE} bytes, got ${file.size}.`);
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return `data:${file.type};base64,${btoa(text)}`;
}

/** Tells whether a text is the data URL of a picture. */
export const isPicture = (text) => /^data:image\//.test(text ?? "");

/** Returns the base64 part of a data URL. */
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

/** Reads the pixels of a picture, (height, width, channels), from 0 to 1. */
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

/** Reads height and width of a PNG or JPEG file; null for any other. */
export function sizeOf(text) {
  let bytes;
  try {
    bytes = isPicture(text) ? atob(fileOf(text)) : "";
  } catch {
    return null;
  }
  const word = (at) => bytes.charCodeAt(at) * 256 + bytes.charCodeAt(at + 1);
  const sizes = bytes.startsWith("\x89PNG") ? [word(22), word(18)] : frameOf(bytes, word);
  return sizes?.every((side) => side > 0) ? sizes : null;
}

/** Finds the height and width in the segments of a JPEG file. */
function frameOf(bytes, word) {
  if (!bytes.startsWith("\xff\xd8")) return null;
  for (let at = 2; bytes.charCodeAt(at) === 0xff; at += 2 + word(at + 2)) {
    const kind = bytes.charCodeAt(at + 1);
    const frame = kind >= 0xc0 && kind <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(kind);
    if (frame) return [word(at + 5), word(at + 7)];
  }
  return null;
}

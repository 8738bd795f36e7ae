// Formats tokens, joins subwords to words, and finds tokens in their text.

const MARK = "\u2581"; // how SentencePiece writes the space before a word
// A Map: a plain object would also find words such as "constructor".
const SPECIAL = new Map([
  ["<s>", "start"],
  ["</s>", "end"],
  ["<unk>", "unknown word"],
  ["<pad>", "padding"],
  ["<none>", "none of these words"], // the column of a map behind the words
]);
const PUNCTUATION = /^[\p{P}\p{S}]+$/u;

/** Converts a token to text; bytes that are not UTF-8 come as an object. */
export function asText(token) {
  return typeof token === "string" ? token : "\ufffd";
}

/** Makes invisible characters visible: controls, noncharacters, lone blanks. */
export function visible(text) {
  const shown = text
    .replace(/[\0-\x1f]/g, (sign) => String.fromCharCode(0x2400 + sign.charCodeAt(0)))
    .replace(/\x7f/g, "\u2421")
    .replace(
      /[\x80-\x9f\u2028\u2029\p{Noncharacter_Code_Point}\p{Surrogate}]/gu,
      "\ufffd",
    );
  return /^[\s\p{Default_Ignorable_Code_Point}]*$/u.test(shown) ? "\u2423" : shown;
}

/** Makes a word: its text, its description, and the positions of its tokens. */
function word(text, members) {
  const special = SPECIAL.get(text);
  const shown = special ? text : visible(text);
  return {
    text: shown,
    said: special ?? shown,
    special: !!special,
    members,
  };
}

/** Makes a word of each token. */
export function pieces(tokens) {
  return tokens.map((token, position) => {
    const text = asText(token);
    return word(text === MARK ? text : text.replaceAll(MARK, ""), [position]);
  });
}

/** Joins subwords to words; tokens that are words stay as they are. */
export function words(tokens) {
  const texts = tokens.map(asText);
  if (!texts.some((text) => text.startsWith(MARK))) return pieces(tokens);
  const groups = [];
  let alone = true; // whether the next piece begins a word in any case
  texts.forEach((text, position) => {
    const bare = text.replaceAll(MARK, "");
    const apart = SPECIAL.has(text) || PUNCTUATION.test(bare);
    if (alone || apart || text.startsWith(MARK)) groups.push({ text: bare, members: [position] });
    else {
      groups.at(-1).text += bare;
      groups.at(-1).members.push(position);
    }
    alone = apart;
  });
  // A lone mark is the space before the next token.
  return groups.map(({ text, members }) => word(text || MARK, members));
}

/** Reduces a map to words: the mean over the tokens that attend, the sum over those attended to. */
export function merge(weights, rows, columns) {
  return rows.map((row) =>
    columns.map((column) => {
      let sum = 0;
      for (const r of row.members) for (const c of column.members) sum += weights[r]?.[c] ?? 0;
      return sum / row.members.length;
    }),
  );
}

/**
 * Finds tokens in their text.
 *
 * @returns of each token {begin, end}, positions in the text; null if one is not found.
 */
export function locate(text, tokens) {
  const places = [];
  let from = 0;
  for (const token of tokens) {
    const begin = text.indexOf(asText(token), from);
    if (begin < 0) return null;
    from = begin + asText(token).length;
    places.push({ begin, end: from });
  }
  return places;
}

/** Converts an offset in UTF-8 bytes to a position in the text. */
export function positionOfByte(text, offset) {
  let bytes = 0;
  let position = 0;
  for (const character of text) {
    if (bytes >= offset) break;
    const code = character.codePointAt(0);
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    position += character.length;
  }
  return position;
}

/** Cuts a line of numbers. */
export const numerals = (line) => line.split(/[\s,;]+/).filter(Boolean);

/** Reads numbers, a list for each line; words that are no numbers become NaN. */
export const numbersOf = (text) =>
  text
    .trim()
    .split(/\n+/)
    .map((line) => numerals(line).map(Number))
    .filter((line) => line.length);

/** Isolates a word's direction from the line around it. */
export function apart(text) {
  return /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\u200e-\u202e]/u.test(text)
    ? `\u2068${text}\u2069`
    : text;
}

/** Lists the words with the most weight: "coat 0.83, red 0.11". */
export function strongest(weights, list, count = 4) {
  return weights
    .slice(0, list.length)
    .map((weight, position) => ({ weight, word: list[position] }))
    .filter(({ weight }) => weight >= 0.01)
    .sort((one, other) => other.weight - one.weight)
    .slice(0, count)
    .map(({ weight, word: { text } }) => `${apart(text)}\u00a0${weight.toFixed(2)}`)
    .join(", ");
}

// Shows how a reader came to its answer, iteration by iteration.

import { choice, decimals, draw, make, scaleOf } from "./elements.js";
import { TokenList } from "./tokens.js";
import { apart, locate, pieces, positionOfByte, strongest } from "./words.js";

const NONE = { text: "none", said: "none of these words", special: true, members: [] };
const HALF = 13; // pixels, of the bars of an iteration
const LOWEST = 1.5; // pixels, of a bar that is drawn
const FIELDS = 80; // of a strip: a bar is never narrower than its share of it

const best = (probabilities) => probabilities.indexOf(Math.max(...probabilities));

/** Shrinks values to a number of fields, keeping the largest of each. */
function fieldsOf(values) {
  const count = Math.min(values.length, FIELDS);
  const fields = Array(count).fill(0);
  values.forEach((value, position) => {
    const field = Math.floor((position * count) / values.length);
    fields[field] = Math.max(fields[field], value);
  });
  return fields;
}

/** Draws bars over the positions of the text: up for the start, down for the end. */
function strip(start, end) {
  const fields = { start: fieldsOf(start), end: fieldsOf(end) };
  const bar = (value, position, direction) => {
    const height = direction * Math.max(LOWEST, HALF * value);
    return value >= 0.01 ? `M${position} ${HALF}h1v${height.toFixed(1)}h-1z` : "";
  };
  const bars = (side, direction) =>
    fields[side].map((value, position) => bar(value, position, direction)).join("");
  return draw(
    "svg",
    {
      class: "strip",
      viewBox: `0 0 ${fields.start.length} ${2 * HALF}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    },
    draw("path", { class: "start", d: bars("start", -1) }),
    draw("path", { class: "end", d: bars("end", 1) }),
    draw("path", {
      class: "middle",
      d: `M0 ${HALF}h${fields.start.length}`,
      "vector-effect": "non-scaling-stroke",
    }),
  );
}

/** Lists the decoder's steps, one a line: the estimate and its distributions. */
function steps(answer, between, chosen, choose) {
  const options = answer.start.map((start, step) => {
    const [first, last] = [best(start), best(answer.end[step])];
    const text = last < first ? "(the end lies before the start)" : between(first, last);
    const chances = `start ${decimals(start[first])} · end ${decimals(answer.end[step][last])}`;
    const content = make(
      "span",
      { class: "step" },
      make("span", { class: "number", text: step + 1 }),
      make("span", { class: "estimate", dir: "auto", text }),
      make("span", { class: "chances", text: chances }),
      strip(start, answer.end[step]),
    );
    return {
      value: String(step + 1),
      content,
      title: `Iteration ${step + 1}: ${text}, ${chances}`,
    };
  });
  return choice({
    label: "Iteration of the decoder",
    options,
    chosen: String(chosen),
    choose,
    kind: "steps",
  });
}

function textBetween(text, places) {
  if (!places) return undefined;
  const ends = [0, ...places.map(({ end }) => end)];
  return [
    ...places.map(({ begin }, position) => text.slice(ends[position], begin)),
    text.slice(ends.at(-1)),
  ];
}

/** Finds the first and the last token of the answer; null if it is empty. */
function answerTokens(outputs, context, places) {
  if (!places || outputs.end <= outputs.start) return null;
  const [from, to] = [outputs.start, outputs.end].map((byte) => positionOfByte(context, byte));
  const inside = places.map(({ begin, end }) => begin >= from && end <= to);
  return inside.includes(true) ? [inside.indexOf(true), inside.lastIndexOf(true)] : null;
}

/**
 * Shows how an answer was found.
 *
 * @param outputs of a reading model, for one example.
 * @param inputs of the request.
 * @param state the user's choices: step, kept.
 * @param change called with the choices that change.
 */
export function readingView({ outputs, inputs, state, change }) {
  const asked = pieces(outputs.question_tokens.slice(0, outputs.question_length));
  const given = pieces(outputs.context_tokens.slice(0, outputs.context_length));
  const answer = { start: outputs.start_probabilities, end: outputs.end_probabilities };
  const count = answer.start.length;
  let step = Math.min(Math.max(Number(state.step) || count, 1), count);
  const places = locate(inputs.context, outputs.context_tokens.slice(0, given.length));
  const between = (first, last) =>
    places
      ? inputs.context.slice(places[first].begin, places[last].end)
      : given
          .slice(first, last + 1)
          .map(({ text }) => text)
          .join(" ");
  const found = answerTokens(outputs, inputs.context, places);
  const [toQuestion, toContext] = [
    outputs.attention_context_to_question,
    outputs.attention_question_to_context,
  ];
  const side = /^(question|context)\.(\d+)$/.exec(state.kept ?? "");
  let kept = side ? { [side[1]]: Number(side[2]) } : null;
  // The column after the question's last word is "none".
  if (kept && !((kept.question ?? 0) <= asked.length && (kept.context ?? 0) < given.length)) {
    kept = null;
  }

  const readout = make("p", { class: "readout" });
  const list = (name, label, words, gaps) =>
    new TokenList({
      label,
      words,
      gaps,
      kind: name === "context" ? "prose marked" : "prose",
      look: (position) => show(position === null ? kept : { [name]: position }),
      keep: (position) => {
        kept = position === null ? null : { [name]: position };
        change({ kept: position === null ? "" : `${name}.${position}` }, { redraw: false });
        show(kept);
      },
    });
  const questionGaps = textBetween(
    inputs.question,
    locate(inputs.question, outputs.question_tokens.slice(0, asked.length)),
  );
  const question = list(
    "question",
    "Question",
    [...asked, NONE],
    questionGaps && [...questionGaps.slice(0, asked.length), " "],
  );
  const context = list("context", "Text", given, textBetween(inputs.context, places));
  const stepper = make("div", { class: "stepper" });
  const legend = make("div", { class: "legends" });
  given.forEach((_, position) => {
    const weights = toQuestion[position];
    context.describe(
      position,
      `attends to ${strongest([...weights.slice(0, asked.length), weights.at(-1)], [...asked, NONE]) || "nothing"}`,
    );
  });
  asked.forEach((_, position) =>
    question.describe(position, `attends to ${strongest(toContext[position], given) || "nothing"}`),
  );

  function showStep() {
    const [start, end] = [answer.start[step - 1], answer.end[step - 1]];
    const [first, last] = [best(start), best(end)];
    context.items.forEach((item, position) => {
      item.style.setProperty("--s", start[position].toFixed(3));
      item.style.setProperty("--e", end[position].toFixed(3));
      item.classList.toggle("estimated", position >= first && position <= last);
      item.classList.toggle("answer", !!found && position >= found[0] && position <= found[1]);
    });
    stepper.replaceChildren(
      steps(answer, between, step, (value) => {
        step = Number(value);
        change({ step: value }, { redraw: false });
        showStep();
        stepper.querySelector('[aria-checked="true"]').focus();
      }),
    );
  }

  function show(at) {
    const word = at?.context ?? null;
    const asking = at?.question === asked.length ? null : (at?.question ?? null); // not "none"
    const none = at?.question === asked.length;
    let fromQuestion = null;
    let fromContext = null;
    if (word !== null)
      fromQuestion = [...toQuestion[word].slice(0, asked.length), toQuestion[word].at(-1)];
    if (asking !== null) fromContext = toContext[asking].slice(0, given.length);
    if (none) fromContext = toQuestion.slice(0, given.length).map((row) => row.at(-1));
    question.heat(fromQuestion, 1);
    context.heat(fromContext);
    context.element.classList.toggle("heated", !!fromContext);
    question.activate(at?.question ?? null);
    context.activate(word);
    question.pin(kept?.question ?? null);
    context.pin(kept?.context ?? null);
    legend.replaceChildren(...legends(fromContext));
    if (word !== null) {
      const chances = `start ${decimals(answer.start[step - 1][word])}, end ${decimals(answer.end[step - 1][word])}`;
      readout.textContent = `${apart(given[word].text)} → ${strongest(fromQuestion, [...asked, NONE]) || "–"} (${chances})`;
    } else if (fromContext) {
      readout.textContent = `${apart([...asked, NONE][at.question].text)} ${none ? "←" : "→"} ${strongest(fromContext, given) || "–"}`;
    } else readout.textContent = "Point at a word of either text to see what it attends to.";
  }
  showStep();
  show(kept);
  const figure = make("div", { class: "figure" }, question.element, context.element, legend);
  return { elements: [stepper, readout, figure], figure, follow: () => {} };
}

function legends(heated) {
  if (heated) return [scaleOf(Math.max(...heated), "attention")];
  return ["start", "end"].map((side) =>
    make(
      "p",
      { class: `scale ${side}` },
      make("span", { text: `${side} of the answer: 0` }),
      make("span", { class: "ramp", "aria-hidden": "true" }),
      make("span", { text: "1" }),
    ),
  );
}

// Builds the pane of an answer. Known tasks have views of their own; all other outputs are shown by
// the axes that the card declares.

import { clozeView } from "./cloze.js";
import { chosenView, declaredKinds, declaredView } from "./declared.js";
import { chanceBar, decimals, make } from "./elements.js";
import { fieldsOf } from "./fields.js";
import { isMachine, machineView } from "./machine.js";
import { readingView } from "./reading.js";
import { tapeView } from "./tape.js";
import { asText, pieces } from "./words.js";

const SHOWN = 8; // classes, or words that may come next

const tokensOf = (outputs, side) => outputs[`${side}_tokens`].slice(0, outputs[`${side}_length`]);

const has = (outputs, ...names) => names.every((name) => Object.hasOwn(outputs, name));

/** Lists the maps of a known task between two texts, the default one first. */
function pairsOf(outputs) {
  const kinds = [];
  const add = (id, title, rowTokens, columnTokens, rowTitle, columnTitle) => {
    const weights = outputs[`attention_${id}`];
    if (weights && rowTokens.length && columnTokens.length) {
      kinds.push({ id, title, weights, rowTokens, columnTokens, rowTitle, columnTitle });
    }
  };
  if (has(outputs, "source_tokens", "target_tokens")) {
    const [source, target] = [tokensOf(outputs, "source"), tokensOf(outputs, "target")];
    const before = ["<s>", ...target.slice(0, -1)];
    add("alignment", "alignment", target, source, "written", "read");
    add("cross", "cross-attention", target, source, "written", "read");
    add("encoder", "encoder self-attention", source, source, "read, attending", "read, attended to");
    add("decoder", "decoder self-attention", target, before, "written", "written before it");
  } else if (has(outputs, "premise_tokens", "hypothesis_tokens")) {
    const [premise, hypothesis] = [tokensOf(outputs, "premise"), tokensOf(outputs, "hypothesis")];
    add("inter", "between", hypothesis, premise, "hypothesis", "premise");
  }
  return kinds;
}

const READING = ["start_probabilities", "end_probabilities", "question_tokens", "context_tokens"];
const SIDES = ["attention_context_to_question", "attention_question_to_context"];
const CLOZE = ["attention_document", "document_tokens", "query_tokens", "candidates"];

function viewOf({ outputs, axes, texts, ...given }) {
  const pairs = pairsOf(outputs);
  if (pairs.length) {
    const ids = new Set(pairs.map(({ id }) => id));
    const between = declaredKinds(outputs, axes, texts);
    const others = between.filter(({ view }) => view === "pairs" || view === "arcs");
    const kinds = [...pairs, ...others.filter(({ id }) => !ids.has(id))];
    return chosenView({ kinds, ...given });
  }
  if (has(outputs, ...READING, ...SIDES) && outputs.context_length)
    return readingView({ outputs, ...given });
  if (has(outputs, ...CLOZE) && outputs.document_length) return clozeView({ outputs, ...given });
  if (has(outputs, "attention_intra", "text_tokens") && outputs.text_length) {
    const kinds = [{ id: "intra", title: "within the text", weights: outputs.attention_intra }];
    return tapeView({ kinds, tokens: tokensOf(outputs, "text"), ...given });
  }
  if (isMachine(outputs)) return machineView({ outputs, axes, ...given });
  return declaredView({ outputs, axes, texts, ...given });
}

/** Makes the headline: answer, probability and alternatives; `labels`: all classes in order. */
function answerOf(outputs, labels) {
  const chance = (value, more = "") => (value > 0 ? `probability ${decimals(value)}${more}` : "");
  if (outputs.translation !== undefined) return { text: asText(outputs.translation) };
  if (outputs.label !== undefined) {
    const { probabilities, label } = outputs;
    const more = `, the highest of ${probabilities.length} classes`;
    const classes = labels.map((text, number) => ({ text, chance: probabilities[number] }));
    classes.sort((one, other) => other.chance - one.chance);
    const likely = classes.slice(0, SHOWN);
    return { text: asText(label), chance: chance(Math.max(...probabilities), more), likely };
  }
  if (outputs.candidates)
    return { text: asText(outputs.answer), chance: chance(outputs.probabilities[0]) };
  if (outputs.answer !== undefined)
    return { text: asText(outputs.answer), chance: chance(outputs.score) };
  if (outputs.next_tokens) {
    const likely = pieces(outputs.next_tokens)
      .map(({ text, said, special }, rank) => ({
        text: special ? `${text} (${said})` : text,
        chance: Math.exp(outputs.next_log_probabilities[rank]),
      }))
      .slice(0, SHOWN);
    return { text: `… ${likely[0]?.text ?? ""}`, chance: chance(likely[0]?.chance), likely };
  }
  if (outputs.bits) return { text: outputs.bits.map(asText).join(" ") };
  const values = Object.entries(outputs).filter(([name]) => !name.endsWith("_length"));
  const text = values.find(([, value]) => typeof value === "string")?.[1];
  const numbers = values.filter(([, value]) => typeof value === "number");
  return { text: text ?? numbers.map(([name, value]) => `${name} ${value}`).join(", ") };
}

/** Says which part of the input exceeds the model's limits; "" if none does. */
function notRead(outputs, { axes, limits }) {
  const steps = Object.values(axes ?? {})
    .flat()
    .filter(({ kind }) => kind === "steps");
  const written = new Set(steps.map(({ of }) => of));
  const lengths = Object.keys(outputs).filter((name) => name.endsWith("_length"));
  const sides = lengths.map((name) => name.slice(0, -"_length".length));
  const read = sides.filter((side) => !written.has(side));
  const cut = read.filter((side) => {
    const limit = limits[`maximum_${side}_tokens`] ?? limits.maximum_tokens;
    return limit && outputs[`${side}_length`] >= limit;
  });
  return cut.length
    ? `The ${cut.join(" and the ")} may be longer than the model reads: what is shown is what it read.`
    : "";
}

function likelyBars(likely, kind) {
  const caption = make("span", { class: "caption", text: `${kind} and their probabilities` });
  const bars = likely.map(({ text, chance }) => chanceBar(text, chance));
  return make("span", { class: "likely", dir: "ltr" }, caption, ...bars);
}

/**
 * Fills a pane.
 *
 * @param pane the element.
 * @param model its description from the server.
 * @param outputs its answer.
 * @param given inputs, state, change, looked: as the views take them.
 * @param tools buttons of the pane.
 * @returns the view, with `figure` to save and `follow` to highlight a word chosen in another pane.
 */
export function fillPane({ pane, model, outputs, given, tools }) {
  const texts = fieldsOf(model).map(({ name }) => name);
  const view = viewOf({ outputs, axes: model.axes, texts, ...given });
  const { text, chance, likely = [] } = answerOf(outputs, model.labels);
  const kind = outputs.label === undefined ? "Next words" : "Classes";
  const warning = notRead(outputs, model);
  pane.replaceChildren(
    make(
      "header",
      { class: "named" },
      make("h2", { text: model.class, title: model.name }),
      make("span", { class: "model-name", text: model.name }),
      view ? make("span", { class: "tools" }, ...tools) : "",
    ),
    make(
      "p",
      { class: "said", dir: "auto" },
      make("span", { class: "result", text: text || "(nothing)" }),
      chance ? make("span", { class: "chance", text: chance }) : "",
      warning ? make("span", { class: "note", text: warning }) : "",
      likely.length ? likelyBars(likely, kind) : "",
    ),
    ...(view
      ? view.elements
      : [make("p", { class: "note", text: "There is no attention to be seen here." })]),
  );
  return view;
}

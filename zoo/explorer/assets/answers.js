// From what a model answered to the pane that shows it: the outputs tell the tasks apart.

import { clozeView } from "./cloze.js";
import { chanceBar, decimals, make } from "./elements.js";
import { pairsView } from "./pairs.js";
import { readingView } from "./reading.js";
import { tapeView } from "./tape.js";
import { asText, pieces } from "./words.js";

const SHOWN = 8; // words that may come next

/** The texts that a task takes: name, label, and whether it is long. */
export const FIELDS = new Map(
  Object.entries({
    translation: [{ name: "text", label: "Text to translate", lines: 2 }],
    reading: [
      { name: "question", label: "Question", lines: 1 },
      { name: "context", label: "Text that holds the answer", lines: 5 },
    ],
    cloze: [
      { name: "query", label: "Query, with XXXXX for the blank", lines: 1 },
      { name: "document", label: "Document", lines: 5 },
    ],
    language_model: [{ name: "text", label: "Text", lines: 2 }],
    classification: [{ name: "text", label: "Text", lines: 2 }],
    inference: [
      { name: "premise", label: "Premise", lines: 2 },
      { name: "hypothesis", label: "Hypothesis", lines: 2 },
    ],
  }),
);

const tokensOf = (outputs, side) => outputs[`${side}_tokens`].slice(0, outputs[`${side}_length`]);

/** The maps of an answer that lie between two texts, the one to begin with first. */
function pairsOf(outputs) {
  const kinds = [];
  const add = (id, title, rowTokens, columnTokens, rowTitle, columnTitle) => {
    const weights = outputs[`attention_${id}`];
    if (weights && rowTokens.length && columnTokens.length) {
      kinds.push({ id, title, weights, rowTokens, columnTokens, rowTitle, columnTitle });
    }
  };
  if (outputs.target_tokens) {
    const [source, target] = [tokensOf(outputs, "source"), tokensOf(outputs, "target")];
    const before = ["<s>", ...target.slice(0, -1)];
    add("alignment", "alignment", target, source, "written", "read");
    add("cross", "cross-attention", target, source, "written", "read");
    add("encoder", "encoder self-attention", source, source, "read, attending", "read, attended to");
    add("decoder", "decoder self-attention", target, before, "written", "written before it");
  } else if (outputs.premise_tokens) {
    const [premise, hypothesis] = [tokensOf(outputs, "premise"), tokensOf(outputs, "hypothesis")];
    add("inter", "between", hypothesis, premise, "hypothesis", "premise");
  }
  return kinds;
}

function viewOf({ outputs, ...given }) {
  const pairs = pairsOf(outputs);
  if (pairs.length) return pairsView({ kinds: pairs, ...given });
  if (outputs.start_probabilities && outputs.context_length)
    return readingView({ outputs, ...given });
  if (outputs.attention_document && outputs.document_length)
    return clozeView({ outputs, ...given });
  if (outputs.attention_intra && outputs.text_length) {
    const kinds = [{ id: "intra", title: "within the text", weights: outputs.attention_intra }];
    return tapeView({ kinds, tokens: tokensOf(outputs, "text"), ...given });
  }
  return null;
}

/** The answer in words, how sure the model is of it, and what else is probable. */
function answerOf(outputs) {
  const chance = (value, more = "") => (value > 0 ? `probability ${decimals(value)}${more}` : "");
  if (outputs.translation !== undefined) return { text: asText(outputs.translation) };
  if (outputs.label !== undefined) {
    const { probabilities, label } = outputs;
    const more = `, the highest of ${probabilities.length} classes`;
    return { text: asText(label), chance: chance(Math.max(...probabilities), more) };
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
  return {};
}

/** What a model did not read, because it is longer than it reads; "" if it read all. */
function notRead(outputs, limits) {
  const sides = ["source", "question", "context", "document", "query"];
  const cut = [...sides, "text", "premise", "hypothesis"].filter((side) => {
    const limit = limits[`maximum_${side}_tokens`] ?? limits.maximum_tokens;
    return limit && outputs[`${side}_length`] >= limit;
  });
  return cut.length
    ? `The ${cut.join(" and the ")} may be longer than the model reads: what is shown is what it read.`
    : "";
}

function likelyNext(likely) {
  const caption = make("span", { class: "caption", text: "Next words and their probabilities" });
  const bars = likely.map(({ text, chance }) => chanceBar(text, chance));
  return make("span", { class: "likely", dir: "ltr" }, caption, ...bars);
}

/**
 * Fills a pane.
 *
 * @param pane the element.
 * @param model what the server tells of it.
 * @param outputs what it answered.
 * @param given inputs, state, change, looked: as the views take them.
 * @param tools buttons of the pane.
 * @returns the view, with `figure` to be saved and `follow` for what is looked at in another pane.
 */
export function fillPane({ pane, model, outputs, given, tools }) {
  const view = viewOf({ outputs, ...given });
  const { text, chance, likely = [] } = answerOf(outputs);
  const warning = notRead(outputs, model.limits);
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
      likely.length ? likelyNext(likely) : "",
    ),
    ...(view
      ? view.elements
      : [make("p", { class: "note", text: "There is no attention to be seen here." })]),
  );
  return view;
}

// Writes the state of the page behind the "#" of its address: a link that can be kept and sent.

const CHOICES = ["model", "beside", "map", "step", "pieces", "kept"];

/** Reads an address. The model's inputs begin with "in.". */
export function read(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const state = { inputs: Object.create(null) }; // which inherits no names
  for (const name of CHOICES) state[name] = given.get(name) ?? "";
  for (const [name, value] of given) {
    if (name.startsWith("in.")) state.inputs[name.slice(3)] = value;
  }
  return state;
}

/** Writes an address for `read`; leaves out choices that were not made. */
export function write(state) {
  const given = new URLSearchParams();
  for (const name of CHOICES) if (state[name]) given.set(name, state[name]);
  for (const [name, value] of Object.entries(state.inputs)) given.set(`in.${name}`, value);
  return `#${given}`;
}

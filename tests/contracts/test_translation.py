"""Contracts of models that write, beyond those of every model: K4 causality, K13 steps.

A search takes the steps that training takes: fed with the same words they give the same logits,
with any number of hypotheses a source, in any order.
"""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from tests.contracts.subjects import build, flatten, put_garbage_into_padding, reference_of
from tests.contracts.tasks import FIRST_WORD, START, TASKS, Batch, Side
from tests.decoding.toy import assert_equals
from tests.references.recurrent import log_softmax
from tests.references.search import UNKNOWN, Rules, enumerate_all
from zoo.decoding.beam import beam_search
from zoo.decoding.greedy import greedy
from zoo.models.core.axes import Steps
from zoo.models.core.registry import ModelEntry, models
from zoo.models.core.sequence_to_sequence import SequenceToSequenceModel

WRITERS = [entry for entry in models().values() if issubclass(entry.cls, SequenceToSequenceModel)]
STATEFUL = ("readout", "mechanism", "input_feeding", "fusion")
"""Options that change what a state holds."""


def variants(entry: ModelEntry, *, every_option: bool):
    """All combinations of the stateful options; and each other option changed by itself.

    Those of the loss change no step.
    """
    reference = reference_of(entry)
    of_the_loss = getattr(reference, "OF_THE_LOSS", ())
    options = {name: o for name, o in reference.OPTIONS.items() if name not in of_the_loss}
    stateful = [name for name in options if name in STATEFUL]
    for values in itertools.product(*(options[name] for name in stateful)):
        yield dict(zip(stateful, values, strict=True))
    for name in (o for o in options if o not in STATEFUL) if every_option else ():
        yield from ({name: value} for value in options[name][1:])


def over_variants(*, every_option: bool):
    """Runs a test once for each model and variant."""
    cases = [
        pytest.param(
            entry,
            options,
            id="-".join([entry.name, *(f"{name}={value}" for name, value in options.items())]),
        )
        for entry in WRITERS
        for options in variants(entry, every_option=every_option)
    ]
    return pytest.mark.parametrize(("entry", "options"), cases)


def sources_and_targets(task, rows: int, seed: int = 0):
    """Padded sources, and `rows` random targets without padding for each of them.

    Sources are what is read beside the target, by name.
    """
    source = Batch(task.examples(4), extra=1).inputs
    written = source.pop("target")
    generator = np.random.default_rng(seed)
    shape, size = (len(written) * rows, task.sides["target"]), task.sizes[task.vocabulary]
    target = generator.integers(FIRST_WORD, size, shape).astype("int32")
    target[:, 0] = START
    return source, target


def make(entry: ModelEntry, **options):
    model = build(entry, **options)
    put_garbage_into_padding(model)
    return model


@over_variants(every_option=True)
def test_k4_k13_steps_equal_teacher_forcing_which_sees_no_later_words(entry, options):
    """One model for both: most of their time would go into building it."""
    task, model = TASKS[entry.task], make(entry, **options)
    for beam in (1, 3):
        source, target = sources_and_targets(task, beam)
        repeated = each(source, lambda value, times=beam: np.repeat(value, times, axis=0))
        taught = flatten(model(repeated | {"target": target}, training=False))
        assert_steps_equal_teacher_forcing(model, source, target, beam, taught)
        if beam == 1:
            assert_no_output_depends_on_later_words(task, model, source, target, taught)


def each(source, change):
    """The sources, each input of which is changed alike."""
    return {name: change(value) for name, value in source.items()}


def assert_no_output_depends_on_later_words(task, model, source, target, taught):
    axes = task.output_axes(model)
    length = target.shape[1]
    changed = np.repeat(target[None], length, axis=0)  # (T, B, T)
    for t in range(length):
        later = changed[t, :, t + 1 :]
        later[:] = np.where(later == FIRST_WORD, FIRST_WORD + 1, FIRST_WORD)
    tiled = each(source, lambda value: np.concatenate([value] * length))
    outputs = flatten(model(tiled | {"target": changed.reshape(-1, length)}))
    for name, value in taught.items():
        values = outputs[name].reshape(length, *value.shape)
        for t in range(length):
            earlier = (slice(None), *(until(axis, t + 1) for axis in axes[name]))
            np.testing.assert_allclose(
                values[t][earlier], value[earlier], rtol=1e-5, atol=1e-6, err_msg=name
            )
    logits = outputs["logits"].reshape(length, *target.shape, -1)
    for t in range(length - 1):  # or nothing would be shown
        assert np.abs(logits[t, :, t + 1] - logits[-1, :, t + 1]).max() > 1e-3


def until(axis: Side | int, length: int) -> slice:
    """The first positions of an axis of the target, all of any other."""
    return slice(length) if axis == Side("target") else slice(None)


def step_by_step(model, source, target, beam):
    """Logits and maps of `step`, whose rows change places within their sentence, as in a search."""
    memory = model.encode(source)
    batch = len(memory["mask"])
    assert memory["mask"].dtype == tf.bool
    shared, state = model.shared_state, model.initial_state(memory)
    assert shared <= state.keys()
    state = {name: x if name in shared else tf.repeat(x, beam, 0) for name, x in state.items()}
    generator = np.random.default_rng(1)
    place = np.arange(len(target))  # of the row that each target is in
    steps = []
    for t in range(target.shape[1]):
        order = generator.permuted(np.arange(len(target)).reshape(-1, beam), axis=1).ravel()
        state = {name: x if name in shared else tf.gather(x, order) for name, x in state.items()}
        place = np.argsort(order)[place]
        tokens = np.empty(len(target), "int32")
        tokens[place] = target[:, t]
        logits, state, attention = model.step(tf.constant(tokens), state, memory)
        maps = {name: x for name, x in model.ATTENTION.items() if not x.stacked}
        of_steps = {name for name, x in maps.items() if x.queries == Steps("target")}
        assert set(attention) == of_steps
        assert maps.keys() - of_steps <= memory.keys()  # those that no step changes
        assert {len(value) for value in memory.values()} == {batch}
        for name, value in state.items():
            assert len(value) == (batch if name in shared else len(target)), name
        steps.append({"logits": logits.numpy()[place]})
        steps[-1] |= {f"attention/{name}": x.numpy()[place] for name, x in attention.items()}
    return {name: np.stack([step[name] for step in steps], axis=1) for name in steps[0]}


def assert_steps_equal_teacher_forcing(model, source, target, beam, taught):
    for name, value in step_by_step(model, source, target, beam).items():
        message = f"{name}, beam {beam}"
        np.testing.assert_allclose(value, taught[name], rtol=1e-5, atol=1e-5, err_msg=message)


@over_variants(every_option=False)
def test_k13_a_beam_of_one_is_the_greedy_search(entry, options):
    source, _ = sources_and_targets(TASKS[entry.task], 1)
    limit = {"maximum_length": 6}
    for seed in range(5):  # the first weights that do not write the same for all sources
        model = make(entry, seed=seed, scale=1.0, **options)
        for weight in model.weights:  # constants, which the same word might follow for ever
            if weight.path.endswith(("bias", "beta")):
                weight.assign(np.zeros(weight.shape))
        memory = model.encode(source)
        expected = greedy(model, memory, **limit)
        differing = len({tuple(tokens) for tokens in expected.tokens.numpy()[:, 0]}) > 1
        if differing:
            break
    assert differing
    found = beam_search(model.for_beam(), memory, beam_width=1, **limit)
    for name, value in expected._asdict().items():
        np.testing.assert_allclose(getattr(found, name), value, rtol=1e-5, atol=1e-5, err_msg=name)


def twin_of(model, source, size: int, length: int):
    """The model as the searches in NumPy ask it: all prefixes of one source, taught at once."""
    words = [UNKNOWN, *range(FIRST_WORD, size)]
    prefixes = list(itertools.product(words, repeat=length - 1))
    target = np.array([(START, *prefix) for prefix in prefixes], "int32")
    tiled = each(source, lambda value: np.stack([value] * len(target)))
    outputs = flatten(model(tiled | {"target": target}))
    logits = outputs["logits"].astype("float64")
    weights = outputs.get("attention/alignment", np.zeros((*target.shape, 1)))
    weights = weights.reshape(*target.shape, -1)
    known = {}
    for row, prefix in enumerate(prefixes):
        for t in range(length):
            known[prefix[:t]] = log_softmax(logits[row, t]), weights[row, t]
    return known.__getitem__


@over_variants(every_option=False)
def test_k13_a_beam_as_wide_as_all_translations_enumerates_them(entry, options):
    size, length, task = FIRST_WORD + 2, 3, TASKS[entry.task]
    model = make(entry, **{task.vocabulary: size}, **options)
    source, _ = sources_and_targets(task, 1)
    memory = model.encode(source)
    alone = [{name: one.inputs[name] for name in source} for one in task.examples(4)]
    twins = [twin_of(model, one, size, length) for one in alone]
    for normalisation in ("none", "gnmt"):
        rules = Rules(length, normalisation=normalisation, length_penalty=0.7)
        found = beam_search(
            model.for_beam(),
            memory,
            beam_width=(size - 2) ** length,  # neither padding nor a start is ever written
            maximum_length=length,
            normalisation=normalisation,
            length_penalty=0.7,
            n_best=9,
        )
        for row, twin in enumerate(twins):
            assert_equals(found, row, enumerate_all(twin, rules)[:9], rules)


@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.name) for entry in WRITERS])
def test_a_search_without_sources_finds_nothing(entry):
    model = make(entry)
    source, _ = sources_and_targets(TASKS[entry.task], 1)
    memory = model.encode(each(source, lambda value: value[:0]))
    for found in (
        greedy(model, memory, maximum_length=3),
        beam_search(model.for_beam(), memory, beam_width=2, maximum_length=3),
    ):
        assert {len(value) for value in found} == {0}

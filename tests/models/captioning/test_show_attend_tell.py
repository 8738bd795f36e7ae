"""Show, attend and tell beyond the contracts: hard attention, enumerated on a tiny case."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from tests.contracts.subjects import build, values_of
from tests.contracts.tasks import TASKS, Batch
from tests.references import show_attend_tell as reference
from zoo.models.captioning import ShowAttendTell, show_attend_tell
from zoo.models.captioning.attention_losses import SOFT
from zoo.models.core.registry import find_model

LOCATIONS, WORDS = 3, 3
TINY = {"grid": (1, LOCATIONS), "dtype": "float64"}
PLAIN = {"doubly_stochastic": 0.0, "entropy_weight": 0.0, "soft_probability": 0.0}
"""Only the score function, as printed, with one weight for all of its parts."""
TARGET, NEXT = np.array([[2, 4, 9]], "int32"), np.array([[4, 9, 3]], "int32")
SEQUENCES = np.array(list(itertools.product(range(LOCATIONS), repeat=WORDS)), "int32")


def captioner(**options):
    return build(find_model("ShowAttendTell"), **TINY, **options)


def image(seed=0):
    return np.random.default_rng(seed).normal(size=(1, LOCATIONS, 4))


def repeated(count, target=TARGET):
    return {"annotations": np.repeat(image(), count, 0), "target": np.repeat(target, count, 0)}


def force(monkeypatch, locations):
    """Makes training look at these locations, (rows, T), and never at the soft context."""

    def draw(self, shape):
        numbers = locations if shape[1] > 1 else np.ones(shape)  # a coin has one column
        return tf.cast(numbers, self.compute_dtype)

    monkeypatch.setattr(ShowAttendTell, "draw", draw)
    picked = lambda alpha, uniforms: tf.cast(uniforms, tf.int32)  # noqa: E731
    monkeypatch.setattr(show_attend_tell, "pick_categorical", picked)


def flat(outputs):
    """Alpha (B, T, L)."""
    alpha = outputs["attention"]["alignment"]
    return tf.reshape(alpha, (*alpha.shape[:2], -1))


def likelihoods(outputs, targets):
    """Log p(y | s, a) of each row, (B,)."""
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(targets, outputs["logits"])
    return -tf.reduce_sum(losses, axis=1)


def priors(outputs):
    """p(s | a) of each row, (B,)."""
    chosen = tf.one_hot(outputs["sampled_locations"], LOCATIONS, dtype="float64")
    return tf.reduce_prod(tf.reduce_sum(flat(outputs) * chosen, axis=2), axis=1)


def gradients(tape, value, model):
    found = tape.gradient(value, [one.value for one in model.trainable_weights])
    return [np.zeros(1) if one is None else tf.convert_to_tensor(one).numpy() for one in found]


def test_the_sequences_of_locations_have_the_mass_one_and_bound_the_likelihood(monkeypatch):
    model = captioner(attention="hard", **PLAIN)
    force(monkeypatch, SEQUENCES)
    outputs = model(repeated(len(SEQUENCES)), training=True)
    np.testing.assert_array_equal(outputs["sampled_locations"], SEQUENCES)
    p, log_y = priors(outputs).numpy(), likelihoods(outputs, NEXT.repeat(27, 0)).numpy()
    weights = reference.named_weights(values_of(model))
    for row, locations in enumerate(SEQUENCES):
        found = reference.forward(
            weights, image()[0], TARGET[0], model.get_config(), list(locations)
        )
        np.testing.assert_allclose(np.log(p[row]), reference.log_prior(found["alpha"], locations))
        expected = reference.log_likelihood(found["logits"], NEXT[0])
        np.testing.assert_allclose(log_y[row], expected)
    np.testing.assert_allclose(p.sum(), 1.0)
    bound, marginal = p @ log_y, np.log(p @ np.exp(log_y))
    assert bound < marginal - 1e-3  # equal only if no location mattered
    assert np.ptp(p) > 1e-2


@pytest.mark.parametrize("baseline", [0.0, -4.0])
def test_the_expected_estimate_is_the_gradient_of_the_bound_for_any_baseline(baseline, monkeypatch):
    model = captioner(attention="hard", reward="sum", reward_scale=1.0, **PLAIN)
    model.baseline.assign(baseline)
    force(monkeypatch, SEQUENCES)
    inputs, targets = repeated(len(SEQUENCES)), NEXT.repeat(len(SEQUENCES), 0)
    with tf.GradientTape(persistent=True) as tape:
        outputs = model(inputs, training=True)
        p = priors(outputs)
        bound = tf.reduce_sum(p * likelihoods(outputs, targets))
        losses, _ = model.example_losses(targets, outputs)
        expected_loss = tf.reduce_sum(tf.stop_gradient(p) * losses)
    np.testing.assert_allclose(expected_loss, -bound)  # the score function has the value zero
    of_bound, of_estimate = (gradients(tape, one, model) for one in (bound, expected_loss))
    largest = max(np.abs(one).max() for one in of_bound)
    for found, expected in zip(of_estimate, of_bound, strict=True):
        np.testing.assert_allclose(-found, expected, atol=1e-10 * largest)
    through_likelihood = gradients(
        tape, tf.reduce_sum(tf.stop_gradient(p) * likelihoods(outputs, targets)), model
    )
    differences = zip(through_likelihood, of_bound, strict=True)
    assert max(np.abs(one - other).max() for one, other in differences) > 1e-2 * largest


def test_the_mean_of_hard_contexts_is_the_soft_context_and_a_certain_location_equals_soft(
    monkeypatch,
):
    hard, soft = captioner(attention="hard", gate=True, **PLAIN), captioner()
    soft.set_weights([one.value for one in hard.weights if one is not hard.baseline])
    force(monkeypatch, np.arange(LOCATIONS)[:, None].repeat(2, 1))
    inputs = repeated(LOCATIONS)

    def first_step(model):
        memory = model.encode(inputs)
        embedded = model.embed(inputs["target"][:, :2], training=True)
        step = {name: values[:, 0] for name, values in embedded.items()}
        features, _, attention = model.advance(step, model.initial_state(memory), memory)
        return features["context"].numpy(), attention["alignment"].numpy()

    (contexts, alpha), (expected, _) = first_step(hard), first_step(soft)
    np.testing.assert_allclose(alpha[0] @ contexts, expected[0])
    assert np.abs(contexts - expected).max() > 0.1

    for model in (hard, soft):
        model.f_att.scale.assign(1e4 * model.f_att.scale.value)
    inputs = repeated(1)
    np.testing.assert_allclose(flat(hard(inputs)), np.round(flat(hard(inputs))), atol=1e-12)
    np.testing.assert_allclose(hard(inputs)["logits"], soft(inputs)["logits"])


def test_an_image_whose_coin_is_soft_is_trained_as_with_soft_attention():
    always = {**PLAIN, "soft_probability": 1.0 - 1e-12}
    hard, soft = captioner(attention="hard", reward_scale=1.0, **always), captioner(**PLAIN)
    soft.set_weights([one.value for one in hard.weights if one is not hard.baseline])
    found = []
    for model in (hard, soft):
        with tf.GradientTape() as tape:
            outputs = model(repeated(2), training=True)
            losses, _ = model.example_losses(NEXT.repeat(2, 0), outputs)
            loss = tf.reduce_sum(losses)
        found.append((loss.numpy(), *gradients(tape, loss, model)))
        if model is hard:
            assert (outputs["sampled_locations"].numpy() == SOFT).all()
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    alpha = outputs["attention"]["alignment"].numpy()
    entropy = -(alpha * np.log(alpha)).sum(axis=(1, 2, 3))
    hard.entropy_weight = 0.25  # the term of it stays
    with_entropy, _ = hard.example_losses(NEXT.repeat(2, 0), hard(repeated(2), training=True))
    np.testing.assert_allclose(with_entropy, losses - 0.25 * entropy, rtol=1e-9)


@pytest.mark.parametrize("coin", ["image", "batch"])
def test_a_coin_is_thrown_for_each_image_or_for_all(coin):
    model = captioner(attention="hard", coin=coin)
    drawn = [model(repeated(40), training=True)["sampled_locations"].numpy() for _ in range(12)]
    soft = np.array(drawn) == SOFT  # (12, 40, T)
    assert (soft == soft[:, :, :1]).all()  # the same for all words of a caption
    shares = soft[:, :, 0].mean(axis=1)
    if coin == "batch":
        assert set(shares) == {0.0, 1.0}
    else:
        assert 0.0 < shares.min() < shares.max() < 1.0
        assert 0.4 < shares.mean() < 0.6
    assert set(np.unique(drawn)) == {SOFT, *range(LOCATIONS)}


def test_at_test_the_location_is_the_likeliest():
    model = captioner(attention="hard")
    outputs = model(repeated(1))
    assert outputs.keys() == {"logits", "gates", "attention"}
    chosen = flat(outputs).numpy()[0].argmax(axis=1)
    weights, config = reference.named_weights(values_of(model)), model.get_config()
    expected = reference.forward(weights, image()[0], TARGET[0], config, list(chosen))
    np.testing.assert_allclose(outputs["logits"][0], expected["logits"])


@pytest.mark.parametrize("option", [{}, {"reward": "sum"}, {"reward_scale": 0.7}])
def test_every_part_of_the_loss_of_hard_attention_has_the_gradient_of_the_reference(option):
    """By differences; the contracts do so for the options of all models."""
    model = captioner(attention="hard", entropy_weight=0.4, **option)
    model.baseline.assign(-1.5)
    batch = Batch(TASKS["captioning"].examples(3))
    inputs = {**batch.inputs, "annotations": batch.inputs["annotations"][:, :LOCATIONS]}
    with tf.GradientTape() as tape:
        outputs = model(inputs, training=True)
        loss = model.compute_loss(inputs, batch.targets, outputs)
    found = gradients(tape, loss, model)
    paths = [one.path.removeprefix(f"{model.name}/") for one in model.trainable_weights]
    named = reference.named_weights(dict(zip(paths, found, strict=True)))
    weights, config = reference.named_weights(values_of(model)), model.get_config()
    drawn = {name: outputs[name].numpy() for name in ("sampled_locations", "baselines")}
    np.testing.assert_array_equal(drawn["baselines"], [-1.5] * 3)

    def loss_of(changed):
        losses = []
        for row, one in enumerate(batch.examples):
            constants = {name: value[row] for name, value in drawn.items()} | {"weights": weights}
            alone = {"annotations": inputs["annotations"][row], "target": one.inputs["target"]}
            predicted = constants | reference.predict(changed, alone, config, constants)
            losses.append(reference.example_loss(changed, predicted, one.targets, config))
        return np.mean(losses)

    np.testing.assert_allclose(loss, loss_of(weights), rtol=1e-9)
    generator, step = np.random.default_rng(1), 1e-6
    direction = {name: generator.normal(size=value.shape) for name, value in weights.items()}
    ahead, behind = (
        loss_of({name: value + h * direction[name] for name, value in weights.items()})
        for h in (step, -step)
    )
    total = sum(np.sum(named[name] * direction[name]) for name in weights)
    np.testing.assert_allclose(total, (ahead - behind) / (2 * step), rtol=1e-6)


def test_the_doubly_stochastic_term_counts_real_words_alone():
    model = captioner()
    padded = np.pad(TARGET, [(0, 0), (0, 4)])
    alone, longer = model(repeated(1)), model(repeated(1, padded))
    np.testing.assert_allclose(flat(longer)[:, :3], flat(alone))
    assert not flat(longer).numpy()[:, 3:].any()
    losses = [model.example_losses(NEXT, alone)[0]]
    losses.append(model.example_losses(np.pad(NEXT, [(0, 0), (0, 4)]), longer)[0])
    np.testing.assert_allclose(losses[1], losses[0])
    term = reference.unevenness(flat(alone).numpy()[0])
    np.testing.assert_allclose(losses[0], term - likelihoods(alone, NEXT))

"""The compiled epoch takes the steps that ``fit`` takes, and runs depend on their seeds alone."""

import logging

import keras
import numpy as np
import pytest

from tests.contracts.subjects import draw_weights
from zoo.data.story_sample import story_sample
from zoo.models.structured import MemoryNetwork, SupportingFactsReader
from zoo.tasks.stories.data import StoryData
from zoo.tasks.stories.examples import NOWHERE, StoryEvaluator, encode_examples
from zoo.tasks.stories.runs import Row, Runs, means
from zoo.tasks.stories.training import CompiledTraining, Plan, Trained
from zoo.text.vocabulary import write_vocabulary
from zoo.text.words import WordCodec

LOGGER = logging.getLogger("tests.stories")
PLAN = Plan(4, 0.05, 2, 0.5, 1, 0.0)


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """A codec, and two small parts of the sample."""
    frame = story_sample("dev").head(30)
    data = StoryData("sample", ("attic", "cellar", "garden", "library"), frame, frame, frame, None)
    path = tmp_path_factory.mktemp("words") / "vocabulary.txt"
    write_vocabulary(path, data.words())
    codec = WordCodec(path, case_fold=True)
    encoded = [encode_examples(one, codec, data.answers, 2, 6) for one in (frame[:20], frame[20:])]
    return codec, encoded


def network(codec, **options):
    sizes = {"vocabulary_size": codec.vocabulary_size, "classes": 4, "memory": 6}
    model = MemoryNetwork(embedding_dim=5, **sizes, **options)
    model.build()
    return model


@pytest.fixture(scope="module")
def training(parts):
    codec, (train, dev) = parts
    return CompiledTraining(network(codec), train, dev, PLAN, LOGGER, {"linear": True})


@pytest.mark.parametrize("case", ["chain", "network", "network, starting"])
def test_an_epoch_takes_the_steps_that_fit_takes(parts, training, case):
    codec, (train, dev) = parts
    starting = case.endswith("starting")
    if case == "chain":
        sizes = {"vocabulary_size": codec.vocabulary_size, "classes": 4, "memory": 6}
        pair = [SupportingFactsReader(embedding_dim=5, shared_keys=True, **sizes) for _ in range(2)]
        for model in pair:
            model.build()
        compiled, other = CompiledTraining(pair[0], train, dev, PLAN, LOGGER), pair[1]
    else:
        compiled, other = training, network(codec, linear=starting)
    for model in (compiled.model, other):
        draw_weights(model, 5, 1.0)
    order = np.array([3, 0, 7, 7, 12])
    loss = compiled.epoch(order, 0.1, starting=starting)
    other.compile(keras.optimizers.SGD(0.1, global_clipnorm=PLAN.clip_norm), run_eagerly=True)
    inputs = {name: ids[order] for name, ids in train.inputs.items()}
    history = other.fit(inputs, train.answer[order], batch_size=1, shuffle=False, verbose=0).history
    np.testing.assert_allclose(loss, history["loss"][0], rtol=1e-4)
    for one, same in zip(compiled.model.weights, other.weights, strict=True):
        np.testing.assert_allclose(one, same, rtol=1e-3, atol=1e-5, err_msg=one.path)
    assert compiled.model.linear is False


def test_a_run_depends_on_its_seed_alone(training):
    first, other, again = (training.run(seed) for seed in (1, 2, 1))
    assert first.metrics == again.metrics
    for one, same, different in zip(first.weights, again.weights, other.weights, strict=True):
        np.testing.assert_array_equal(one, same)
        assert np.abs(one - different).max() > 0.01
    assert first.epoch > PLAN.start_epochs
    assert first.epochs == PLAN.epochs


def test_a_run_that_diverges_says_so(parts, caplog):
    codec, (train, dev) = parts
    plan = Plan(3, 1e30, 25, 1e30, 0, 0.0)
    training = CompiledTraining(network(codec), train, dev, plan, LOGGER)
    with pytest.raises(FloatingPointError, match="not finite with seed 4: lower learning_rate"):
        training.run(4)
    assert "seed 4: the loss is" in caplog.text


def test_stories_are_cut_to_their_last_sentences_and_facts_move_along(parts):
    codec, _ = parts
    frame = story_sample("dev").head(20)
    whole, cut = (encode_examples(frame, codec, ("attic",), 2, memory) for memory in (8, 3))
    assert (whole.cut, cut.cut) == (0, 20)
    np.testing.assert_array_equal(whole.story[:, -3:], cut.story)
    moved = whole.facts - 5
    np.testing.assert_array_equal(cut.facts, np.where(moved < 0, NOWHERE, moved))
    known = (frame["answer"] == "attic").to_numpy()
    np.testing.assert_array_equal(cut.answer, np.where(known, 0, NOWHERE))
    assert not encode_examples(frame, codec, ("attic",), 3, 8).comparable.any()


def test_accuracy_counts_answers_and_facts_only_in_the_order_of_the_file(parts):
    codec, (train, _) = parts
    model = network(codec)
    places, answers = train.facts.copy(), train.answer.copy()
    places[0] = places[0, ::-1]
    answers[1] = (answers[1] + 1) % 4

    def oracle(inputs, training):
        weights = np.eye(train.story.shape[1], dtype="float32")[places]
        logits = 9.0 * np.eye(4, dtype="float32")[answers]
        return {"logits": logits, "attention": {"facts": weights}}

    evaluate = StoryEvaluator(model, train)
    evaluate._model = type("Oracle", (), {"__call__": lambda _, *a, **k: oracle(*a, **k)})()
    evaluate._model.example_losses = model.example_losses
    metrics = evaluate()
    assert metrics["accuracy"] == pytest.approx(95.0)
    seen = (train.facts != NOWHERE).all(axis=1)
    seen[0] = False
    assert metrics["facts"] == pytest.approx(100 * seen.mean())


def test_runs_are_kept_with_their_weights(tmp_path):
    runs = Runs(tmp_path / "runs")
    for seed in range(12):
        trained = Trained(
            [np.full(3, seed), np.ones((2, 2))], {"accuracy": 10.0 * seed, "loss": 1.0}, 3, 5
        )
        runs.add(seed, trained, {"accuracy": float(seed), "facts": 1.0}, 2.0)
    again = Runs(tmp_path / "runs")
    assert again.rows == runs.rows
    best = again.best(range(12))
    assert best == Row(11, 3, 5, 2.0, {"accuracy": 110.0, "loss": 1.0}, again.rows[11].test)
    assert best.told() == (
        "seed 11: epoch 3 of 5, validation accuracy 110.0, test accuracy 11.0, test facts 1.0"
    )
    np.testing.assert_array_equal(again.weights(11)[0], np.full(3, 11))
    found = means([*again.rows.values()])
    assert found["mean of 12"]["accuracy"] == pytest.approx(5.5)
    assert found["mean of the 10 best by validation"]["accuracy"] == pytest.approx(6.5)


def test_a_loss_that_is_not_finite_comes_back_as_nan(tmp_path):
    runs, nan = Runs(tmp_path / "runs"), float("nan")
    for seed, loss in ((0, nan), (1, 2.0)):
        trained = Trained([np.ones(2)], {"accuracy": 50.0, "loss": loss}, 3, 5)
        runs.add(seed, trained, {"accuracy": 50.0, "loss": nan}, 2.0)
    assert "NaN" not in (tmp_path / "runs" / "run_0.json").read_text()
    again = Runs(tmp_path / "runs")
    assert repr(again.rows) == repr(runs.rows)
    assert again.best([0, 1]) == again.rows[runs.best([0, 1]).seed]
    assert np.isnan(means([*again.rows.values()])["mean of 2"]["loss"])

"""Settings shared by the recipes of all tasks, and their consequences."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from zoo.training.bounds import Count, Positive, Rate, Seed, Whole, check_numbers
from zoo.training.unused import refuse_given

if TYPE_CHECKING:
    import keras
    import tensorflow as tf
    from matplotlib.figure import Figure

    from zoo.training.cluster import Workers
    from zoo.training.loop import Batches
    from zoo.training.runs import RunFolder

_OF_THE_LOOP = (
    "epochs",
    "checkpoint_every",
    "average_last",
    "maximum_minutes",
)
_OF_THE_LOOP_OR_NONE = ("patience", "evaluate_every", "ema_decay")
"""Settings that are 0, and arguments that are None, for none."""
_REPORTED = ("precision", "accumulate", "deterministic")
_OF_ADAM = ("warmup_steps", "schedule", "beta_2", "epsilon")
_UNUSED = {"sgd": _OF_ADAM, "adagrad": _OF_ADAM, "rmsprop": (*_OF_ADAM, "clip_norm")}
"""Optimizer -> settings that it has no use for."""


@dataclass(frozen=True)
class TrainingSettings:
    """Training settings of a recipe. Settings that are None depend on the data."""

    data_dir: Path | None = None
    """Folder of the data sets; by default $ZOO_DATA, then the Keras cache, which alone takes
    downloads."""
    run_dir: Path | None = None
    """Folder of the run; by default one below runs/, named after recipe, task or model, and
    data."""
    epochs: Count | None = None
    """Passes over the training part."""
    batch_size: Count | None = None
    """Examples per step, over all devices."""
    learning_rate: Positive | None = None
    """The optimizer's learning rate, at its highest."""
    warmup_steps: Whole | None = None
    """Steps over which the learning rate rises from zero; 0: none."""
    schedule: Literal["cosine", "inverse_square_root"] = "cosine"
    """Decay of the learning rate after the warm-up: along a cosine to a twentieth at the last step,
    or with the inverse square root of the step (Vaswani et al. 2017)."""
    beta_2: Rate = 0.999
    """Decay of Adam's mean of squared gradients."""
    epsilon: Positive = 1e-7
    """Adam's epsilon, added to the root of that mean."""
    clip_norm: Positive | None = 5.0
    """Maximum norm of the whole gradient; None: no clipping."""
    ema_decay: Rate | None = None
    """Decay of the moving average of the weights that is evaluated and shipped; 0: none."""
    average_last: Whole | None = None
    """Alternatively, average the weights at this many last evaluations; 0: do not."""
    patience: Whole | None = None
    """Evaluations without improvement before the training stops; 0: train all epochs."""
    evaluate_every: Whole | None = None
    """Steps between evaluations; 0: each epoch."""
    checkpoint_every: Count = 500
    """Steps between checkpoints."""
    maximum_minutes: Positive | None = None
    """Training time after which the run stops cleanly, evaluates and exports."""
    strategy: Literal["auto", "none", "mirrored", "multiworker"] = "auto"
    """auto: MultiWorkerMirroredStrategy when TF_CONFIG is set, MirroredStrategy when there are two
    GPUs or more, or --devices names two, else none."""
    devices: str | None = None
    """Numbers of the GPUs to use, such as gpu:0,1, or number of logical CPU devices, such as cpu:2;
    None: all GPUs, or the CPU."""
    precision: Literal["float32", "mixed_bfloat16", "mixed_float16"] = "float32"
    """Precision of computation in training; weights and exported models are float32."""
    accumulate: Count = 1
    """Parts into which a device splits its share of a batch, to need less memory; the step is the
    same."""
    deterministic: bool = False
    """Whether TensorFlow's operations are deterministic on a GPU too, which is slower."""
    seed: Seed = 0
    """Seed of weights, dropout and the order of the data."""
    fresh: bool = False
    """Start afresh, whatever the run folder holds."""


Settings = TypeVar("Settings", bound=TrainingSettings)


def resolve(
    settings: Settings, recipe: str, data: str, *defaults: Mapping[str, Mapping[str, Any]]
) -> Settings:
    """Fills in the settings that depend on the data.

    Args:
        settings: a dataclass that also has a field ``data``.
        recipe: the recipe's name, for the run folder.
        data: name of the data set chosen by ``settings.data``.
        *defaults: values for settings that are None, by data set; later ones win. Weights are
            averaged in one way: if one is given, the other gets no default.
    """
    chosen: dict[str, Any] = {"run_dir": Path("runs") / f"{recipe}_{data}"}
    for one in defaults:
        chosen |= one.get(data, {})
    for given, other in (("average_last", "ema_decay"), ("ema_decay", "average_last")):
        if getattr(settings, given):
            chosen.pop(other, None)
    missing = {name: value for name, value in chosen.items() if getattr(settings, name) is None}
    changed: dict[str, Any] = {"data": data} | missing
    return replace(settings, **changed)


def refuse_unused(given: Any, optimizer: str) -> None:
    """Refuses settings that the optimizer has no use for.

    Args:
        given: settings, before `resolve`: defaults of the data may be there for another optimizer.
        optimizer: its name.

    Raises:
        ValueError: if one of them is not what it is by default.
    """
    refuse_given(given, _UNUSED.get(optimizer, ()), f"with the optimizer {optimizer}")


def open_run(settings: Any) -> "tuple[RunFolder, Workers]":
    """Chooses the devices, opens the run folder of resolved settings and seeds everything.

    It must come before any computation: see `zoo.training.devices`.

    Args:
        settings: resolved.

    Returns:
        The run folder, and the processes that train together with their strategy.

    Raises:
        ValueError: if a number is out of its bounds, devices or strategy are unavailable, the
            folder holds another run, or processes that train together have different settings.
    """
    import keras
    import tensorflow as tf

    from zoo.serving.remarks import spend_remarks
    from zoo.training.cluster import Workers, own_folder
    from zoo.training.devices import choose_devices
    from zoo.training.distribution import make_strategy
    from zoo.training.others import check_exports
    from zoo.training.runs import WITHOUT_EFFECT, RunFolder

    check_numbers(settings)
    devices = choose_devices(settings.devices)
    workers = Workers(make_strategy(settings.strategy, devices))
    spend_remarks()
    if settings.deterministic:
        tf.config.experimental.enable_op_determinism()
    values = asdict(settings)
    if workers.is_chief:
        check_exports(Path(settings.run_dir))  # before --fresh sets them aside
        run = RunFolder(settings.run_dir, values, fresh=settings.fresh, lock_untrained=False)
    same = {name: values[name] for name in values.keys() - WITHOUT_EFFECT - {"devices"}}
    workers.check_same("settings", repr(sorted(same.items())).encode())  # and the chief is ready
    if not workers.is_chief:
        run = RunFolder(own_folder(), values)
        run.shared_checkpoints = Path(settings.run_dir) / run.checkpoints.name
    keras.utils.set_random_seed(settings.seed)
    return run, workers


def fit_warmup(settings: Any, given: int | None, steps: int, run: "RunFolder") -> Any:
    """Shortens a default warm-up that is longer than the training to a tenth of it, with a line.

    Args:
        settings: resolved.
        given: the warm-up that the user asked for, which is never changed; None: none.
        steps: of the whole training.
        run: the folder: see `zoo.training.shortened`.
    """
    from zoo.training.shortened import fit_length

    warmup = settings.warmup_steps
    if given is not None or not warmup or settings.schedule != "cosine":
        return settings
    fitting = warmup if warmup < steps else steps // 10
    length = fit_length(run, "warmup_steps", warmup, fitting, f"{steps} steps")
    return settings if length == warmup else replace(settings, warmup_steps=length)


def build_and_compile(
    settings: Any,
    workers: "Workers",
    make_model: Callable[[], "keras.Model"],
    steps_per_epoch: int,
    make_optimizer: Callable[[], "keras.optimizers.Optimizer"] | None = None,
) -> "keras.Model":
    """Makes a model under the strategy, builds it, and compiles it.

    Args:
        settings: resolved, those that `open_run` was given.
        workers: that `open_run` gave.
        make_model: makes it; it may be built, with the weights to begin with.
        steps_per_epoch: for the learning rates.
        make_optimizer: None: the one of `adam`.

    Raises:
        ValueError: if the settings define no learning rate schedule.
        ConnectionError: if another of the processes that train together is gone.
    """
    from zoo.training.precision import computing_in

    if make_optimizer is None:
        steps = settings.epochs * steps_per_epoch
        make_optimizer = partial(adam, settings, steps)
    # Of models that take a batch as a whole nothing is asked that they do not know.
    parts = {} if settings.accumulate == 1 else {"accumulate": settings.accumulate}
    scope = workers.strategy.scope()
    with workers.noticed(), scope, computing_in(settings.precision):
        model = make_model()
        if not model.built:  # a model that begins with trained weights is
            model.build()
        model.compile(make_optimizer(), **parts)
    return model


def adam(settings: Any, steps: int) -> "keras.optimizers.Optimizer":
    """Returns Adam with the settings' schedule over this many steps."""
    from zoo.training.optimizers import OnePassAdam

    return OnePassAdam(
        learning_rate(settings, steps),
        beta_2=settings.beta_2,
        epsilon=settings.epsilon,
        global_clipnorm=settings.clip_norm,
    )


def learning_rate(settings: Any, steps: int) -> "keras.optimizers.schedules.LearningRateSchedule":
    """Returns the settings' learning rate schedule over this many steps.

    Raises:
        ValueError: if the warm-up does not fit the schedule, or the rate is not positive.
    """
    from keras.optimizers.schedules import CosineDecay

    from zoo.training.schedules import InverseSquareRootDecay

    peak, warmup = settings.learning_rate, settings.warmup_steps
    if settings.schedule == "inverse_square_root":
        if warmup is None:
            raise ValueError("warmup_steps must be a number with inverse_square_root, got None")
        return InverseSquareRootDecay(peak, warmup)
    if not warmup:
        return CosineDecay(peak, steps, alpha=0.05)
    if not 0 < warmup < steps:
        raise ValueError(
            f"warmup_steps must be less than the {steps} of the training, got {warmup}"
        )
    return CosineDecay(0.0, steps - warmup, alpha=0.05, warmup_target=peak, warmup_steps=warmup)


def train(
    settings: Any,
    model: "keras.Model",
    batches: "Batches",
    run: "RunFolder",
    workers: "Workers",
    evaluate: Callable[[], Mapping[str, float]],
    monitor: str,
    mode: str = "max",
    ties: str | None = None,
    carried: Sequence["tf.Variable"] = (),
    ask: Callable[[], Mapping[str, Any]] | None = None,
    draw: "Callable[[Mapping[str, Any]], Figure] | None" = None,
) -> dict[str, Any]:
    """Trains as the settings say: see ``zoo.training.loop.train``.

    ``draw`` draws the outputs of ``ask`` after each epoch: see ``zoo.training.pictures``. The
    trained model computes in float32, whatever it was trained in. Of several processes only the
    chief returns; the others end.

    Returns:
        The loop's report, with ``precision``, ``accumulate`` and ``deterministic``.

    Raises:
        SystemExit: if another process is the chief.
        ValueError: if processes that train together have different vocabularies.
    """
    from zoo.training import loop
    from zoo.training.pictures import AttentionPictures
    from zoo.training.precision import to_float32

    workers.check_same("vocabulary", _vocabulary_of(run))
    options: dict[str, Any] = {"logger": run.logger} | ({"draw": draw} if draw else {})
    chosen: dict[str, Any] = {name: getattr(settings, name) for name in _OF_THE_LOOP}
    chosen |= {name: getattr(settings, name) or None for name in _OF_THE_LOOP_OR_NONE}
    report = loop.train(
        model,
        batches,
        run=run,
        evaluate=evaluate,
        monitor=monitor,
        mode=mode,
        ties=ties,
        carried=carried,
        strategy=workers.strategy,
        **chosen,
        callbacks=[AttentionPictures(run.tensorboard, ask, **options)] if ask else (),
    )
    workers.end_unless_chief(run.logger)
    to_float32(model)
    return report | {name: getattr(settings, name) for name in _REPORTED}


def _vocabulary_of(run: "RunFolder") -> bytes:
    """Returns the content of all files that map words to ids."""
    files = sorted(path for path in run.vocabulary.rglob("*") if path.is_file())
    return b"".join(path.read_bytes() for path in files)

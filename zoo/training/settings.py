"""Settings that the recipes of all tasks share, and what follows from them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    import keras
    import tensorflow as tf

    from zoo.training.loop import Batches
    from zoo.training.runs import RunFolder

ADDED: dict[str, Any] = {
    "schedule": "cosine",
    "warmup_steps": None,
    "beta_2": 0.999,
    "epsilon": 1e-7,
    "average_last": None,
}
"""Settings that folders of the first recipes lack, and what those were trained with."""


@dataclass(frozen=True)
class TrainingSettings:
    """How a recipe trains. Settings given as None depend on the data."""

    data_dir: Path | None = None
    """Folder of the data sets; by default $ZOO_DATA, then the Keras cache."""
    run_dir: Path | None = None
    """Folder of the run; by default runs/<recipe>_<data>."""
    epochs: int | None = None
    """Passes over the training part."""
    batch_size: int | None = None
    """Examples of a step, over all devices."""
    learning_rate: float | None = None
    """Adam's, the highest of the training."""
    warmup_steps: int | None = None
    """Steps in which the learning rate rises from zero; None: none."""
    schedule: Literal["cosine", "inverse_square_root"] = "cosine"
    """How the learning rate falls after that: along a cosine to a twentieth in the last step, or
    with the inverse square root of the step (Vaswani et al. 2017)."""
    beta_2: float = 0.999
    """Decay of Adam's mean of squared gradients."""
    epsilon: float = 1e-7
    """What Adam adds to their root."""
    clip_norm: float | None = 5.0
    """Largest norm of the whole gradient; None: any."""
    ema_decay: float | None = None
    """Decay of the moving average of the weights that is evaluated and shipped."""
    average_last: int | None = None
    """Instead of it, average the weights at the last so many evaluations; 0: do not."""
    patience: int | None = None
    """Evaluations without gain before the training stops; None: all epochs are trained."""
    evaluate_every: int | None = None
    """Steps between evaluations; None: each epoch."""
    checkpoint_every: int = 500
    """Steps between checkpoints."""
    maximum_minutes: float | None = None
    """Training time after which the run stops, cleanly, with what it has."""
    strategy: Literal["auto", "none", "mirrored"] = "auto"
    """auto: MirroredStrategy when there are several GPUs."""
    seed: int = 0
    """Seed of weights, dropout and the order of the data."""
    fresh: bool = False
    """Start again, whatever the run folder holds."""


Settings = TypeVar("Settings", bound=TrainingSettings)


def resolve(
    settings: Settings, recipe: str, data: str, *defaults: Mapping[str, Mapping[str, Any]]
) -> Settings:
    """Replaces what depends on the data.

    Args:
        settings: a dataclass that has a field ``data`` too.
        recipe: its name, for the run folder.
        data: the name of the data set that ``settings.data`` stands for.
        *defaults: data set -> what settings given as None become; later ones win.
    """
    chosen: dict[str, Any] = {"run_dir": Path("runs") / f"{recipe}_{data}"}
    for one in defaults:
        chosen |= one.get(data, {})
    missing = {name: value for name, value in chosen.items() if getattr(settings, name) is None}
    changed: dict[str, Any] = {"data": data} | missing
    return replace(settings, **changed)


def open_run(settings: Any) -> "RunFolder":
    """Opens the run folder of resolved settings and seeds everything."""
    import keras

    from zoo.training.runs import RunFolder

    run = RunFolder(
        settings.run_dir,
        asdict(settings),
        added=ADDED,
        fresh=settings.fresh,
    )
    keras.utils.set_random_seed(settings.seed)
    return run


def build_and_compile(
    settings: Any, make_model: Callable[[], "keras.Model"], steps_per_epoch: int
) -> "keras.Model":
    """Makes a model under the strategy, builds it, and compiles it with Adam.

    Raises:
        ValueError: if there is no epoch to train, or the learning rate is no curve.
    """
    from zoo.training.distribution import make_strategy
    from zoo.training.optimizers import OnePassAdam

    if settings.epochs < 1:
        raise ValueError(f"epochs must be at least 1, got {settings.epochs}")
    rate = learning_rate(settings, settings.epochs * steps_per_epoch)
    with make_strategy(settings.strategy).scope():
        model = make_model()
        model.build()
        optimizer = OnePassAdam(
            rate,
            beta_2=settings.beta_2,
            epsilon=settings.epsilon,
            global_clipnorm=settings.clip_norm,
        )
        model.compile(optimizer)
    return model


def learning_rate(settings: Any, steps: int) -> "keras.optimizers.schedules.LearningRateSchedule":
    """Returns the rates of so many steps, as the settings say.

    Raises:
        ValueError: if the warm-up does not fit the schedule, or the rate is not positive.
    """
    from keras.optimizers.schedules import CosineDecay

    from zoo.training.schedules import InverseSquareRootDecay

    peak, warmup = settings.learning_rate, settings.warmup_steps
    if settings.schedule == "inverse_square_root":
        if warmup is None:
            raise ValueError("warmup_steps is None, expected a number with inverse_square_root")
        return InverseSquareRootDecay(peak, warmup)
    if not warmup:
        return CosineDecay(peak, steps, alpha=0.05)
    if not 0 < warmup < steps:
        raise ValueError(
            f"warmup_steps is {warmup}, expected less than the {steps} of the training"
        )
    return CosineDecay(0.0, steps - warmup, alpha=0.05, warmup_target=peak, warmup_steps=warmup)


def train(
    settings: Any,
    model: "keras.Model",
    batches: "Batches",
    run: "RunFolder",
    evaluate: Callable[[], Mapping[str, float]],
    monitor: str,
    mode: str = "max",
    carried: Sequence["tf.Variable"] = (),
) -> dict[str, Any]:
    """Trains as the settings say: see ``zoo.training.loop.train``."""
    from zoo.training import loop

    return loop.train(
        model,
        batches,
        epochs=settings.epochs,
        run=run,
        evaluate=evaluate,
        monitor=monitor,
        mode=mode,
        carried=carried,
        patience=settings.patience,
        checkpoint_every=settings.checkpoint_every,
        evaluate_every=settings.evaluate_every,
        ema_decay=settings.ema_decay,
        average_last=settings.average_last,
        strategy=model.distribute_strategy,
        maximum_minutes=settings.maximum_minutes,
    )

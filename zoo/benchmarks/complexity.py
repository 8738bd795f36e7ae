"""Cost of layers by input length n: table 1 of Vaswani et al. 2017, measured.

Self-attention, self-attention restricted to a window, a recurrent layer (long short-term memory)
and a convolution, each of width d from (batch, n, d) to (batch, n, d), on the CPU. Attention
includes its projections, whose O(n d^2) the table leaves out. Forward returns only the outputs;
forward and backward computes the gradients of the inputs and of all weights.

Each figure comes from a separate process. Memory is the rise of its peak resident set over the peak
with TensorFlow loaded, the weights made and the same function already run on a few positions. It
covers inputs, results and intermediate values for this length.
"""

import math
import multiprocessing
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from zoo.benchmarks.timing import Timed, limit_threads, now
from zoo.training.bounds import Count, Positive
from zoo.training.memory import peak_megabytes

if TYPE_CHECKING:
    import tensorflow as tf
    from matplotlib.figure import Figure

LayerName = Literal["self-attention", "restricted", "recurrent", "convolutional"]
LAYERS: tuple[LayerName, ...] = get_args(LayerName)
USES = ("forward", "forward and backward")
QUANTITIES = ("ms", "MB")
WARM_UP_LENGTH = 8
LEAST_SECONDS = 0.3
"""Minimum total time of repeated calls, because a few short calls are inaccurate."""
LEAST_MEGABYTES = 1.0
"""Smaller figures cannot be distinguished from other allocations."""

Figures = dict[str, dict[str, dict[int, float]]]
"""Figures by table, such as "forward, ms", layer and n; lengths beyond the limit are missing."""


@dataclass(frozen=True)
class LayerComplexity(Timed):
    """Table and picture of time and memory of four kinds of layers by input length."""

    lengths: tuple[Count, ...] = (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
    """Positions n, ascending."""
    layers: tuple[LayerName, ...] = LAYERS
    """Settings of the measurement."""
    width: Count = 512
    """Size d of inputs, outputs and hidden states."""
    num_heads: Count = 8
    """Heads of both kinds of attention."""
    window: Count = 31
    """Positions r that restricted self-attention sees, odd."""
    kernel_size: Count = 3
    """Positions that the convolution sees."""
    batch_size: Count = 1
    """Sequences."""
    calls: Count = 5
    """Minimum number of calls measured after one to warm up; the fastest counts."""
    memory_limit: Positive = 8.0
    """GB. A layer is not measured at lengths that are predicted to take more."""
    run_dir: Path = Path("runs/complexity")
    """Folder for the picture and the figures, complexity.png and result.json."""

    def measure(self, progress: Callable[[str], Any] = lambda text: None) -> Figures:
        """Measures every layer at every length, with one process per figure.

        Args:
            progress: called with a line of text for every point measured.

        Returns:
            See ``Figures``.

        Raises:
            ValueError: if lengths are not ascending and positive, or a size does not fit.
            ChildProcessError: if a measuring process is killed.
        """
        check(self)
        figures: Figures = {f"{use}, {quantity}": {} for use in USES for quantity in QUANTITIES}
        for use in USES:
            for layer in self.layers:
                points = measure_line(self, layer, use, progress)
                for index, quantity in enumerate(QUANTITIES):
                    line = {length: point[index] for length, point in points.items()}
                    figures[f"{use}, {quantity}"][layer] = line
        return figures


def check(settings: LayerComplexity) -> None:
    """Refuses settings that cannot be measured.

    Raises:
        ValueError: names the setting.
    """
    lengths = settings.lengths
    if not lengths or sorted(set(lengths)) != list(lengths) or lengths[0] < 1:
        raise ValueError(f"lengths must be one or more, positive and ascending, got {lengths}")
    for name in ("width", "num_heads", "window", "kernel_size", "batch_size", "calls"):
        if getattr(settings, name) < 1:
            raise ValueError(f"{name} must be at least 1, got {getattr(settings, name)}")
    if settings.width % settings.num_heads:
        raise ValueError(
            f"num_heads must be a divisor of width, {settings.width}, got {settings.num_heads}"
        )
    if settings.window % 2 == 0:
        raise ValueError(f"window must be an odd number, got {settings.window}")


def measure_line(
    settings: LayerComplexity, layer: LayerName, use: str, progress: Callable[[str], Any]
) -> dict[int, tuple[float, float]]:
    """Measures milliseconds and megabytes of a layer by length, up to the memory limit."""
    points: dict[int, tuple[float, float]] = {}
    for length in settings.lengths:
        expected = foretold(points, length, 2 if layer == "self-attention" else 1)
        if expected > 1000 * settings.memory_limit:
            progress(f"{layer}, {use}, n = {length}: not measured, about {expected:,.0f} MB")
            break
        points[length] = measure_in_child(settings, layer, use, length)
        seconds, megabytes = points[length]
        progress(f"{layer}, {use}, n = {length}: {seconds:.4g} ms, {megabytes:,.1f} MB")
    return points


def foretold(points: Mapping[int, tuple[float, float]], length: int, power: int) -> float:
    """Predicts megabytes at a length from their growth with a power of it; 0 without figures."""
    if not points:
        return 0.0
    last = max(points)
    return points[last][1] * (length / last) ** power


def measure_in_child(
    settings: LayerComplexity, layer: LayerName, use: str, length: int
) -> tuple[float, float]:
    """Runs ``measure_point`` in a separate process.

    Raises:
        ChildProcessError: if it is killed.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, initializer=prepare_child) as pool:
        try:
            return pool.submit(measure_point, settings, layer, use, length).result()
        except BrokenProcessPool as error:
            raise ChildProcessError(
                f"the process that measured {layer}, {use}, n = {length}, was killed, maybe for"
                f" want of memory: memory_limit is {settings.memory_limit:g} GB"
            ) from error


def prepare_child() -> None:
    """Restricts a process, before it loads TensorFlow, to the CPU, whose memory is measured."""
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"


def measure_point(
    settings: LayerComplexity, layer: LayerName, use: str, length: int
) -> tuple[float, float]:
    """Measures milliseconds of the fastest call, and megabytes, in this process."""
    import tensorflow as tf

    limit_threads(settings.threads)
    call = make_call(settings, layer, use)
    shape = (settings.batch_size, WARM_UP_LENGTH, settings.width)
    call(tf.random.stateless_normal(shape, (0, 1)))
    before = peak_megabytes()
    shape = (settings.batch_size, length, settings.width)
    inputs = tf.random.stateless_normal(shape, (0, 2))
    call(inputs)
    seconds: list[float] = []
    while len(seconds) < settings.calls or sum(seconds) < LEAST_SECONDS:
        began = now(settings.clock)
        call(inputs)
        seconds.append(now(settings.clock) - began)
    return 1000 * min(seconds), max(peak_megabytes() - before, 0.0)


def make_call(
    settings: LayerComplexity, name: LayerName, use: str
) -> Callable[["tf.Tensor"], None]:
    """Makes the function to time: it takes inputs (batch, n, d) and returns when done."""
    import tensorflow as tf

    apply, weights = make_layer(settings, name)
    signature = [tf.TensorSpec((settings.batch_size, None, settings.width), tf.float32)]

    @tf.function(input_signature=signature, autograph=False)
    def forward(inputs: tf.Tensor) -> Any:
        return [apply(inputs)]

    @tf.function(input_signature=signature, autograph=False)
    def both(inputs: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            outputs = apply(inputs)
        # Any upstream gradient will do; the inputs have the right shape.
        return tape.gradient(outputs, [inputs, *weights], output_gradients=inputs)

    function = forward if use == USES[0] else both

    def call(inputs: tf.Tensor) -> None:
        function(inputs)[0][0, 0, 0].numpy()  # waits for the result

    return call


def make_layer(
    settings: LayerComplexity, name: LayerName
) -> tuple[Callable[["tf.Tensor"], "tf.Tensor"], list[Any]]:
    """Makes a layer from (batch, n, d) to (batch, n, d) as a function, and its weights."""
    import keras
    import tensorflow as tf

    from zoo.attention.multi_head import SelfAttention
    from zoo.attention.restricted import RestrictedSelfAttention
    from zoo.layers.lstm import LSTM

    width, heads = settings.width, settings.num_heads
    layer: Any
    if name == "self-attention":
        layer = SelfAttention(width, heads)
    elif name == "restricted":
        layer = RestrictedSelfAttention(width, heads, window=settings.window)
    elif name == "recurrent":
        layer = LSTM(width)
    else:
        layer = keras.layers.Conv1D(width, settings.kernel_size, padding="same")
    layer.build((settings.batch_size, None, width))

    def apply(inputs: tf.Tensor) -> tf.Tensor:
        if name == "convolutional":
            return layer(inputs)
        return layer(inputs, tf.ones(tf.shape(inputs)[:2], tf.bool))[0]

    return apply, [weight.value for weight in layer.trainable_weights]


def growth_exponent(line: Mapping[int, float]) -> float | None:
    """Computes p of n^p between the two largest lengths measured; None if there are too few."""
    if len(line) < 2:
        return None
    (n, first), (m, last) = sorted(line.items())[-2:]
    return math.log(last / first) / math.log(m / n) if min(first, last) > 0 else None


def markdown(settings: LayerComplexity, name: str, lines: Mapping[str, Mapping[int, float]]) -> str:
    """Formats one of the tables of ``Figures`` in Markdown."""
    rows = [[name, *(f"{length:,}" for length in settings.lengths), "grows as"]]
    rows.append(["---"] * len(rows[0]))
    for layer, line in lines.items():
        cells = [cell(settings, name, line.get(length)) for length in settings.lengths]
        power = growth_exponent(line)
        rows.append([layer, *cells, "" if power is None else f"n^{power:.2f}"])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def cell(settings: LayerComplexity, name: str, figure: float | None) -> str:
    """Formats a figure with three digits, or the reason why it is missing."""
    if figure is None:
        return f"over {settings.memory_limit:g} GB"
    if name.endswith("MB") and figure < LEAST_MEGABYTES:
        return f"under {LEAST_MEGABYTES:g}"
    return f"{figure:,.0f}" if figure >= 99.95 else f"{figure:#.3g}"


def draw(settings: LayerComplexity, figures: Figures) -> "Figure":
    """Draws one panel per table, with one line per layer."""
    from zoo.plots import growth_by_size

    panels = {
        name: {
            layer: {n: x for n, x in line.items() if x >= LEAST_MEGABYTES or name.endswith("ms")}
            for layer, line in lines.items()
        }
        for name, lines in figures.items()
    }
    note = (
        f"Layers of width {settings.width}, batches of {settings.batch_size}, on the CPU; attention"
        f" with {settings.num_heads} heads, restricted to {settings.window} positions; convolution"
        f" of {settings.kernel_size}. Lines end before {settings.memory_limit:g} GB; memory under"
        f" {LEAST_MEGABYTES:g} MB is not drawn."
    )
    drawn = {name: lines for name, lines in panels.items() if any(lines.values())}
    return growth_by_size(drawn, size_name="n", note=note)

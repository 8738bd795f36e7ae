"""End of a training: its last evaluation, its last checkpoint, and the weights that it leaves."""

from typing import Any

from zoo.training.averaging import WeightAverage
from zoo.training.callbacks import EvaluateAndKeepBest, SaveCheckpoints, TensorBoardScalars
from zoo.training.progress import Progress


def finish(
    evaluator: EvaluateAndKeepBest | None,
    scalars: TensorBoardScalars,
    saving: SaveCheckpoints,
    average: WeightAverage | None,
) -> None:
    """Evaluate and save the end; then load the best weights, or the averages, into the model.

    Args:
        evaluator: None: nothing is evaluated, because a signal stopped the training or it has none.
        scalars: gets the last evaluations.
        saving: writes the last checkpoint.
        average: of the weights, if any.
    """
    takes_last = False
    if evaluator is not None and not evaluator.progress.evaluated:
        takes_last = _evaluate_stop(evaluator, saving)
    else:
        saving.save()
    if evaluator is not None:
        evaluator.warn_if_constant()
    scalars.write_evaluations()
    takes_last = takes_last or not saving.checkpointer.restore_best()
    if takes_last and average is not None:
        average.assign()


def _evaluate_stop(evaluator: EvaluateAndKeepBest, saving: SaveCheckpoints) -> bool:
    """Evaluate a last step that is not one of those that are evaluated regularly.

    The report has the result, but the checkpoint has not: with more time or epochs the training
    goes on as if it had never stopped.

    Returns:
        Whether its weights, which the model has, are the best.
    """
    saving.save()  # the evaluation may take long, and be killed
    progress, before = evaluator.progress, _evaluations(evaluator.progress)
    evaluator.checkpointer = None  # a file of these weights would be referred to by no checkpoint
    evaluator.run(evaluator.model.get_metrics_result())
    after = _evaluations(progress)
    vars(progress).update(before)
    saving.save()  # with the time that it took
    vars(progress).update(after)
    return progress.best_step == progress.step


def _evaluations(progress: Progress) -> dict[str, Any]:
    """Return copies of what an evaluation changes, its time aside."""
    names = ("best_score", "best_step", "evaluations_without_gain")
    return {name: getattr(progress, name) for name in names} | {"history": [*progress.history]}

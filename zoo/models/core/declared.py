"""Constructor arguments and inputs that a model declares, and calls that are checked by them."""

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar

import keras

from zoo.models.core.arguments import without_numpy
from zoo.models.core.input_checks import assert_values, check_arrays, standard_inputs
from zoo.models.core.inputs import InputKind, resolve
from zoo.ops.numbers import check_flag


class DeclaredModel(keras.Model):
    """A keras.Model over a dict of inputs that refuses others than it declares.

    Without any in ``INPUTS``, it takes inputs as they come.
    """

    INPUTS: ClassVar[Mapping[str, InputKind]] = {}
    """The kind of each input without which ``call`` cannot do."""
    OPTIONAL_INPUTS: ClassVar[Mapping[str, InputKind]] = {}
    """The kind of each input that ``call`` also takes; it takes no others."""

    def input_kinds(self, *, optional: bool = False) -> dict[str, InputKind]:
        """Returns ``INPUTS``, names of constructor arguments in them replaced by their values.

        Args:
            optional: whether ``OPTIONAL_INPUTS`` follow.
        """
        return self._resolved({**self.INPUTS, **(self.OPTIONAL_INPUTS if optional else {})})

    def keep_arguments(self, arguments: Mapping[str, Any]) -> None:
        """Keeps the constructor's arguments (its ``locals()``) as attributes of their names.

        Numbers of NumPy, such as ``ids.max() + 1``, become Python's, as configurations hold them.

        Raises:
            ValueError: if an argument whose default is a flag is not one.
        """
        for name, parameter in self._arguments().items():
            if isinstance(parameter.default, bool):
                check_flag(name, arguments[name])
            setattr(self, name, without_numpy(arguments[name]))

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments, each kept as an attribute of the same name."""
        return super().get_config() | {name: getattr(self, name) for name in self._arguments()}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """As in Keras.

        Raises:
            ValueError: if inputs are not those that the model declares, or an array of ids has
                padding before other ids, or ids that are not in the vocabulary.
        """
        if args:
            args = (self.standard_inputs(args[0]), *args[1:])
        elif "inputs" in kwargs:
            kwargs["inputs"] = self.standard_inputs(kwargs["inputs"])
        return super().__call__(*args, **kwargs)

    def predict(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """As in Keras.

        Raises:
            ValueError: if inputs are not those that the model declares.
        """
        self.check_arrays(x)
        return super().predict(x, *args, **kwargs)

    def predict_on_batch(self, x: Any) -> Any:
        """As in Keras.

        Raises:
            ValueError: if inputs are not those that the model declares.
        """
        self.check_arrays(x)
        return super().predict_on_batch(x)

    def predict_step(self, data: Any) -> Any:
        """Outputs of one batch."""
        x, _, _ = keras.utils.unpack_x_y_sample_weight(data)
        return super().predict_step((self.checked_batch(x),))

    def standard_inputs(self, inputs: Any) -> Any:
        """Inputs of the declared types: see ``zoo.models.core.input_checks``."""
        return standard_inputs(*self._kinds(), inputs) if self.INPUTS else inputs

    def checked_batch(self, inputs: Any) -> Any:
        """As ``standard_inputs``, in a step, which checks ids of data sets when it runs."""
        inputs = self.standard_inputs(inputs)
        if not self.INPUTS:
            return inputs
        required, optional = self._kinds()
        return assert_values({**required, **optional}, inputs)

    def check_arrays(self, inputs: Any) -> None:
        """Raises a ValueError for arrays of inputs that ``standard_inputs`` would refuse."""
        if self.INPUTS:
            check_arrays(*self._kinds(), inputs)

    def _kinds(self) -> tuple[dict[str, InputKind], dict[str, InputKind]]:
        """The kinds of required and of optional inputs, found once."""
        if "declared_kinds" not in self.__dict__:
            # Around the tracker of Keras, which would replace the mappings.
            kinds = self._resolved(self.INPUTS), self._resolved(self.OPTIONAL_INPUTS)
            self.__dict__["declared_kinds"] = kinds
        found: tuple[dict[str, InputKind], dict[str, InputKind]] = self.__dict__["declared_kinds"]
        return found

    def _resolved(self, kinds: Mapping[str, InputKind]) -> dict[str, InputKind]:
        arguments = {name: getattr(self, name) for name in self._arguments()} if kinds else {}
        return {name: resolve(kind, arguments) for name, kind in kinds.items()}

    def _arguments(self) -> dict[str, inspect.Parameter]:
        parameters = inspect.signature(type(self).__init__).parameters
        return {name: parameters[name] for name in sorted(parameters.keys() - {"self", "kwargs"})}

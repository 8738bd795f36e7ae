"""Families that read no text: registered here and nowhere else, and under contract like all others.

They are no papers' models. They hold the package to what it says of inputs and axes.
"""

from tests.toys.glimpses import Glimpses
from tests.toys.rows import Rows

__all__ = ["Glimpses", "Rows"]

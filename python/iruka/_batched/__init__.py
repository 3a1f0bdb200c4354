"""Python functions of one slice, carried out on many slices at once: what apply_along_axis runs on.

The function is called on a `Batched` array (values.py), which behaves as one slice and holds all of them. table.py says
how each array function works on it, rebound.py makes the copy of the function that is called, and checks that it has no
side effects. Functions of numbers become kernels with one thread for each slice (kernels.py). runner.py chooses, and
compares the first and the last slice with the function's own results.
"""

from .runner import along_axis

__all__ = ["along_axis"]

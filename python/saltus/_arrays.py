# SPDX-License-Identifier: MIT
"""Arrays as users give them, and arrays that are copies of what the library holds."""

from __future__ import annotations

import numbers as _numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._library import ArgumentError


def plain(given: Any, what: str) -> NDArray[Any]:
    """An array of NumPy of what a user gave, with the same numbers.

    Sparse matrices of SciPy are filled with their zeros, and tensors of PyTorch leave their graph. An array with
    masked entries has no numbers there: ArgumentError.
    """
    if isinstance(given, np.ma.MaskedArray):
        masked = int(np.ma.count_masked(given))
        if masked:
            raise ArgumentError(f"{what}: {masked} of {given.size} entries are masked; fill them, by .filled(value)")
        return np.asarray(given.data)
    if isinstance(given, (list, tuple)) and any(isinstance(part, np.ma.MaskedArray) or hasattr(part, "requires_grad")
                                                for part in given):
        given = [plain(part, what) for part in given]
    if hasattr(given, "toarray") and hasattr(given, "nnz"):
        return np.asarray(given.toarray())
    try:
        if hasattr(given, "requires_grad") and hasattr(given, "detach"):
            given = given.detach().cpu()
        return np.asarray(given)
    except (RuntimeError, TypeError, ValueError) as failure:  # such as rows of several lengths
        raise ArgumentError(f"{what}: expected an array of numbers; found {type(given).__name__}: {failure}") from None


def reals(given: Any, what: str) -> NDArray[np.float64]:
    """The same as doubles, in C order. ArgumentError for what are no real numbers, such as texts and None."""
    array = plain(given, what)
    if array.dtype.kind == "O" and all(isinstance(number, _numbers.Real) for number in array.flat):
        array = array.astype(np.float64)  # such as integers beyond 64 bits
    if array.dtype.kind not in "biuf":
        raise ArgumentError(f"{what}: expected real numbers; found {array.dtype}")
    return np.asarray(array, dtype=np.float64, order="C")


class Copy(NDArray[Any]):
    """A copy of numbers that the library holds. It cannot be written, since that would change nothing but the copy.

    Results of operations are ordinary arrays, and ``.copy()`` gives an array that can be written.
    """

    _hint = "the numbers are a copy"

    @classmethod
    def of(cls, array: NDArray[Any], hint: str) -> "Copy":
        """The same memory, which nobody can write any more. `hint` says how the original is changed."""
        array.flags.writeable = False
        copy = array.view(cls)
        copy._hint = hint
        return copy

    def __array_finalize__(self, parent: Any) -> None:
        self._hint = getattr(parent, "_hint", Copy._hint)

    def _refuse(self) -> None:
        if not self.flags.writeable:
            raise ArgumentError(f"this array is a copy that cannot be written: {self._hint}; .copy() gives an array "
                                "of your own")

    def __setitem__(self, index: Any, value: Any) -> None:
        self._refuse()
        super().__setitem__(index, value)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **options: Any) -> Any:
        for array in out or inputs[:1] if method == "at" else out:
            if isinstance(array, Copy):
                array._refuse()
        if out:
            options["out"] = tuple(_base(array) for array in out)
        if "where" in options:
            options["where"] = _base(options["where"])
        return getattr(ufunc, method)(*(_base(array) for array in inputs), **options)

    def copy(self, order: Any = "C") -> NDArray[Any]:  # type: ignore[override]
        """An ordinary array, which can be written."""
        return np.array(self, order=order)

    def __copy__(self) -> NDArray[Any]:  # type: ignore[override]
        return np.array(self)

    def __deepcopy__(self, memory: Any) -> NDArray[Any]:  # type: ignore[override]
        return np.array(self)

    def __reduce__(self) -> Any:
        return np.array(self).__reduce__()

    def __repr__(self) -> str:
        return repr(_base(self))


def _base(array: Any) -> Any:
    """An ordinary array of the same memory; anything else as it is."""
    return array.view(np.ndarray) if isinstance(array, Copy) else array

# SPDX-License-Identifier: MIT
"""Formulas for f(s), the unnormalised log-probability of one state, written with NumPy's operators.

Expressions are immutable and know their shape. The library's own rules give it, at once: a mistake
raises an exception at the line that makes it. `Model` turns a scalar expression into a program.
"""

from __future__ import annotations

import builtins
import functools
import itertools
import operator
import os
import sys
import threading
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Sequence, SupportsIndex, Union

import numpy as np
from numpy.typing import NDArray

from . import _library
from ._arrays import plain, reals
from ._library import ArgumentError, OutOfRangeError, ShapeError, address, call, lib, make

_KINDS = {"binary": 1, "spin": 2, "ordinal": 3, "categorical": 4, "count": 5}
_HERE = os.path.dirname(os.path.abspath(__file__))
_INNER = (_HERE, os.path.dirname(os.path.abspath(np.__file__)), "<__array_function__")
_order = itertools.count()
MOST_ELEMENTS = 1 << 28  # of a sparse matrix, which is stored with its zeros

Axis = Union[None, int, "np.integer[Any]", Sequence[int]]
ArrayLike = Any  # also expressions, lists of expressions, and sparse matrices
Shape = Union[int, "np.integer[Any]", Sequence[SupportsIndex]]
GivenShape = tuple[tuple[int, ...], Any, Any]  # of a block: shape, dims and coords
Numbers = Union[Sequence[float], NDArray[Any]]


def _caller() -> tuple[str, int]:
    """File and line of the user's code that called the package."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename.startswith(_INNER):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


class Expr:
    """An expression of a formula.

    Do not create it yourself: it comes from blocks of variables (:func:`spins` and so on), from
    parameters (:func:`param`), and from operators and functions of other expressions. NumPy's own
    functions work too: ``np.exp(s)``, ``np.sum(s)``, ``A @ s``.

    Attributes
    ----------
    shape : tuple of int
        Rank 0 (a number) to 4.

    Raises
    ------
    ShapeError
        Shapes do not fit. It is raised at the line of the operation, as are the others.
    ArgumentError
        Something is not a number, or not acceptable to the operation.
    OutOfRangeError
        An index is beyond the end of its axis.
    TypeError
        A use that needs numbers: as a condition of ``if``, ``len`` of a number, conversion to an array; and functions
        of NumPy that no expression can have.

    Examples
    --------
    >>> import saltus as sal
    >>> s = sal.spins((2, 3), name="s")
    >>> (s[:, :-1] * s[:, 1:]).shape
    (2, 2)
    """

    __slots__ = ("op", "inputs", "ints", "reals", "shape", "place", "extra", "order")
    __array_priority__ = 1000

    def __init__(self, op: str, inputs: tuple["Expr", ...] = (), ints: Numbers = (), reals: Numbers = (),
                 shape: Optional[tuple[int, ...]] = None, extra: Any = None):
        self.op, self.inputs, self.extra = op, inputs, extra
        self.ints = np.asarray(ints, dtype=np.int64)
        self.reals = np.asarray(reals, dtype=np.float64)
        self.place = _caller()
        self.order = next(_order)
        self.shape = _shape(self) if shape is None else shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def T(self) -> "Expr":
        """The transpose: all axes in reverse."""
        return self.transpose()

    def __repr__(self) -> str:
        name = f" {self.extra['name']!r}" if self.op in ("block", "param") and self.extra["name"] else ""
        return f"<saltus {self.op}{name}, shape {self.shape}>"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an expression without axes has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator["Expr"]:
        return (self[k] for k in range(len(self)))

    def __bool__(self) -> bool:
        raise TypeError("an expression is neither true nor false: its value depends on the state; see saltus.where")

    # ---- comparisons: 1 where they hold, else 0

    def __eq__(self, other: ArrayLike) -> "Expr":  # type: ignore[override]
        return _UFUNCS["equal"](self, other)

    def __ne__(self, other: ArrayLike) -> "Expr":  # type: ignore[override]
        return _UFUNCS["not_equal"](self, other)

    def __lt__(self, other: ArrayLike) -> "Expr":
        return _UFUNCS["less"](self, other)

    def __le__(self, other: ArrayLike) -> "Expr":
        return _UFUNCS["less_equal"](self, other)

    def __gt__(self, other: ArrayLike) -> "Expr":
        return _UFUNCS["greater"](self, other)

    def __ge__(self, other: ArrayLike) -> "Expr":
        return _UFUNCS["greater_equal"](self, other)

    __hash__ = object.__hash__

    def __and__(self, other: ArrayLike) -> "Expr":
        return _UFUNCS["logical_and"](self, other)

    def __or__(self, other: ArrayLike) -> "Expr":
        return _UFUNCS["logical_or"](self, other)

    def __xor__(self, other: ArrayLike) -> "Expr":
        return _UFUNCS["logical_xor"](self, other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> "Expr":
        return _UFUNCS["logical_not"](self)

    # ---- operators

    def __add__(self, other: ArrayLike) -> "Expr":
        return _binary("add", self, other)

    def __radd__(self, other: ArrayLike) -> "Expr":
        return _binary("add", other, self)

    def __sub__(self, other: ArrayLike) -> "Expr":
        return _binary("sub", self, other)

    def __rsub__(self, other: ArrayLike) -> "Expr":
        return _binary("sub", other, self)

    def __mul__(self, other: ArrayLike) -> "Expr":
        return _binary("mul", self, other)

    def __rmul__(self, other: ArrayLike) -> "Expr":
        return _binary("mul", other, self)

    def __truediv__(self, other: ArrayLike) -> "Expr":
        return _binary("div", self, other)

    def __rtruediv__(self, other: ArrayLike) -> "Expr":
        return _binary("div", other, self)

    def __neg__(self) -> "Expr":
        return Expr("scale", (self,), reals=[-1.0])

    def __pos__(self) -> "Expr":
        return self

    def __abs__(self) -> "Expr":
        return Expr("abs", (self,))

    def __pow__(self, power: float) -> "Expr":
        if not isinstance(power, (int, float, np.integer, np.floating)):
            return _powers(self, power)
        return Expr("square", (self,)) if power == 2 else Expr("pow", (self,), reals=[float(power)])

    def __rpow__(self, base: ArrayLike) -> "Expr":
        bases = reals(base, "**")
        if not (bases > 0).all():
            raise ArgumentError("**: expected bases above 0 of an expression as the power; for others use where on its values")
        return exp(_binary("mul", self, np.log(bases)))

    def __matmul__(self, other: ArrayLike) -> "Expr":
        return matmul(self, other)

    def __rmatmul__(self, other: ArrayLike) -> "Expr":
        return matmul(other, self)

    def __getitem__(self, key: Any) -> "Expr":
        return _index(self, key)

    # ---- methods with NumPy's names

    def sum(self, axis: Axis = None, keepdims: bool = False) -> "Expr":
        """The sum over all elements, or over one or more axes."""
        return _reduce("sum", self, axis, keepdims)

    def mean(self, axis: Axis = None, keepdims: bool = False) -> "Expr":
        """The mean over all elements, or over one or more axes."""
        return _reduce("mean", self, axis, keepdims)

    def max(self, axis: Axis = None, keepdims: bool = False) -> "Expr":
        """The largest element, over all axes or some."""
        return _reduce("max", self, axis, keepdims)

    def min(self, axis: Axis = None, keepdims: bool = False) -> "Expr":
        """The smallest element, over all axes or some."""
        return min(self, axis, keepdims)

    def squeeze(self, axis: Axis = None) -> "Expr":
        """The same elements without axes of one element, all or some."""
        return squeeze(self, axis)

    def cumsum(self, axis: Optional[int] = None) -> "Expr":
        """Cumulative sums, over all elements (flat) or along an axis."""
        return cumsum(self, axis)

    def dot(self, other: ArrayLike) -> "Expr":
        """The matrix product, as ``@``."""
        return matmul(self, other)

    def reshape(self, *shape: Any) -> "Expr":
        """The same elements in row-major order under another shape; one size may be -1."""
        return reshape(self, shape[0] if len(shape) == 1 else shape)

    def ravel(self) -> "Expr":
        """All elements as a vector."""
        return reshape(self, (self.size,))

    flatten = ravel

    def transpose(self, *axes: Any) -> "Expr":
        """The axes in another order; without `axes` in reverse."""
        return transpose(self, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None)

    def clip(self, low: Optional[ArrayLike] = None, high: Optional[ArrayLike] = None, **limits: Any) -> "Expr":
        """min(max(a, low), high); None: no limit. `min` and `max` are other names of the limits."""
        return clip(self, low, high, **limits)

    def prod(self, axis: Axis = None, keepdims: bool = False) -> "Expr":
        """The product over all elements, or over one or more axes."""
        return _FUNCTIONS["prod"](self, axis, keepdims)

    def var(self, axis: Axis = None, ddof: float = 0, keepdims: bool = False) -> "Expr":
        """The variance over all elements, or over one or more axes, with divisor n - ddof."""
        return _FUNCTIONS["var"](self, axis, ddof, keepdims)

    def std(self, axis: Axis = None, ddof: float = 0, keepdims: bool = False) -> "Expr":
        """The standard deviation, the root of :meth:`var`."""
        return _FUNCTIONS["std"](self, axis, ddof, keepdims)

    def repeat(self, repeats: Any, axis: Optional[int] = None) -> "Expr":
        """Each element repeated, along an axis (None: of the flat expression)."""
        return _FUNCTIONS["repeat"](self, repeats, axis)

    def swapaxes(self, axis1: int, axis2: int) -> "Expr":
        """Two axes exchanged."""
        return _FUNCTIONS["swapaxes"](self, axis1, axis2)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> "Expr":
        """The diagonal of two axes, as the last axis."""
        return _FUNCTIONS["diagonal"](self, offset, axis1, axis2)

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> "Expr":
        """The sum of the diagonal."""
        return _FUNCTIONS["trace"](self, offset, axis1, axis2)

    def take(self, indices: ArrayLike, axis: Optional[int] = None) -> "Expr":
        """Elements along an axis by index (None: of the flat expression)."""
        if axis is None:
            return _take(self.ravel(), indices, 0)
        return _take(self, indices, _axes(self, axis, "take")[0])

    # ---- NumPy's functions

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        function = _UFUNCS.get(ufunc.__name__)
        if function is None:
            raise _refusal(ufunc.__name__)
        if method != "__call__" or options:
            return NotImplemented
        return function(*inputs)

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        linear = function.__module__ == "numpy.linalg"  # whose trace and diagonal have other axes
        own = None if linear else _FUNCTIONS.get(function.__name__)
        if own is None:
            raise _refusal(function.__name__, "numpy.linalg" if linear else "numpy")
        return own(*inputs, **options)

    def __array__(self, *_: Any, **__: Any) -> NDArray[np.object_]:
        caller = sys._getframe(1).f_globals.get("__name__", "")
        if caller.startswith("numpy.ma"):
            raise TypeError("a masked array on the left of an expression has no result; write the expression first, or fill the "
                            "masked array, by .filled(value)")
        if caller.startswith("scipy.sparse"):
            whole = np.empty((), dtype=object)  # with which A @ x of a sparse A asks x.__rmatmul__
            whole[()] = self
            return whole
        raise TypeError("an expression has no numbers yet; ask a model for values of states")


# ---- leaves


def _block(kind: str, shape: Any, name: Optional[str], states: int = 0, levels: Any = None, cap: int = 0,
           total: Optional[int] = None, dims: Any = None, coords: Any = None) -> Expr:
    sizes = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    if not sizes or not all(isinstance(n, (int, np.integer)) and n >= 1 for n in sizes):
        raise ShapeError(f"{kind}: expected a number of variables, or a shape; found {shape!r}")
    if levels is not None:
        levels = np.ascontiguousarray(levels, dtype=np.float64)
        if kind == "categorical" and levels.shape != (states,):
            raise ShapeError(f"{kind}: occurrences of the shape {levels.shape}; expected one for each of {states} labels")
        states = len(levels)
    extra = {"kind": kind, "name": name, "count": int(np.prod(sizes, dtype=np.int64)), "states": states,
             "levels": levels, "cap": cap, "total": None if total is None else operator.index(total),
             "shape": tuple(int(n) for n in sizes), "dims": dims, "coords": coords}
    own = (extra["count"],) if kind != "categorical" else (extra["count"], states)
    block = Expr("block", shape=own, extra=extra)
    space = _add_block(lib.sal_space_create(), extra, name or kind)  # its mistakes now, not when the model is made
    lib.sal_space_destroy(space)
    return block if len(sizes) == 1 else reshape(block, sizes + own[1:])


def spins(shape: Shape, name: Optional[str] = None, total: Optional[int] = None,
          dims: Optional[Sequence[str]] = None, coords: Optional[Mapping[str, Any]] = None) -> Expr:
    """A block of variables in {-1, +1}.

    Parameters
    ----------
    shape : int or tuple of int
        Number of variables, or the shape of the expression; states and draws have it too.
    name : str, optional
        Name of the block, unique in a model. None: "spin0", "spin1" and so on in each model.
    total : int, optional
        The sum of the values, the magnetisation, in every state; None: any. Samplers keep to it by exchanges of
        two variables; samplers that cannot refuse the model.
    dims : sequence of str, optional
        Names of the axes of `shape`, for xarray and pandas: ("row", "column").
    coords : dict, optional
        The labels along such axes: {"row": ["a", "b"]}. The axes of all blocks of a model that have the same name have
        the same labels.

    Returns
    -------
    Expr
        The values, of the shape that was asked for. State codes are 0 for -1 and 1 for +1.

    Raises
    ------
    ShapeError
        No axis, or one without elements.
    ArgumentError
        No state has the total.

    Examples
    --------
    >>> import saltus as sal
    >>> s = sal.spins(3, name="spin")
    >>> model = sal.Model(0.5 * (s[:-1] * s[1:]).sum())
    >>> model.value([1, 1, -1])
    0.0
    """
    return _block("spin", shape, name, total=total, dims=dims, coords=coords)


def binary(shape: Shape, name: Optional[str] = None, total: Optional[int] = None,
           dims: Optional[Sequence[str]] = None, coords: Optional[Mapping[str, Any]] = None) -> Expr:
    """A block of variables in {0, 1}; see :func:`spins`. A total is the number of ones in every state.

    Examples
    --------
    Which 2 of 4 variables are 1 is free; how many are is not.

    >>> import saltus as sal
    >>> x = sal.binary(4, total=2)
    >>> model = sal.Model((x * [1.0, 2.0, 3.0, 4.0]).sum())
    >>> int(sal.sample(model, draws=1000, seed=1).draws.sum(axis=-1).min())
    2
    """
    return _block("binary", shape, name, total=total, dims=dims, coords=coords)


def categorical(shape: Shape, states: int, name: Optional[str] = None, occurrences: Optional[ArrayLike] = None,
                dims: Optional[Sequence[str]] = None, coords: Optional[Mapping[str, Any]] = None) -> Expr:
    """A block of variables with `states` labels 0, 1, ...

    The expression is one-hot: its shape is `shape` with `states` appended, and an element is 1 where the
    variable has that label, else 0.

    Parameters
    ----------
    shape : int or tuple of int
    states : int
        Number of labels, the same for all variables of the block.
    name : str, optional
    occurrences : array of int, shape (states,), optional
        How many of the variables have each label, in every state; None: any number. They sum to the number of
        variables. See also :func:`permutation`.

    Raises
    ------
    ArgumentError
        The states are not 1 to 1048576; the occurrences do not sum to the number of variables.
    ShapeError
        As :func:`spins`; occurrences that are not one for each label.

    Examples
    --------
    A Potts model of two variables: f counts whether they agree.

    >>> import saltus as sal
    >>> a = sal.categorical(2, states=3)
    >>> a.shape
    (2, 3)
    >>> model = sal.Model((a[0] * a[1]).sum())
    >>> model.value([[2, 2], [0, 2]])
    array([1., 0.])
    """
    return _block("categorical", shape, name, states=int(states), levels=occurrences, dims=dims, coords=coords)


def permutation(n: int, name: Optional[str] = None) -> Expr:
    """A block of n variables with n labels, of which every label occurs once.

    The expression is the matrix of the permutation, (n, n): an element is 1 where the variable of the row has the
    label of the column.

    Parameters
    ----------
    n : int
    name : str, optional

    Raises
    ------
    ArgumentError, ShapeError
        As :func:`categorical`.

    Examples
    --------
    Items in the order that costs least, where ``cost[i, k]`` is that of item i at place k:

    >>> import numpy as np
    >>> import saltus as sal
    >>> cost = np.array([[3.0, 1.0, 2.0], [2.0, 3.0, 1.0], [1.0, 2.0, 3.0]])
    >>> model = sal.Model(-(sal.permutation(3) * cost).sum())
    >>> model.exact().log_z > -3
    True
    """
    if n > 4096:
        raise ArgumentError(f"permutation: expected 1 to 4096 variables; found {n}")
    return categorical(n, n, name, occurrences=[1] * int(n))


def ordinal(shape: Shape, levels: Any, name: Optional[str] = None,
            dims: Optional[Sequence[str]] = None, coords: Optional[Mapping[str, Any]] = None) -> Expr:
    """A block of variables on a grid of real levels.

    Parameters
    ----------
    shape : int or tuple of int
    levels : int or array of float
        The levels, rising; a number n stands for 0, 1, .., n - 1. The expression has their values.
    name : str, optional

    Raises
    ------
    ArgumentError
        The levels are not finite, or do not rise.
    ShapeError
        As :func:`spins`.
    """
    if isinstance(levels, (int, np.integer)):
        return _block("ordinal", shape, name, states=int(levels), dims=dims, coords=coords)
    return _block("ordinal", shape, name, levels=levels, dims=dims, coords=coords)


def counts(shape: Shape, cap: Optional[int] = None, name: Optional[str] = None, total: Optional[int] = None,
           dims: Optional[Sequence[str]] = None, coords: Optional[Mapping[str, Any]] = None) -> Expr:
    """A block of variables in 0, 1, 2, .., up to `cap` (None: without end).

    Exact answers, :func:`evaluate` and some samplers need a cap. With a cap the sum of all counts can be fixed to
    `total`, as that of :func:`spins`.
    """
    return _block("count", shape, name, cap=0 if cap is None else int(cap), total=total, dims=dims, coords=coords)


def param(name: str, shape: Shape = (), value: Optional[ArrayLike] = None) -> Expr:
    """A named parameter, which training learns and :attr:`Model.params` sets.

    Parameters
    ----------
    name : str
    shape : int or tuple of int
        ``()`` for a number; may be left out if there is a value.
    value : array, optional
        Where it starts; else 0.

    Raises
    ------
    ShapeError
        The value has another shape, or there are more than 4 axes.
    ArgumentError
        The name is no text.
    """
    if value is not None:
        value = np.array(reals(value, f"param {name}"))
        shape = shape or value.shape
    sizes = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(operator.index(n) for n in shape)
    if not isinstance(name, str):
        raise ArgumentError(f"param: expected a name and a shape; found {name!r}")
    _check_shape(f"param {name}", sizes)
    if value is not None and value.shape != sizes:
        raise ShapeError(f"param {name}: the value has the shape {value.shape}, not {sizes}")
    return Expr("param", shape=sizes, extra={"name": name, "value": value})


def _check_shape(what: str, shape: tuple[int, ...]) -> None:
    if len(shape) > 4 or any(n < 1 for n in shape):
        raise ShapeError(f"{what} of shape {shape}: expected at most 4 axes, of 1 element or more each; merge axes by "
                         "reshape, or multiply by einsum")


def constant(values: ArrayLike) -> Expr:
    """Fixed numbers. Numbers and arrays beside an expression become constants by themselves.

    A list that has expressions among its parts is their stack.

    Raises
    ------
    ArgumentError
        They are no real numbers.
    ShapeError
        More than 4 axes, or an axis without elements.
    """
    if isinstance(values, Expr):
        return values
    if isinstance(values, (list, tuple)) and any(isinstance(part, Expr) for part in values):
        return stack(values)
    if hasattr(values, "nnz") and int(np.prod(values.shape, dtype=np.float64)) > MOST_ELEMENTS:
        raise ArgumentError(f"a sparse matrix of shape {values.shape} has more than {MOST_ELEMENTS} elements with its zeros; use "
                            "saltus.edges(s, A.data, pairs) for s'As, or gather its entries by indices and sum")
    given = values if type(values) is np.ndarray else plain(values, "a constant")
    if given.dtype.kind not in "biuf":
        raise ArgumentError(f"expected numbers; found {values!r:.60}" if given.ndim == 0 else
                            f"expected an array of numbers; found one of {given.dtype}")
    array = np.array(given, dtype=np.float64, order="C")
    _check_shape("an array", array.shape)
    return Expr("constant", shape=array.shape, extra={"values": array})


# ---- recording


@functools.lru_cache(maxsize=None)
def _file(name: str) -> bytes:
    """The name of a source file for tapes, which keep the pointer; there are few such files."""
    return name.encode("utf-8", "replace")


def _dim(shape: Sequence[int]) -> NDArray[Any]:
    return np.array(list(shape) or [0], dtype=np.int64)


def _record(tape: Any, e: Expr, nodes: Sequence[int], name: str = "") -> int:
    """The node of an expression whose inputs are `nodes`; `name`: that of a block in the model."""
    file, line = _file(e.place[0]), e.place[1]
    if e.op == "block":
        return lib.sal_flat_state(file, line, tape, name.encode())
    if e.op == "param":
        dim = _dim(e.shape)
        return lib.sal_flat_param(file, line, tape, e.extra["name"].encode(), e.ndim, address(dim))
    if e.op == "constant":
        dim = _dim(e.shape)
        return lib.sal_flat_constant(file, line, tape, address(e.extra["values"]), e.ndim, address(dim))
    inputs = np.array(nodes, dtype=np.int32)
    return lib.sal_flat_operation(file, line, tape, e.op.encode(), len(nodes), address(inputs), len(e.ints),
                                  address(e.ints), len(e.reals), address(e.reals))


class _Scratch:
    """A tape that only tells shapes: inputs are parameters, by shape."""

    def __init__(self) -> None:
        space = lib.sal_space_create()
        call("sal_flat_space_add", space, b"x", 1, 1, 0, None, 0)
        self.space = _library.Handle(space, "sal_space_destroy")
        self.renew()

    def renew(self) -> None:
        """An empty tape: mistakes stay on a tape, and nodes too."""
        self.tape = _library.Handle(lib.sal_flat_tape_create(self.space, True), "sal_tape_destroy")
        self.known: dict[tuple[int, ...], int] = {}
        self.nodes = 0

    def shape(self, e: Expr) -> tuple[int, ...]:
        if self.nodes > 10000:
            self.renew()
        inputs = []
        for part in e.inputs:
            if part.shape not in self.known:
                dim = _dim(part.shape)
                name = f"p{len(self.known)}".encode()
                self.known[part.shape] = lib.sal_flat_param(None, 0, self.tape, name, part.ndim, address(dim))
            inputs.append(self.known[part.shape])
        dim = np.zeros(4, dtype=np.int64)
        rank = lib.sal_flat_shape(self.tape, _record(self.tape, e, inputs), address(dim))
        self.nodes += 1
        if rank < 0:
            tape = self.tape
            self.renew()
            call("sal_tape_check", tape)
            raise ArgumentError(f"{e.op}: expected one input or more")
        return tuple(int(n) for n in dim[:rank])


_own = threading.local()  # a tape belongs to one thread


def _shape(e: Expr) -> tuple[int, ...]:
    if not hasattr(_own, "scratch"):
        _own.scratch = _Scratch()
    return _own.scratch.shape(e)


def _add_block(space: int, extra: dict[str, Any], name: str) -> int:
    call("sal_flat_space_add", space, name.encode(), _KINDS[extra["kind"]], extra["count"],
         extra["states"], address(extra["levels"]), extra["cap"])
    if extra["total"] is not None:
        call("sal_space_fix_sum", space, name.encode(), extra["total"])
    return space


def ordered(f: Expr) -> list[Expr]:
    """What an expression is made of, inputs first, each once."""
    done: dict[int, Expr] = {}
    stack = [(f, False)]
    while stack:
        e, ready = stack.pop()
        if id(e) in done:
            continue
        if ready:
            done[id(e)] = e
        else:
            stack.append((e, True))
            stack.extend((part, False) for part in reversed(e.inputs))
    return list(done.values())


def names_of(blocks: Iterable[Expr]) -> dict[int, str]:
    """The names of a model's blocks, by their order: blocks without one are spin0, spin1, binary0 and so on."""
    blocks = sorted(blocks, key=lambda e: e.order)
    names = {block.order: block.extra["name"] for block in blocks if block.extra["name"]}
    taken = set(names.values())
    for block in blocks:
        if block.order not in names:
            free = (f"{block.extra['kind']}{k}" for k in itertools.count())
            names[block.order] = next(name for name in free if name not in taken)
            taken.add(names[block.order])
    return names


def space_of(blocks: Iterable[Expr]) -> _library.Handle:
    """The space of blocks, in the order in which they were made."""
    space = _library.Handle(lib.sal_space_create(), "sal_space_destroy")
    names = names_of(blocks)
    for block in sorted(blocks, key=lambda e: e.order):
        _add_block(space._as_parameter_, block.extra, names[block.order])
    return space


def shapes_of(blocks: Iterable[Expr]) -> dict[str, GivenShape]:
    """What a model's blocks were given, by name: shape, dims and coords."""
    names = names_of(blocks)
    return {names[block.order]: (block.extra["shape"], block.extra["dims"], block.extra["coords"]) for block in blocks}


def renewed(block: Expr) -> Expr:
    """The same block, as if it were made now."""
    return Expr("block", shape=block.shape, extra=block.extra)


def model_of(f: Expr, doubles: bool) -> tuple[int, dict[str, NDArray[np.float64]], dict[str, GivenShape]]:
    """The library's model of a formula, the values that its parameters start at, and the shapes of its blocks."""
    if f.shape != ():
        raise ShapeError(f"Model: f must be one number; this expression has the shape {f.shape}. Add up its "
                         f"elements: f.sum()")
    parts = ordered(f)
    blocks = [e for e in parts if e.op == "block"]
    if not blocks:
        raise ArgumentError("Model: f has no variables; make some by saltus.spins, saltus.binary, ...")
    space, names = space_of(blocks), names_of(blocks)
    tape = _library.Handle(lib.sal_flat_tape_create(space, doubles), "sal_tape_destroy")
    nodes: dict[int, int] = {}
    parameters = sorted((e for e in parts if e.op == "param"), key=lambda e: e.order)
    for e in parameters + [e for e in parts if e.op != "param"]:
        nodes[id(e)] = _record(tape, e, [nodes[id(part)] for part in e.inputs], names.get(e.order, ""))
    model = make("sal_flat_model", tape, nodes[id(f)])
    values = {e.extra["name"]: e.extra["value"] for e in parts if e.op == "param" and e.extra["value"] is not None}
    return model, values, shapes_of(blocks)


# ---- operations


def _is_number(a: Any) -> bool:
    return not isinstance(a, Expr) and np.ndim(a) == 0 and not hasattr(a, "nnz")


def _binary(op: str, a: ArrayLike, b: ArrayLike) -> Expr:
    if op in ("mul", "div") and (hasattr(a, "nnz") or hasattr(b, "nnz")):
        raise ArgumentError("*: one is a sparse matrix, of which `*` means the matrix product or that of elements; use @, or "
                            ".toarray()")
    if op == "mul" and _is_number(b):
        return Expr("scale", (constant(a),), reals=[float(b)])
    if op == "mul" and _is_number(a):
        return Expr("scale", (constant(b),), reals=[float(a)])
    return Expr(op, (constant(a), constant(b)))


def _unary(op: str) -> Callable[[ArrayLike], Expr]:
    def function(a: ArrayLike) -> Expr:
        return Expr(op, (constant(a),))

    function.__name__ = function.__qualname__ = op
    return function


exp = _unary("exp")
log = _unary("log")
log1p = _unary("log1p")
sin = _unary("sin")
cos = _unary("cos")
tanh = _unary("tanh")
erf = _unary("erf")
sqrt = _unary("sqrt")
square = _unary("square")
abs_ = _unary("abs")
relu = _unary("relu")
silu = _unary("silu")
gelu = _unary("gelu")
sigmoid = _unary("sigmoid")
softplus = _unary("softplus")
lgamma = _unary("lgamma")

for _function, _doc in ((exp, "e^a."), (log, "The natural logarithm; log 0 is -inf."), (log1p, "log(1 + a)."),
                        (sin, "The sine, of radians."), (cos, "The cosine, of radians."),
                        (tanh, "The hyperbolic tangent."), (erf, "The error function."),
                        (sqrt, "The square root."), (square, "a a."), (abs_, "The absolute value."),
                        (relu, "max(a, 0)."), (silu, "a / (1 + exp(-a))."),
                        (gelu, "a/2 (1 + erf(a / sqrt 2)): PyTorch's default."),
                        (sigmoid, "1 / (1 + exp(-a))."), (softplus, "log(1 + exp a)."),
                        (lgamma, "log |Gamma(a)|.")):
    _function.__doc__ = _doc + " Element by element."


def minimum(a: ArrayLike, b: ArrayLike) -> Expr:
    """The smaller of two, element by element."""
    return Expr("minimum", (constant(a), constant(b)))


def maximum(a: ArrayLike, b: ArrayLike) -> Expr:
    """The larger of two, element by element."""
    return Expr("maximum", (constant(a), constant(b)))


def clip(a: ArrayLike, low: Optional[ArrayLike] = None, high: Optional[ArrayLike] = None, **limits: Any) -> Expr:
    """min(max(a, low), high); None: no limit. The derivative outside is 0.

    NumPy's names of the limits work too: `a_min` and `a_max`, `min` and `max`.
    """
    for name, value in limits.items():
        if name not in ("a_min", "a_max", "min", "max") or (low if name.endswith("min") else high) is not None:
            raise TypeError(f"clip: the argument {name!r} is unknown or given twice")
        low, high = (value, high) if name.endswith("min") else (low, value)
    if not all(limit is None or _is_number(limit) for limit in (low, high)):
        a = constant(a) if low is None else maximum(a, low)
        return a if high is None else minimum(a, high)
    return Expr("clamp", (constant(a),), reals=[-np.inf if low is None else float(low),
                                                np.inf if high is None else float(high)])


def elu(a: ArrayLike, alpha: float = 1.0) -> Expr:
    """a where a > 0, else alpha (exp(a) - 1)."""
    return Expr("elu", (constant(a),), reals=[float(alpha)])


def drelu(a: ArrayLike, delta: ArrayLike, t: ArrayLike) -> Expr:
    """The log of the integral of exp(h a - U(h)) / sqrt(2 pi) over a double rectified linear unit h.

    U(h) is h^2 / (2 (1 + eta)) + delta h above 0 and h^2 / (2 (1 - eta)) - delta h below it, with eta = tanh(t).
    `delta` and `t` have the shape of `a` or one element, and do not depend on the state.
    """
    return Expr("drelu", (constant(a), constant(delta), constant(t)))


def at_most(a: ArrayLike, most: float) -> Expr:
    """A hard limit: 0 where a <= most, -inf above it. The samplers mana and una take slopes without it."""
    return Expr("at_most", (constant(a),), reals=[float(most)])


def power(a: ArrayLike, p: ArrayLike) -> Expr:
    """a^p for numbers p, or numbers a > 0. NaN where a is negative, unless p is a whole number; a^0 is 1."""
    return a ** p if isinstance(a, Expr) else p.__rpow__(a) if isinstance(p, Expr) else constant(a) ** p


def _powers(a: Expr, power: ArrayLike) -> Expr:
    """a^p for an array of numbers p: the elements with equal p are one operation."""
    if isinstance(power, Expr):
        raise ArgumentError("**: the power must be a number or an array of numbers; for others use exp(p * log(a))")
    p = reals(power, "**")
    if p.ndim == 0:
        return a ** float(p)
    a, p = a + np.zeros(p.shape), np.broadcast_to(p, np.broadcast_shapes(a.shape, p.shape)).ravel()
    groups = [np.flatnonzero(p == value) for value in np.unique(p)]
    parts = [_take(a.ravel(), group, 0) ** float(p[group[0]]) for group in groups]
    return reshape(_take(concatenate(parts), np.argsort(np.concatenate(groups)), 0), a.shape)


def where(condition: ArrayLike, a: ArrayLike, b: ArrayLike) -> Expr:
    """a where the condition is not 0, else b; the three broadcast.

    The condition has no derivative. What is not taken has none either, even where it is infinite or NaN. Between finite
    numbers, by a comparison of variables of two values, the result is linear in these variables.
    """
    condition, a, b = constant(condition), constant(a), constant(b)
    if isinstance(condition.extra, str) and condition.extra == "linear":
        if all(e.op == "constant" and np.isfinite(e.extra["values"]).all() for e in (a, b)):
            return condition * a + (1.0 - condition) * b
        condition = relu(condition - 0.5)
    return Expr("where", (condition, a, b))


def _axes(a: Expr, axis: Axis, what: str) -> list[int]:
    given = range(a.ndim) if axis is None else [axis] if isinstance(axis, (int, np.integer)) else list(axis)
    axes = []
    for k in given:
        if not -a.ndim <= k < a.ndim:
            raise ShapeError(f"{what}: axis {k} of an expression of shape {a.shape}")
        axes.append(int(k) % a.ndim)
    if len(set(axes)) != len(axes):
        raise ShapeError(f"{what}: an axis is given twice: {tuple(axes)}")
    return sorted(axes)


def _reduce(op: str, a: ArrayLike, axis: Axis, keepdims: bool) -> Expr:
    a = constant(a)
    axes = _axes(a, axis, op)
    result = a
    if len(axes) == a.ndim:
        result = Expr(op, (a,))
    else:
        for k in reversed(axes):
            result = Expr(op, (result,), ints=[k])
    if keepdims:
        result = reshape(result, tuple(1 if k in axes else n for k, n in enumerate(a.shape)))
    return result


def sum(a: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Expr:
    """The sum over all elements, or over one or more axes."""
    return _reduce("sum", a, axis, keepdims)


def mean(a: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Expr:
    """The mean over all elements, or over one or more axes."""
    return _reduce("mean", a, axis, keepdims)


def max(a: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Expr:
    """The largest element, over all axes or some."""
    return _reduce("max", a, axis, keepdims)


def min(a: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Expr:
    """The smallest element, over all axes or some."""
    return -max(-constant(a), axis, keepdims)


def logsumexp(a: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Expr:
    """The natural log of the sum of exp of the elements, over all axes or some; -inf if all are -inf."""
    return _reduce("logsumexp", a, axis, keepdims)


def cumsum(a: ArrayLike, axis: Optional[int] = None) -> Expr:
    """Cumulative sums, over all elements (flat, as NumPy) or along an axis."""
    a = constant(a)
    return Expr("cumsum", (a.ravel(),)) if axis is None else Expr("cumsum", (a,), ints=[axis])


def softmax(a: ArrayLike, axis: Optional[int] = None) -> Expr:
    """exp a_k / sum_l exp a_l, over all elements or along an axis; NaN if all are -inf."""
    return Expr("softmax", (constant(a),), ints=[] if axis is None else [axis])


def matmul(a: ArrayLike, b: ArrayLike) -> Expr:
    """The product of matrices, vectors and stacks of matrices, as ``@``.

    Shapes: (n,) (n,) gives a number; (m, n) (n,) gives (m,); (m,) (m, n) gives (n,); (m, k) (k, n) gives
    (m, n); (b, m, k) (b, k, n) gives (b, m, n). Stacks of other ranks broadcast as NumPy's.

    Raises
    ------
    ShapeError
        Numbers without axes, or sizes that do not fit.
    """
    a, b = constant(a), constant(b)
    ranks = (a.ndim, b.ndim)
    if ranks == (1, 1):
        return Expr("dot", (a, b))
    if ranks == (2, 1):
        return Expr("matvec", (a, b))
    if ranks == (1, 2):
        return Expr("matvec", (transpose(b), a))
    if ranks == (2, 2):
        return Expr("matmul", (a, b))
    if ranks == (3, 3) and (a.shape[0] == b.shape[0] or 1 not in (a.shape[0], b.shape[0])):
        return Expr("batched_matmul", (a, b))
    if 0 in ranks or a.shape[-1] != b.shape[b.ndim - 2 if b.ndim > 1 else 0]:
        raise ShapeError(f"@: shapes {a.shape} and {b.shape}; expected an inner size that both have, and no number")
    if ranks[1] <= 2:  # all matrices of the stack by one
        rows = reshape(a, (a.size // a.shape[-1], a.shape[-1]))
        return reshape(matmul(rows, b), a.shape[:-1] + b.shape[1:])
    if ranks[0] == 1:
        return reshape(matmul(reshape(a, (1, a.size)), b), b.shape[:-2] + b.shape[-1:])
    try:
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise ShapeError(f"@: shapes {a.shape} and {b.shape}; the axes before the last two do not broadcast") from None
    stacks = []
    for part in (a, b):
        part = _FUNCTIONS["broadcast_to"](part, batch + part.shape[-2:])
        stacks.append(reshape(part, (part.size // (part.shape[-2] * part.shape[-1]),) + part.shape[-2:]))
    return reshape(Expr("batched_matmul", tuple(stacks)), batch + (a.shape[-2], b.shape[-1]))


def dot(a: ArrayLike, b: ArrayLike) -> Expr:
    """The product of two vectors or matrices, as ``@``."""
    return matmul(a, b)


def quad(s: ArrayLike, J: ArrayLike) -> Expr:
    """s'Js of a vector and couplings.

    J counts as (J + J')/2; there is no factor 1/2. So each pair of a symmetric J counts twice, and each pair of
    a triangular one once.

    Parameters
    ----------
    s : Expr, shape (n,)
    J : array or Expr, shape (n, n)
        It must not depend on the state: an array, a parameter, or made of these.

    Returns
    -------
    Expr
        A number, shape ().

    Raises
    ------
    ShapeError
        Other shapes. (That J depends on the state is found when the :class:`Model` is made.)

    Examples
    --------
    >>> import saltus as sal
    >>> s = sal.spins(2)
    >>> sal.Model(sal.quad(s, [[0, 0.5], [0.5, 0]])).value([1, 1])
    1.0
    """
    return Expr("quad", (constant(s), constant(J)))


def edges(s: ArrayLike, weights: ArrayLike, pairs: ArrayLike) -> Expr:
    """sum_e w_e s_i s_j over a list of pairs of elements.

    Parameters
    ----------
    s : Expr, shape (n,)
    weights : array or Expr, shape (edges,), or a number for all
        They must not depend on the state.
    pairs : array of int, shape (edges, 2)
        Each pair that is listed counts once.

    Returns
    -------
    Expr
        A number, shape ().

    Raises
    ------
    ShapeError
        `s`, `weights` or `pairs` have other shapes, or a pair has an index beyond the elements.
    ArgumentError
        The pairs are no integers.

    Examples
    --------
    >>> import saltus as sal
    >>> s = sal.spins(3)
    >>> sal.Model(sal.edges(s, 0.5, [[0, 1], [1, 2]])).value([1, 1, 1])
    1.0
    """
    pairs = np.asarray(pairs)
    if pairs.dtype.kind not in "iu":
        raise ArgumentError(f"edges: expected pairs of indices; found {pairs.dtype}")
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ShapeError(f"edges: expected pairs of the shape (edges, 2); found {pairs.shape}")
    if _is_number(weights):
        weights = np.full(len(pairs), float(weights))
    return Expr("edges", (constant(s), constant(weights)), ints=pairs.ravel())


def conv2d(x: ArrayLike, weight: ArrayLike, bias: Optional[ArrayLike] = None, stride: int = 1,
           padding: int = 0) -> Expr:
    """A convolution as PyTorch's ``Conv2d``: a cross-correlation, the kernel is not flipped.

    Parameters
    ----------
    x : Expr, shape (C, H, W)
        One image of C channels; there is no batch axis.
    weight : array or Expr, shape (O, C, h, w)
    bias : array or Expr, shape (O,), optional
        Else 0. Neither weight nor bias may depend on the state.
    stride : int
        Pixels from one window to the next, 1 or more.
    padding : int
        Pixels of zeros at each side, 0 or more.

    Returns
    -------
    Expr, shape (O, (H + 2 padding - h) // stride + 1, (W + 2 padding - w) // stride + 1)

    Raises
    ------
    ShapeError
        Shapes that do not fit, a kernel larger than the padded image, or such a stride or padding.

    Examples
    --------
    >>> import numpy as np, saltus as sal
    >>> x = sal.binary((1, 8, 8))
    >>> sal.conv2d(x, np.ones((4, 1, 3, 3)), stride=2, padding=1).shape
    (4, 4, 4)
    """
    weight = constant(weight)
    bias = constant(np.zeros(weight.shape[:1]) if bias is None else bias)
    return Expr("conv2d", (constant(x), weight, bias), ints=[stride, padding])


def avg_pool2d(x: ArrayLike, kernel: int, stride: Optional[int] = None) -> Expr:
    """Means over windows of kernel x kernel pixels of an image (C, H, W), without padding.

    The windows are `stride` pixels apart (None: as the kernel). The result has the shape
    (C, (H - kernel) // stride + 1, (W - kernel) // stride + 1).
    """
    return Expr("avg_pool2d", (constant(x),), ints=[kernel, kernel if stride is None else stride])


def max_pool2d(x: ArrayLike, kernel: int, stride: Optional[int] = None) -> Expr:
    """Maxima over windows of kernel x kernel pixels of an image (C, H, W); shapes as :func:`avg_pool2d`."""
    return Expr("max_pool2d", (constant(x),), ints=[kernel, kernel if stride is None else stride])


def reshape(a: ArrayLike, shape: Shape) -> Expr:
    """The same elements in row-major order under another shape; one size may be -1."""
    a = constant(a)
    sizes = [int(shape)] if isinstance(shape, (int, np.integer)) else [int(n) for n in shape]
    if sizes.count(-1) == 1:
        rest = int(np.prod([n for n in sizes if n != -1], dtype=np.int64))
        if rest > 0 and a.size % rest == 0:
            sizes[sizes.index(-1)] = a.size // rest
    return a if tuple(sizes) == a.shape else Expr("reshape", (a,), ints=sizes)


def squeeze(a: ArrayLike, axis: Axis = None) -> Expr:
    """The same elements without axes of one element, all or some."""
    a = constant(a)
    dropped = [k for k, n in enumerate(a.shape) if n == 1] if axis is None else _axes(a, axis, "squeeze")
    if any(a.shape[k] != 1 for k in dropped):
        raise ShapeError(f"squeeze: axis {axis} of shape {a.shape} has more than one element")
    return reshape(a, tuple(n for k, n in enumerate(a.shape) if k not in dropped))


def expand_dims(a: ArrayLike, axis: int) -> Expr:
    """A new axis of one element."""
    a = constant(a)
    if not -a.ndim - 1 <= axis <= a.ndim:
        raise ShapeError(f"expand_dims: axis {axis} of an expression of shape {a.shape}")
    at = axis % (a.ndim + 1)
    return reshape(a, a.shape[:at] + (1,) + a.shape[at:])


def transpose(a: ArrayLike, axes: Optional[Sequence[int]] = None) -> Expr:
    """The axes in another order; without `axes` in reverse."""
    a = constant(a)
    given = range(a.ndim)[::-1] if axes is None else axes
    wanted = [int(k) + a.ndim if k < 0 else int(k) for k in given]
    if sorted(wanted) != list(range(a.ndim)):
        raise ShapeError(f"transpose: axes {tuple(axes or ())} of an expression of shape {a.shape}")
    now = list(range(a.ndim))
    for place, axis in enumerate(wanted):
        at = now.index(axis)
        if at != place:
            a = Expr("transpose", (a,), ints=[place, at])
            now[place], now[at] = now[at], now[place]
    return a


def concatenate(parts: Sequence[ArrayLike], axis: Optional[int] = 0) -> Expr:
    """Expressions one after the other along an axis (None: all of them flat). The other axes must agree."""
    inputs = tuple(constant(part) for part in parts if isinstance(part, Expr) or np.size(part) > 0)
    if not inputs:
        raise ArgumentError("concatenate: expected one expression or more")
    if axis is None:
        inputs, axis = tuple(part.ravel() for part in inputs), 0
    return Expr("concat", inputs, ints=[axis])


def stack(parts: Sequence[ArrayLike], axis: int = 0) -> Expr:
    """Expressions of equal shape beside each other along a new axis."""
    inputs = [constant(part) for part in parts]
    if not inputs:
        raise ArgumentError("stack: expected one expression or more")
    return concatenate([expand_dims(e, axis) for e in inputs], axis % (inputs[0].ndim + 1))


def _take(a: Expr, indices: ArrayLike, axis: int) -> Expr:
    indices = np.asarray(indices)
    if indices.dtype == bool:
        if indices.shape != (a.shape[axis],):
            raise ShapeError(f"a mask of shape {indices.shape} on an axis of {a.shape[axis]} elements")
        indices = np.flatnonzero(indices)
    if indices.dtype.kind not in "iu":
        raise ArgumentError(f"indices must be integers, slices or masks; found {indices.dtype}")
    flat = indices.ravel().astype(np.int64)
    n = a.shape[axis]
    if len(flat) and (flat.min() < -n or flat.max() >= n):
        raise OutOfRangeError(f"an index is out of range for an axis of {n} elements")
    flat = np.where(flat < 0, flat + n, flat)
    taken = Expr("gather", (a,), ints=np.concatenate([[axis], flat]))
    return reshape(taken, a.shape[:axis] + indices.shape + a.shape[axis + 1:])


def take(a: ArrayLike, indices: ArrayLike, axis: Optional[int] = None) -> Expr:
    """Elements along an axis by index (None: of the flat expression)."""
    return constant(a).take(indices, axis)


def _is_mask(key: Any) -> bool:
    """Whether an index is a mask of several axes."""
    return isinstance(key, (list, np.ndarray)) and np.ndim(key) > 1 and np.asarray(key).dtype == bool


def _elements(a: Expr, key: Any) -> Any:
    """The elements that NumPy takes by an index of any kind; an array of NumPy if there are none."""
    try:
        places = np.arange(a.size).reshape(a.shape)[key]
    except IndexError as failure:
        raise OutOfRangeError(f"indices of an expression of shape {a.shape}: {failure}") from None
    if places.size == 0:
        return np.zeros(places.shape)
    return reshape(_take(a.ravel(), places.ravel(), 0), places.shape)


def _index(a: Expr, key: Any) -> Expr:
    keys = list(key) if isinstance(key, tuple) else [key]
    used = builtins.sum(np.ndim(k) if _is_mask(k) else 1 for k in keys if k is not None and k is not Ellipsis)
    if used > a.ndim:
        raise ShapeError(f"{used} indices of an expression of shape {a.shape}")
    if any(isinstance(k, Expr) for k in keys):
        raise ArgumentError("indices: an expression is no index, since the shape must not depend on the state; use where")
    arrays = [i for i, k in enumerate(keys) if isinstance(k, (list, np.ndarray))]
    if len(arrays) > 1 or arrays and (_is_mask(keys[arrays[0]]) or any(
            isinstance(k, (int, np.integer)) and abs(i - arrays[0]) > 1 for i, k in enumerate(keys))):
        return _elements(a, key)
    if any(isinstance(k, (bool, np.bool_)) for k in keys):
        raise ArgumentError("indices: True and False are no indices; a mask has one for each element")
    at = next((i for i, k in enumerate(keys) if k is Ellipsis), None)
    if at is not None:
        keys[at:at + 1] = [slice(None)] * (a.ndim - used)
    axis, dropped, original = 0, [], a
    for k in keys:
        if k is None:
            a = reshape(a, a.shape[:axis] + (1,) + a.shape[axis:])
        elif isinstance(k, slice):
            start, stop, step = k.indices(a.shape[axis])
            length = len(range(start, stop, step))
            if length == 0:  # nothing depends on the state
                return _elements(original, key)
            if step != 1:
                a = _take(a, np.arange(start, stop, step), axis)
            elif length < a.shape[axis]:
                a = Expr("slice", (a,), ints=[axis, start, length])
        elif isinstance(k, (int, np.integer)):
            if not -a.shape[axis] <= k < a.shape[axis]:
                raise OutOfRangeError(f"index {k} is out of range for an axis of {a.shape[axis]} elements")
            a = Expr("slice", (a,), ints=[axis, int(k) % a.shape[axis], 1])
            dropped.append(axis)
        else:
            before = a.ndim
            a = _take(a, k, axis)
            axis += a.ndim - before
        axis += 1
    return reshape(a, tuple(n for k, n in enumerate(a.shape) if k not in dropped)) if dropped else a


def operation(op: str, *inputs: ArrayLike, ints: Numbers = (), reals: Numbers = ()) -> Expr:
    """Any operation of the library by its name.

    Parameters
    ----------
    op : str
        A name from ``saltus.list_of("ops")``, such as "ridge_logdet".
    *inputs : Expr or array
        What it is applied to.
    ints, reals : sequences of numbers
        Its attributes, in the order of the C macro's arguments.

    Raises
    ------
    ArgumentError
        There is no such operation, or its attributes or number of inputs are others.
    ShapeError
        The inputs have other shapes.
    """
    return Expr(op, tuple(constant(a) for a in inputs), ints, reals)


_UFUNCS: dict[str, Callable[..., Expr]] = {
    "add": lambda a, b: _binary("add", a, b), "subtract": lambda a, b: _binary("sub", a, b),
    "multiply": lambda a, b: _binary("mul", a, b), "divide": lambda a, b: _binary("div", a, b),
    "true_divide": lambda a, b: _binary("div", a, b), "negative": lambda a: -a, "positive": lambda a: a,
    "power": power, "matmul": matmul, "exp": exp, "log": log, "log1p": log1p, "sin": sin, "cos": cos,
    "tanh": tanh, "sqrt": sqrt, "square": square, "absolute": abs_, "minimum": minimum, "maximum": maximum,
    "logaddexp": lambda a, b: maximum(a, b) + log1p(exp(-abs_(_binary("sub", a, b)))),
}
_FUNCTIONS: dict[str, Callable[..., Expr]] = {
    "sum": sum, "mean": mean, "max": max, "amax": max, "cumsum": cumsum, "dot": dot, "where": where,
    "clip": clip, "reshape": reshape, "ravel": lambda a: a.ravel(), "transpose": transpose,
    "concatenate": concatenate, "stack": stack, "take": take, "min": min, "amin": min,
    "squeeze": lambda a, axis=None: squeeze(a, axis), "expand_dims": lambda a, axis: expand_dims(a, axis),
    "shape": lambda a: a.shape, "ndim": lambda a: a.ndim, "size": lambda a: a.size,
}
_REFUSED: dict[str, str] = {}  # functions of NumPy that no expression can have, and what to use in place


def _refusal(name: str, module: str = "numpy") -> TypeError:
    """The exception for a function of NumPy that expressions do not have."""
    return TypeError(f"{module}.{name} does not take expressions: "
                     f"{_REFUSED.get(name, 'write it with the functions that do, listed in docs/python.md')}")

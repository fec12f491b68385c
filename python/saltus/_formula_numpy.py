# SPDX-License-Identifier: MIT
"""More of NumPy's functions on expressions, composed of the library's operations.

`_formula` has the expressions and one function for each operation. This module adds to its two tables, by which
NumPy finds the function for an expression, and has the sentences for functions that no expression can have.
"""

from __future__ import annotations

import string
from typing import Any, Callable, Optional, Sequence

import numpy as np
from numpy.typing import NDArray

from ._formula import (_FUNCTIONS, _REFUSED, _UFUNCS, ArrayLike, Axis, Expr, _axes, _binary, _take, concatenate, constant,
                       exp, log, matmul, mean, relu, reshape, sqrt, square, sum, transpose, where)
from ._library import ArgumentError, ShapeError

MOST_VALUES = 1024  # of a variable, for functions by a table of its values


# ---- comparisons, and functions by a table of a variable's values


def _levels(block: Expr) -> Optional[NDArray[Any]]:
    """The values of every element of a block, 2 or more; None: one value, too many for a table, or without end."""
    kind, extra = block.extra["kind"], block.extra
    if kind == "spin":
        return np.array([-1.0, 1.0])
    if kind in ("binary", "categorical"):
        return np.array([0.0, 1.0])
    if kind == "ordinal" and extra["levels"] is not None:
        return extra["levels"] if len(extra["levels"]) > 1 else None
    number = extra["states"] if kind == "ordinal" else extra["cap"] + 1 if extra["cap"] else 0
    return np.arange(number, dtype=np.float64) if 2 <= number <= MOST_VALUES else None


_ON_VALUES: dict[str, Callable[..., NDArray[Any]]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "minimum": np.minimum,
    "maximum": np.maximum, "exp": np.exp, "log": np.log, "log1p": np.log1p, "sqrt": np.sqrt, "square": np.square,
    "abs": np.abs, "sin": np.sin, "cos": np.cos, "tanh": np.tanh,
}
_MOVES = ("reshape", "slice", "gather", "transpose")


def _of_variables(e: Expr, most: int) -> Optional[tuple[Expr, NDArray[Any], NDArray[Any]]]:
    """Variables x in the shape of e, their levels, and e at each level, if each element of e depends on one variable.

    None where an element depends on several variables or on parameters, or a variable has more than `most` values.
    """
    path = []
    while e.op != "block":
        live = [part for part in e.inputs if part.op != "constant"]
        if len(live) != 1 or e.op not in _ON_VALUES and e.op not in _MOVES and e.op not in ("scale", "pow"):
            return None
        path.append(e)
        e = live[0]
    levels = _levels(e)
    if levels is None or len(levels) > most:
        return None
    x, values = e, np.broadcast_to(levels.reshape((-1,) + (1,) * e.ndim), levels.shape + e.shape)
    for step in reversed(path):
        if step.op in _MOVES:
            ints = step.ints
            values = (values.reshape(levels.shape + step.shape) if step.op == "reshape" else
                      values.swapaxes(ints[0] + 1, ints[1] + 1) if step.op == "transpose" else
                      values.take(np.arange(ints[1], ints[1] + ints[2]) if step.op == "slice" else ints[1:], ints[0] + 1))
            x = Expr(step.op, (x,), ints)
            continue
        with np.errstate(all="ignore"):
            if step.op in ("scale", "pow"):
                values = values * step.reals[0] if step.op == "scale" else values ** step.reals[0]
            else:
                if values.ndim <= len(step.shape):  # the level is the first axis of values
                    values = values.reshape(levels.shape + (1,) * (len(step.shape) + 1 - values.ndim) + values.shape[1:])
                values = _ON_VALUES[step.op](*(part.extra["values"] if part.op == "constant" else values
                                               for part in step.inputs))
        x = broadcast_to(x, step.shape)
    return x, levels, values


def _by_values(name: str, function: Callable[[NDArray[Any]], NDArray[Any]], e: Expr, steps: bool) -> Expr:
    """function(e) by a table of the values of variables, of which each element of e has one.

    Linear in a variable of two values. In a variable of more values it is constant near each of them if `steps`,
    else linear from each to the next.
    """
    found = _of_variables(e, MOST_VALUES)
    if found is None:
        raise ArgumentError(f"{name}: every element must be a function of one variable with at most {MOST_VALUES} values, so "
                            f"that a table of them is exact; {_INSTEAD.get(name, _REST)}")
    x, levels, values = found
    with np.errstate(all="ignore"):
        table = function(values)
    if len(levels) == 2:
        return _between(x, levels, table)
    flat, table = reshape(x, (x.size, 1)), table.reshape(len(levels), -1).T
    if steps:
        basis = where(relu(flat - (levels[:-1] + levels[1:]) / 2), 1.0, 0.0)
        weights = np.diff(table, axis=1)
    else:
        slopes = np.diff(table, axis=1) / np.diff(levels)
        basis = concatenate([flat - levels[0], relu(flat - levels[1:-1])], 1)
        weights = np.diff(slopes, axis=1, prepend=0.0)
    return reshape(table[:, 0] + (basis * weights).sum(1), x.shape)


def _between(x: Expr, levels: NDArray[Any], table: NDArray[Any]) -> Expr:
    """Linear in x from table[0] at levels[0] to table[1] at levels[1], without rounding where one of them is 0."""
    low, high = levels
    up, down = (x - low) / (high - low), (high - x) / (high - low)
    if not table[0].any():
        return up * table[1]
    if not table[1].any():
        return down * table[0]
    return up * table[1] + down * table[0]


_REST = "write it by where, abs, minimum and maximum"
_INSTEAD = {"arctan": "x / sqrt(1 + x * x) and tanh are alike"}


def _floor_like(name: str, function: Callable[[NDArray[Any]], NDArray[Any]]) -> Callable[[ArrayLike], Expr]:
    return lambda a: _by_values(name, function, constant(a), steps=name != "arctan")


def _truth(e: Expr) -> bool:
    """Whether all elements are 0 or 1 in every state: comparisons, one-hot and binary variables, and views of them."""
    while e.op in _MOVES:
        e = e.inputs[0]
    return e.extra in ("linear", "step") if isinstance(e.extra, str) else \
        e.op == "block" and e.extra["kind"] in ("binary", "categorical")


def _marked(e: Expr, truth: str) -> Expr:
    """A copy that is known to be 0 or 1; `truth`: "linear" or "step"."""
    return Expr(e.op, e.inputs, e.ints, e.reals, e.shape, truth)


def _comparison(name: str) -> Callable[[ArrayLike, ArrayLike], Expr]:
    function = getattr(np, name)

    def compare(a: ArrayLike, b: ArrayLike) -> Expr:
        d = _binary("sub", a, b)
        found = _of_variables(d, 2)
        if found is not None:
            return _marked(_between(*found[:2], function(found[2], 0.0).astype(np.float64)), "linear")
        side = d if name in ("equal", "not_equal") else relu(d if name in ("greater", "less_equal") else -d)
        holds = name in ("not_equal", "greater", "less")
        return _marked(where(side, float(holds), float(not holds)), "step")

    compare.__name__ = name
    return compare


def _truths(name: str, *operands: ArrayLike) -> list[Expr]:
    """Operands of a logical operator, as expressions that are 0 or 1."""
    result = []
    for given in operands:
        e = constant(given)
        if e.op == "constant":
            e = constant((e.extra["values"] != 0).astype(np.float64))
        elif not _truth(e):
            raise ArgumentError(f"{name}: expected comparisons or binary variables, such as (s > 0) & (t > 0); found an "
                                "expression with other values")
        result.append(e)
    return result


def _and(a: ArrayLike, b: ArrayLike) -> Expr:
    a, b = _truths("&", a, b)
    return _marked(_binary("mul", a, b), "linear")


def _not(a: ArrayLike) -> Expr:
    return _marked(1.0 - _truths("~", a)[0], "linear")


def _or(a: ArrayLike, b: ArrayLike) -> Expr:
    return _not(_and(_not(a), _not(b)))


def _xor(a: ArrayLike, b: ArrayLike) -> Expr:
    a, b = _truths("^", a, b)
    return _marked(a + b - 2.0 * (a * b), "linear")


# ---- elementary functions


def exp2(a: ArrayLike) -> Expr:
    """2^a. Element by element."""
    return exp(constant(a) * np.log(2.0))


def log2(a: ArrayLike) -> Expr:
    """The logarithm to the base 2. Element by element."""
    return log(a) * (1 / np.log(2.0))


def log10(a: ArrayLike) -> Expr:
    """The decimal logarithm. Element by element."""
    return log(a) * (1 / np.log(10.0))


def expm1(a: ArrayLike) -> Expr:
    """exp(a) - 1, accurate near 0. Element by element."""
    a = constant(a)  # the operation elu is expm1 below 0
    return where(relu(a), -(exp(a) * Expr("elu", (-a,), reals=[1.0])), Expr("elu", (a,), reals=[1.0]))


def sinh(a: ArrayLike) -> Expr:
    """The hyperbolic sine. Element by element."""
    a = constant(a)
    return (expm1(a) - expm1(-a)) * 0.5


def cosh(a: ArrayLike) -> Expr:
    """The hyperbolic cosine. Element by element."""
    a = constant(a)
    return (exp(a) + exp(-a)) * 0.5


def sign(a: ArrayLike) -> Expr:
    """-1, 0 or 1. Linear in a variable of two values; else its derivative is 0."""
    a = constant(a)
    found = _of_variables(a, 2)
    if found is not None:
        return _between(found[0], found[1], np.sign(found[2]))
    return where(a, where(relu(a), 1.0, -1.0), 0.0)


def floor(a: ArrayLike) -> Expr:
    """The largest whole number that is not larger, of elements that are functions of one variable each.

    ArgumentError for other elements: the result comes from a table of the variable's values.
    """
    return _floor_like("floor", np.floor)(a)


def arctan(a: ArrayLike) -> Expr:
    """The arcus tangent, of elements that are functions of one variable each; linear between the variable's values.

    ArgumentError for other elements: the result comes from a table of the variable's values.
    """
    return _floor_like("arctan", np.arctan)(a)


# ---- reductions


def prod(a: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Expr:
    """The product over all elements, or over one or more axes."""
    a = constant(a)
    axes = _axes(a, axis, "prod")
    kept = [k for k in range(a.ndim) if k not in axes]
    shape = tuple(1 if k in axes else n for k, n in enumerate(a.shape)) if keepdims else tuple(a.shape[k] for k in kept)
    n = int(np.prod([a.shape[k] for k in axes], dtype=np.int64))
    result = reshape(transpose(a, axes + kept), (n, a.size // n))
    while n > 1:  # half by half, so that the depth is log n
        half = n // 2
        product = result[:half] * result[half:2 * half]
        result = concatenate([product, result[2 * half:]]) if n % 2 else product
        n = result.shape[0]
    return reshape(result, shape)


def var(a: ArrayLike, axis: Axis = None, ddof: float = 0, keepdims: bool = False) -> Expr:
    """The variance over all elements, or over one or more axes, with divisor n - ddof."""
    a = constant(a)
    n = int(np.prod([a.shape[k] for k in _axes(a, axis, "var")], dtype=np.int64))
    if ddof >= n:
        raise ArgumentError(f"var: ddof {ddof} of {n} elements; expected less than their number")
    return mean(square(a - mean(a, axis, True)), axis, keepdims) * (n / (n - ddof))


def std(a: ArrayLike, axis: Axis = None, ddof: float = 0, keepdims: bool = False) -> Expr:
    """The standard deviation, the root of :func:`var`."""
    return sqrt(var(a, axis, ddof, keepdims))


def average(a: ArrayLike, axis: Axis = None, weights: Optional[ArrayLike] = None, keepdims: bool = False) -> Expr:
    """The mean with weights, of the shape of `a`, or of one for each element of one axis."""
    a = constant(a)
    if weights is None:
        return mean(a, axis, keepdims)
    w = constant(weights)
    if w.shape != a.shape:
        axes = _axes(a, axis, "average")
        if axis is None or len(axes) != 1 or w.shape != (a.shape[axes[0]],):
            raise ShapeError(f"average: weights of shape {w.shape} for an expression of shape {a.shape}; expected the same "
                             "shape, or one weight for each element of one axis")
        w = reshape(w, tuple(n if k == axes[0] else 1 for k, n in enumerate(a.shape)))
        return sum(a * w, axis, keepdims) / sum(w)
    return sum(a * w, axis, keepdims) / sum(w, axis, keepdims)


# ---- products


def _contract(terms: list[tuple[str, Expr]], kept: set[str]) -> tuple[str, Expr]:
    """The product of two terms, summed over the letters that are not kept."""
    (names_a, a), (names_b, b) = (_sum_out(names, e, kept | set(other)) for (names, e), other in
                                  zip(terms, (terms[1][0], terms[0][0])))
    size = dict(zip(names_a + names_b, a.shape + b.shape))
    batch = [k for k in names_a if k in names_b and k in kept]
    inner_ = [k for k in names_a if k in names_b and k not in kept]
    rows, columns = [k for k in names_a if k not in names_b], [k for k in names_b if k not in names_a]
    count = [int(np.prod([size[k] for k in group], dtype=np.int64)) for group in (batch, rows, inner_, columns)]
    a = transpose(a, [names_a.index(k) for k in batch + rows + inner_])
    b = transpose(b, [names_b.index(k) for k in batch + inner_ + columns])
    names = "".join(batch + rows + columns)
    if not inner_:
        product = reshape(a, (count[0], count[1], 1)) * reshape(b, (count[0], 1, count[3]))
    elif not batch:
        product = matmul(reshape(a, (count[1], count[2]) if rows else (count[2],)),
                         reshape(b, (count[2], count[3]) if columns else (count[2],)))
    else:
        product = matmul(reshape(a, (count[0], count[1], count[2])), reshape(b, (count[0], count[2], count[3])))
    if len(names) > 4:
        raise ShapeError(f"einsum: the product {names_a!r} by {names_b!r} has {len(names)} axes, and expressions have at most "
                         "4; merge axes by reshape, or multiply in another order")
    return names, reshape(product, tuple(size[k] for k in names))


def _sum_out(names: str, e: Expr, kept: set[str]) -> tuple[str, Expr]:
    """A term without repeated letters, summed over its letters that are not kept."""
    for k in sorted(set(names)):
        while names.count(k) > 1:
            first, second = (i for i, other in enumerate(names) if other == k and names[:i].count(k) < 2)
            e = diagonal(e, 0, first, second)
            names = names[:first] + names[first + 1:second] + names[second + 1:] + k
    gone = tuple(i for i, k in enumerate(names) if k not in kept)
    return "".join(k for k in names if k in kept), sum(e, gone) if gone else e


def einsum(subscripts: str, *operands: ArrayLike, optimize: Any = None) -> Expr:
    """Einstein's summation, of any number of operands: ``einsum("i,ij,j", s, J, s)``.

    Pairs of operands are multiplied in the order that keeps intermediate results small, so `optimize` is ignored.

    Raises
    ------
    ArgumentError
        The subscripts are no text, or have an ellipsis.
    ShapeError
        The subscripts do not fit the operands, or an intermediate result has more than 4 axes.
    """
    if not isinstance(subscripts, str) or "." in subscripts:
        raise ArgumentError("einsum: expected subscripts as a text with a letter for each axis, such as 'ij,j->i', without '...'")
    left, arrow, out = subscripts.replace(" ", "").partition("->")
    names = left.split(",")
    if not arrow:
        out = "".join(sorted(k for k in set(left) - {","} if left.count(k) == 1))
    inputs = [constant(operand) for operand in operands]
    if len(names) != len(inputs) or any(len(k) != e.ndim for k, e in zip(names, inputs)):
        raise ShapeError(f"einsum: subscripts {subscripts!r} for operands of the shapes {[e.shape for e in inputs]}")
    size: dict[str, int] = {}
    for k, n in ((k, n) for name, e in zip(names, inputs) for k, n in zip(name, e.shape)):
        if size.setdefault(k, n) != n:
            raise ShapeError(f"einsum: the axis {k!r} has {size[k]} and {n} elements")
    if len(set(out)) != len(out) or not set(out) <= set(size):
        raise ShapeError(f"einsum: subscripts {subscripts!r}: each letter of the result must be one of the operands', once")
    terms = list(zip(names, inputs))
    while len(terms) > 1:
        def cost(pair: tuple[int, int]) -> tuple[float, int]:
            other = set(out).union(*(t[0] for i, t in enumerate(terms) if i not in pair))
            result = (set(terms[pair[0]][0]) | set(terms[pair[1]][0])) & other
            return float(np.prod([size[k] for k in result], dtype=np.float64)), len(result)

        i, j = min(((i, j) for j in range(len(terms)) for i in range(j)), key=cost)
        rest = [t for k, t in enumerate(terms) if k not in (i, j)]
        kept = set(out).union(*(t[0] for t in rest))
        terms = rest + [_contract([terms[i], terms[j]], kept)]
    name, e = _sum_out(*terms[0], set(out))
    return transpose(e, [name.index(k) for k in out])


def tensordot(a: ArrayLike, b: ArrayLike, axes: Any = 2) -> Expr:
    """The product summed over the last `axes` of `a` and the first of `b`, or over two lists of axes."""
    a, b = constant(a), constant(b)
    if isinstance(axes, (int, np.integer)):
        if not 0 <= axes <= min(a.ndim, b.ndim):
            raise ShapeError(f"tensordot: {axes} axes of expressions of the shapes {a.shape} and {b.shape}")
        axes = (list(range(a.ndim - axes, a.ndim)), list(range(axes)))
    pairs = [[k] if isinstance(k, (int, np.integer)) else list(k) for k in axes]
    if len(pairs[0]) != len(pairs[1]) or any(not -e.ndim <= k < e.ndim for e, ks in zip((a, b), pairs) for k in ks):
        raise ShapeError(f"tensordot: axes {axes} of expressions of the shapes {a.shape} and {b.shape}")
    names_a = list(string.ascii_lowercase[:a.ndim])
    names_b = list(string.ascii_uppercase[:b.ndim])
    for k, l in zip(*pairs):
        names_b[l] = names_a[k]
    shared = {names_a[k] for k in pairs[0]}
    out = [k for k in names_a + names_b if k not in shared]
    return einsum(f"{''.join(names_a)},{''.join(names_b)}->{''.join(out)}", a, b)


def outer(a: ArrayLike, b: ArrayLike) -> Expr:
    """All products a_i b_j of the elements of two expressions, which are made flat."""
    a, b = constant(a), constant(b)
    return reshape(a, (a.size, 1)) * reshape(b, (1, b.size))


def inner(a: ArrayLike, b: ArrayLike) -> Expr:
    """The product summed over the last axes; for vectors as ``@``."""
    a, b = constant(a), constant(b)
    return a * b if 0 in (a.ndim, b.ndim) else tensordot(a, b, (a.ndim - 1, b.ndim - 1))


# ---- elements in another place


def broadcast_to(a: ArrayLike, shape: Any) -> Expr:
    """The elements repeated along axes of one element, and along new first axes."""
    a = constant(a)
    sizes = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(int(n) for n in shape)
    try:
        fits = np.broadcast_shapes(a.shape, sizes) == sizes
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(f"broadcast_to: an expression of shape {a.shape} does not broadcast to {sizes}")
    a = reshape(a, (1,) * (len(sizes) - a.ndim) + a.shape)
    for k, n in enumerate(sizes):
        if a.shape[k] != n:
            a = _take(a, np.zeros(n, dtype=np.int64), k)
    return a


def _move(a: Expr, move: Callable[[NDArray[Any]], NDArray[Any]]) -> Expr:
    """The elements that `move` takes of an array with the same shape."""
    places = move(np.arange(a.size).reshape(a.shape))
    return reshape(_take(a.ravel(), places.ravel(), 0), places.shape)


def roll(a: ArrayLike, shift: Any, axis: Any = None) -> Expr:
    """The elements moved along one or more axes (None: along the flat expression), those at the end to the start."""
    a = constant(a)
    if isinstance(axis, (int, np.integer)) and isinstance(shift, (int, np.integer)):
        k = _axes(a, axis, "roll")[0]
        return _take(a, np.roll(np.arange(a.shape[k]), shift), k)
    _axes(a, axis, "roll")
    return _move(a, lambda places: np.roll(places, shift, axis))


def flip(a: ArrayLike, axis: Axis = None) -> Expr:
    """The elements in reverse along all axes, or some."""
    a = constant(a)
    for k in _axes(a, axis, "flip"):
        a = _take(a, np.arange(a.shape[k])[::-1], k)
    return a


def diff(a: ArrayLike, n: int = 1, axis: int = -1) -> Expr:
    """Differences of neighbours along an axis, `n` times."""
    a = constant(a)
    k = _axes(a, axis, "diff")[0]
    if not 0 <= n < a.shape[k]:
        raise ShapeError(f"diff: {n} times along an axis of {a.shape[k]} elements leaves none")
    before = (slice(None),) * k
    for _ in range(n):
        a = a[before + (slice(1, None),)] - a[before + (slice(None, -1),)]
    return a


def pad(a: ArrayLike, pad_width: Any, mode: Any = "constant", constant_values: float = 0.0) -> Expr:
    """The expression within a frame: of one number, or by the modes "edge", "wrap", "reflect" and "symmetric"."""
    a = constant(a)
    if mode in ("edge", "wrap", "reflect", "symmetric"):
        return _move(a, lambda places: np.pad(places, pad_width, mode))
    if mode != "constant" or np.ndim(constant_values) != 0:
        raise ArgumentError(f"pad: mode {mode!r}; expected 'constant' with one number, 'edge', 'wrap', 'reflect' or 'symmetric'")
    widths = np.broadcast_to(np.asarray(pad_width), (a.ndim, 2))
    if widths.dtype.kind not in "iu" or (widths < 0).any():
        raise ArgumentError(f"pad: expected widths of 0 or more; found {pad_width}")
    for k, sides in enumerate(widths):
        frames = [np.full(a.shape[:k] + (int(n),) + a.shape[k + 1:], float(constant_values)) for n in sides]
        a = concatenate([frames[0], a, frames[1]], k)
    return a


def tile(a: ArrayLike, reps: Any) -> Expr:
    """The expression repeated along each axis as often as `reps` says."""
    return _move(constant(a), lambda places: np.tile(places, reps))


def repeat(a: ArrayLike, repeats: Any, axis: Optional[int] = None) -> Expr:
    """Each element repeated, along an axis (None: of the flat expression)."""
    a = constant(a)
    a, k = (a.ravel(), 0) if axis is None else (a, _axes(a, axis, "repeat")[0])
    return _take(a, np.repeat(np.arange(a.shape[k]), repeats), k)


def _triangle(name: str) -> Callable[..., Expr]:
    def triangle(a: ArrayLike, k: int = 0) -> Expr:
        a = constant(a)
        if a.ndim < 2:
            raise ShapeError(f"{name}: expected a matrix; found the shape {a.shape}")
        return where(getattr(np, name)(np.ones(a.shape[-2:]), k), a, 0.0)

    triangle.__name__ = triangle.__qualname__ = name
    return triangle


triu, tril = _triangle("triu"), _triangle("tril")
triu.__doc__ = "The matrix with zeros below diagonal k."
tril.__doc__ = "The matrix with zeros above diagonal k."


def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Expr:
    """The diagonal of two axes, as the last axis."""
    a = constant(a)
    if a.ndim < 2 or len({k % a.ndim for k in (axis1, axis2)}) < 2:
        raise ShapeError(f"diagonal: axes {axis1} and {axis2} of an expression of shape {a.shape}")
    return _move(a, lambda places: places.diagonal(offset, axis1, axis2))


def trace(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Expr:
    """The sum of the diagonal."""
    return sum(diagonal(a, offset, axis1, axis2), -1)


def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> Expr:
    """Two axes exchanged."""
    a = constant(a)
    order = list(range(a.ndim))
    k, l = (_axes(a, axis, "swapaxes")[0] for axis in (axis1, axis2))
    order[k], order[l] = l, k
    return transpose(a, order)


def _hstack(parts: Sequence[ArrayLike]) -> Expr:
    inputs = [reshape(e, (1,)) if e.ndim == 0 else e for e in map(constant, parts)]
    return concatenate(inputs, 0 if inputs[0].ndim == 1 else 1)


def _vstack(parts: Sequence[ArrayLike]) -> Expr:
    return concatenate([reshape(e, (1, e.size)) if e.ndim < 2 else e for e in map(constant, parts)])


# ---- what NumPy finds

_UFUNCS.update({
    **{name: _comparison(name) for name in ("greater", "greater_equal", "less", "less_equal", "equal", "not_equal")},
    "logical_and": _and, "logical_or": _or, "logical_not": _not, "logical_xor": _xor,
    "bitwise_and": _and, "bitwise_or": _or, "invert": _not, "bitwise_xor": _xor,
    "exp2": exp2, "log2": log2, "log10": log10, "expm1": expm1, "cosh": cosh, "sinh": sinh, "arctan": arctan, "sign": sign,
    "floor": floor, "ceil": _floor_like("ceil", np.ceil), "trunc": _floor_like("trunc", np.trunc),
    "rint": _floor_like("rint", np.rint), "reciprocal": lambda a: _binary("div", 1.0, a),
})
_FUNCTIONS.update({
    "einsum": einsum, "outer": outer, "inner": inner, "tensordot": tensordot, "prod": prod, "var": var,
    "std": std, "average": average, "roll": roll, "diff": diff, "flip": flip, "pad": pad, "tile": tile, "repeat": repeat,
    "triu": triu, "tril": tril, "trace": trace, "diagonal": diagonal, "swapaxes": swapaxes, "broadcast_to": broadcast_to,
    "hstack": _hstack, "vstack": _vstack, "matmul": matmul,
})
_REFUSED.update({
    "sort": "order statistics have no derivative; max and min work", "argsort": "use max, min or softmax",
    "argmax": "use max or softmax", "argmin": "use min or softmax", "median": "use mean",
    "nonzero": "its shape depends on the state; sum the comparison, or use where",
    "cumprod": "use exp of cumsum of logs, or prod of slices",
    "round": "use rint for whole numbers, of functions of one variable each",
    "arcsin": "multiply one-hot variables by a table of its values: (a * table).sum(-1)",
    "arccos": "multiply one-hot variables by a table of its values: (a * table).sum(-1)",
    "tan": "use sin(a) / cos(a)", "arctan2": "use arctan of the ratio, of functions of one variable each",
    "mod": "use a - m * floor(a / m)", "remainder": "use a - m * floor(a / m)", "floor_divide": "use floor(a / b)",
    "isnan": "use where with a condition on what makes a NaN, such as a > 0 for log(a)", "any": "use max of the comparison",
    "all": "use min of the comparison", "norm": "use sqrt of sum of squares",
    "det": "use operation('masked_logdet', s, A)", "inv": "use operation('masked_quad_inverse', s, A, y)",
    "solve": "use operation('masked_quad_inverse', s, A, y)", "kron": "use einsum and reshape",
    "convolve": "use conv2d of an image of one row",
})

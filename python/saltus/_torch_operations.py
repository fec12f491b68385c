# SPDX-License-Identifier: MIT
"""PyTorch's operations on formulas.

A module works on a batch, axis 0 of its input; a formula is about one state. So a tensor of the module
is kept as an expression without that axis, and operations that mix the states of a batch are refused.
PyTorch itself is not needed here.
"""

from __future__ import annotations

import itertools
import math
import operator
from typing import Any, Callable, NamedTuple, Optional, Sequence

import numpy as np

from . import _formula as sal
from . import _formula_numpy as elements
from ._formula import Expr


class CannotTurn(Exception):
    """Why an operation cannot become part of a formula."""


# ---- values


class BatchSize:
    """The size of the batch axis. It has no number, so that no operation can depend on it."""

    def __repr__(self) -> str:
        return "the size of the batch"


_BATCH = BatchSize()


class Tensor:
    """A tensor of the module: an expression that lacks the batch axis if `batched`.

    `array` has the numbers of constants, in their own type, for use as indices.
    """

    __slots__ = ("expr", "batched", "array")

    def __init__(self, expr: Expr, batched: bool, array: Optional[np.ndarray] = None):
        self.expr, self.batched, self.array = expr, batched, array

    @property
    def shape(self) -> tuple[Any, ...]:
        """Its shape in the module."""
        return ((_BATCH,) if self.batched else ()) + self.expr.shape

    @property
    def ndim(self) -> int:
        """Its rank in the module."""
        return self.expr.ndim + self.batched

    def like(self, expr: Expr) -> "Tensor":
        """Another expression with or without a batch axis, as here."""
        return Tensor(expr, self.batched)


class Labels(Tensor):
    """Integer labels of the state: their numbers as an expression, and the same labels one-hot, with one more axis."""

    __slots__ = ("one_hot",)

    def __init__(self, one_hot: Expr, batched: bool):
        super().__init__(sal.matmul(one_hot, np.arange(one_hot.shape[-1])), batched)
        self.one_hot = one_hot


class Condition:
    """Where something holds: where an expression is not 0, or with `negated` where it is 0."""

    __slots__ = ("expr", "batched", "negated")

    def __init__(self, expr: Expr, batched: bool, negated: bool = False):
        self.expr, self.batched, self.negated = expr, batched, negated

    shape, ndim = Tensor.shape, Tensor.ndim

    def numbers(self) -> Tensor:
        """1 where it holds, else 0."""
        return Tensor(sal.where(self.expr, 1 - self.negated, self.negated), self.batched)


def numbers_of(tensor: Any) -> np.ndarray:
    """The numbers of a torch tensor, in its own type if NumPy has it."""
    tensor = tensor.detach().cpu()
    try:
        return tensor.numpy()
    except TypeError:  # bfloat16
        return tensor.float().numpy()


def first_real(torch: Any, module: Any) -> Any:
    """A tensor of real numbers of the module, or None."""
    attributes = (value for part in module.modules() for value in vars(part).values())
    return next((t for t in itertools.chain(module.parameters(), module.buffers(), attributes)
                 if isinstance(t, torch.Tensor) and t.is_floating_point()), None)


def constant_tensor(tensor: Any) -> Tensor:
    """The numbers of a torch tensor as a constant."""
    array = numbers_of(tensor)
    if array.dtype.kind == "c":
        raise CannotTurn("complex numbers")
    return Tensor(sal.constant(array), False, array)


def mixes(what: str) -> CannotTurn:
    return CannotTurn(f"{what} mixes the states of a batch (axis 0)")


def axis_of(x: Tensor, dim: int, what: str, rank: Optional[int] = None) -> int:
    """The axis of the expression that is axis `dim` of a tensor."""
    rank = x.ndim if rank is None else rank
    if not -rank <= dim < rank:
        raise CannotTurn(f"{what}: there is no axis {dim} in the shape {x.shape}")
    axis = dim % rank - x.batched
    if axis < 0:
        raise mixes(f"{what} along axis {dim}")
    return axis


def axes_of(x: Tensor, dim: Any, what: str) -> Any:
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        if x.batched:
            raise mixes(f"{what} over all axes")
        return None
    return tuple(axis_of(x, d, what) for d in (dim if isinstance(dim, (tuple, list)) else [dim]))


def _aligned(what: str, *parts: Any) -> tuple[Any, ...]:
    """Expressions or numbers that broadcast as the tensors do, and at the end whether there is a batch."""
    wholes = [x for x in parts if isinstance(x, (Tensor, Condition)) and x.batched]
    rank = wholes[0].ndim if wholes else 0

    def fitted(x: Any) -> Any:
        if not isinstance(x, (Tensor, Condition)):
            return x
        if not wholes or (x.batched and x.ndim == rank) or (not x.batched and x.ndim < rank):
            return x.expr
        if x.batched or x.ndim > rank or x.expr.shape[0] != 1:
            raise mixes(f"{what} of the shapes " + " and ".join(str(y.shape) for y in parts if hasattr(y, "shape")))
        return sal.reshape(x.expr, x.expr.shape[1:])

    return (*map(fitted, parts), bool(wholes))


# ---- operations, by PyTorch's names: functions and methods of tensors, with PyTorch's arguments. Nodes of torch.export
# are of the namespace aten, mostly with the same names and arguments; "aten.NAME" is for those with others.

OPERATIONS: dict[str, Callable[..., Any]] = {}

# those whose result may share memory with their first argument
ALIASES = {"view", "reshape", "contiguous", "flatten", "unflatten", "squeeze", "unsqueeze", "transpose", "swapaxes",
           "swapdims", "t", "permute", "movedim", "moveaxis", "split", "chunk", "unbind", "select", "narrow", "diagonal",
           "ravel", "view_as", "reshape_as", "expand_as", "getitem", "float", "double", "to", "type_as", "expand",
           "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout", "pos", "positive"}


def turns(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Note a function as the way to turn operations with these names."""

    def note(function: Callable[..., Any]) -> Callable[..., Any]:
        OPERATIONS.update((name, function) for name in names)
        return function

    return note


def _elementwise(function: Callable[[Any], Expr]) -> Callable[..., Tensor]:
    def turned(input: Tensor, inplace: bool = False) -> Tensor:
        return input.like(function(input.expr))

    return turned


OPERATIONS.update((_name, _elementwise(_function)) for _name, _function in {
    "exp": sal.exp, "log": sal.log, "log1p": sal.log1p, "sin": sal.sin, "cos": sal.cos, "tanh": sal.tanh,
    "erf": sal.erf, "sqrt": sal.sqrt, "square": sal.square, "abs": sal.abs_, "absolute": sal.abs_,
    "relu": sal.relu, "sigmoid": sal.sigmoid, "lgamma": sal.lgamma, "neg": operator.neg,
    "negative": operator.neg, "pos": operator.pos, "positive": operator.pos, "expm1": lambda e: sal.exp(e) - 1,
    "reciprocal": lambda e: 1 / e, "rsqrt": lambda e: 1 / sal.sqrt(e), "silu": sal.silu,
    "mish": lambda e: e * sal.tanh(sal.softplus(e)),
    "logsigmoid": lambda e: -sal.softplus(-e), "log_sigmoid": lambda e: -sal.softplus(-e),
    "softsign": lambda e: e / (1 + sal.abs_(e)), "relu6": lambda e: sal.clip(e, 0, 6),
    "hardswish": lambda e: e * sal.clip(e + 3, 0, 6) / 6, "hardsigmoid": lambda e: sal.clip(e + 3, 0, 6) / 6,
    "tanhshrink": lambda e: e - sal.tanh(e), "log2": elements.log2, "log10": elements.log10, "exp2": elements.exp2,
    "sinh": elements.sinh, "cosh": elements.cosh, "alias": operator.pos,
    "sign": lambda e: sal.where(sal.relu(e), 1.0, 0.0) - sal.where(sal.relu(-e), 1.0, 0.0),
    "selu": lambda e: 1.0507009873554804934193349852946 * sal.elu(e, 1.6732632423543772848170429916717)}.items())


def _broadcast(function: Callable[[Any, Any], Expr], what: str) -> Callable[..., Tensor]:
    def turned(input: Any, other: Any, *, alpha: float = 1, rounding_mode: Optional[str] = None) -> Tensor:
        if rounding_mode is not None:
            raise CannotTurn(f"rounding_mode={rounding_mode!r}")
        a, b, batched = _aligned(what, input, other)
        return Tensor(function(a, b if alpha == 1 else alpha * b), batched)

    return turned


for _names, _function in ((("add", "iadd"), operator.add), (("sub", "subtract", "isub"), operator.sub),
                          (("mul", "multiply", "imul"), operator.mul),
                          (("div", "divide", "true_divide", "truediv", "itruediv"), operator.truediv),
                          (("minimum",), sal.minimum), (("maximum",), sal.maximum),
                          (("rsub",), lambda a, b: b - a), (("logaddexp",), np.logaddexp)):
    for _name in _names:
        OPERATIONS[_name] = _broadcast(_function, _name)


def _compare(what: str, difference: Callable[[Any, Any], Expr], negated: bool) -> Callable[..., Condition]:
    def turned(input: Any, other: Any) -> Condition:
        a, b, batched = _aligned(what, input, other)
        return Condition(difference(a, b), batched, negated)

    return turned


for _names, _function, _negated in ((("gt", "greater"), lambda a, b: sal.relu(a - b), False),
                                    (("le", "less_equal"), lambda a, b: sal.relu(a - b), True),
                                    (("lt", "less"), lambda a, b: sal.relu(b - a), False),
                                    (("ge", "greater_equal"), lambda a, b: sal.relu(b - a), True),
                                    (("ne", "not_equal"), operator.sub, False), (("eq",), operator.sub, True)):
    for _name in _names:
        OPERATIONS[_name] = _compare(_name, _function, _negated)


def _condition(x: Any, what: str) -> Condition:
    """A condition, or a tensor of truths of the module as one."""
    if isinstance(x, Tensor) and x.array is not None and x.array.dtype.kind == "b":
        return Condition(x.expr, x.batched)
    if not isinstance(x, Condition):
        raise CannotTurn(f"{what}: a condition that is no comparison")
    return x


def _logical(what: str, function: Callable[[Any, Any], Expr]) -> Callable[..., Condition]:
    def turned(input: Any, other: Any) -> Condition:
        a, b, batched = _aligned(what, *(_condition(x, what).numbers() for x in (input, other)))
        return Condition(function(a, b), batched)

    return turned


OPERATIONS.update((_name, _logical(_name, operator.mul)) for _name in ("logical_and", "bitwise_and", "and", "__and__"))
OPERATIONS.update((_name, _logical(_name, operator.add)) for _name in ("logical_or", "bitwise_or", "or", "__or__"))


@turns("logical_not", "bitwise_not", "invert")
def _not(input: Any) -> Condition:
    condition = _condition(input, "not")
    return Condition(condition.expr, condition.batched, not condition.negated)


@turns("where")
def _where(condition: Any, input: Any, other: Any) -> Tensor:
    if isinstance(input, Condition):  # x.where(condition, y)
        condition, input = input, condition
    known = _condition(condition, "where")
    test, a, b, batched = _aligned("where", known, input, other)
    return Tensor(sal.where(test, b, a) if known.negated else sal.where(test, a, b), batched)


@turns("masked_fill")
def _masked_fill(input: Tensor, mask: Any, value: Any) -> Tensor:
    return _where(_condition(mask, "masked_fill"), value, input)


# those that take conditions
CONDITIONAL = {OPERATIONS[_name] for _name in ("logical_and", "bitwise_and", "and", "__and__", "logical_or", "bitwise_or", "or",
                                               "__or__", "logical_not", "where", "masked_fill")}


@turns("pow", "ipow")
def _pow(input: Any, exponent: Any) -> Tensor:
    if isinstance(exponent, Tensor):
        if isinstance(input, Tensor) or input <= 0:
            raise CannotTurn("a power that is a tensor, of a base that is not a positive number")
        return exponent.like(sal.exp(exponent.expr * math.log(input)))
    return input.like(input.expr ** exponent)


@turns("softplus")
def _softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    if threshold < 20:  # it is the identity where beta * x is above it
        raise CannotTurn(f"threshold={threshold}")
    return input.like(sal.softplus(input.expr) if beta == 1 else sal.softplus(input.expr * beta) / beta)


@turns("gelu")
def _gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    e = input.expr
    if approximate == "none":
        return input.like(sal.gelu(e))
    return input.like(0.5 * e * (1 + sal.tanh(math.sqrt(2 / math.pi) * (e + 0.044715 * e ** 3))))


@turns("elu")
def _elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    return input.like(sal.elu(input.expr, alpha))


@turns("prelu")
def _prelu(input: Tensor, weight: Tensor) -> Tensor:
    slope = sal.reshape(weight.expr, (-1,) + (1,) * max(input.ndim - 2, 0) if weight.expr.size > 1 else ())
    return input.like(sal.relu(input.expr) - slope * sal.relu(-input.expr))


@turns("celu")
def _celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    return input.like(alpha * sal.elu(input.expr / alpha))


@turns("rrelu")
def _rrelu(input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False,
           inplace: bool = False) -> Tensor:
    if training:
        raise CannotTurn("it draws random numbers, training=True")
    return _leaky_relu(input, (lower + upper) / 2)


@turns("threshold", "_threshold")
def _threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    return input.like(sal.where(sal.relu(input.expr - threshold), input.expr, value))


@turns("hardshrink")
def _hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    return input.like(sal.where(sal.relu(sal.abs_(input.expr) - lambd), input.expr, 0.0))


@turns("softshrink")
def _softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    return input.like(sal.relu(input.expr - lambd) - sal.relu(-input.expr - lambd))


@turns("glu")
def _glu(input: Tensor, dim: int = -1) -> Tensor:
    a, b = _chunk(input, 2, dim)
    return input.like(a.expr * sal.sigmoid(b.expr))


@turns("leaky_relu")
def _leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    return input.like(sal.relu(input.expr) - negative_slope * sal.relu(-input.expr))


@turns("clamp", "clip")
def _clamp(input: Tensor, min: Optional[float] = None, max: Optional[float] = None) -> Tensor:
    return input.like(sal.clip(input.expr, min, max))


@turns("clamp_min")
def _clamp_min(input: Tensor, min: float) -> Tensor:
    return _clamp(input, min)


@turns("clamp_max")
def _clamp_max(input: Tensor, max: float) -> Tensor:
    return _clamp(input, None, max)


@turns("hardtanh")
def _hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    return _clamp(input, min_val, max_val)


@turns("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
def _dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    if training:
        raise CannotTurn("it draws random numbers, training=True")
    return input


# ---- operations: shapes


@turns("float", "double")
def _same_or_numbers(input: Any) -> Tensor:
    return input.numbers() if isinstance(input, Condition) else input


@turns("contiguous", "clone", "lift_fresh_copy")
def _same(input: Tensor, *, memory_format: Any = None) -> Tensor:
    return input


@turns("to", "type_as", "_to_copy")
def _to(input: Any, *targets: Any, **options: Any) -> Tensor:
    for target in targets + tuple(options.get(name) for name in ("dtype",)):
        if not getattr(target, "is_floating_point", True):
            raise CannotTurn(f"a conversion to {target}")
    return _same_or_numbers(input)


CONDITIONAL |= {_same_or_numbers, _to}


@turns("dim", "ndimension")
def _dim(input: Tensor) -> int:
    return input.ndim


@turns("size")
def _size(input: Tensor, dim: Optional[int] = None) -> Any:
    return input.shape if dim is None else input.shape[dim]


@turns("getattr")
def _getattr(input: Tensor, name: str) -> Any:
    if name in ("shape", "ndim") or isinstance(input, Extreme):
        return getattr(input, name)
    if name in ("T", "mT"):
        return _t(input) if name == "T" or input.ndim == 2 else _transpose(input, -2, -1)
    if name in ("dtype", "device"):
        return None
    raise CannotTurn(f"the attribute .{name} of a tensor")


def sizes_of(given: Sequence[Any]) -> tuple[Any, ...]:
    """Sizes that are given as arguments or as one tuple."""
    return tuple(given[0]) if len(given) == 1 and isinstance(given[0], (tuple, list)) else tuple(given)


@turns("view", "reshape", "_unsafe_view")
def reshape(input: Tensor, *shape: Any) -> Tensor:
    sizes = sizes_of(shape)
    if not input.batched:
        return input.like(sal.reshape(input.expr, sizes))
    own = sizes[1:]
    if not sizes or not (sizes[0] is _BATCH or (sizes[0] == -1 and math.prod(own) == input.expr.size)):
        raise mixes(f"a change of the shape {input.shape} to {sizes}")
    return input.like(sal.reshape(input.expr, own))


@turns("expand")
def expand(input: Tensor, *shape: Any) -> Tensor:
    """Axes of length 1 repeated; a constant may get the batch axis."""
    sizes, e = sizes_of(shape), input.expr
    batched = any(n is _BATCH for n in sizes[:1]) or (input.batched and sizes[0] == -1 and len(sizes) == input.ndim)
    if any(n is _BATCH for n in sizes[1:]) or (input.batched and (not batched or len(sizes) != input.ndim)):
        raise mixes(f"a change of the shape {input.shape} to {sizes}")
    if batched and not input.batched and input.ndim == len(sizes):
        if e.shape[0] != 1:
            raise mixes(f"a change of the shape {input.shape} to {sizes}")
        e = sal.reshape(e, e.shape[1:])
    own = sizes[batched:]
    before = (1,) * (len(own) - e.ndim) + e.shape
    whole = tuple(old if new == -1 else new for old, new in zip(before, own))
    return Tensor(sal.reshape(e, before) * np.ones(whole), batched)


@turns("flatten")
def _flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    if input.batched and start_dim == 0 and input.expr.size == 1:
        return input.like(sal.reshape(input.expr, ()))
    start, end = axis_of(input, start_dim, "flatten"), axis_of(input, end_dim, "flatten")
    shape = input.expr.shape
    return input.like(sal.reshape(input.expr, shape[:start] + (math.prod(shape[start:end + 1]),) + shape[end + 1:]))


@turns("unflatten")
def _unflatten(input: Tensor, dim: int, sizes: Sequence[int], *_: Any) -> Tensor:
    at, shape = axis_of(input, dim, "unflatten"), input.expr.shape
    return input.like(sal.reshape(input.expr, shape[:at] + tuple(sizes) + shape[at + 1:]))


@turns("squeeze")
def _squeeze(input: Tensor, dim: Any = None) -> Tensor:
    shape = input.expr.shape
    axes = range(len(shape)) if dim is None else axes_of(input, dim, "squeeze")
    return input.like(sal.reshape(input.expr, tuple(n for k, n in enumerate(shape) if k not in axes or n != 1)))


@turns("unsqueeze")
def _unsqueeze(input: Tensor, dim: int) -> Tensor:
    at, shape = axis_of(input, dim, "unsqueeze", input.ndim + 1), input.expr.shape
    return input.like(sal.reshape(input.expr, shape[:at] + (1,) + shape[at:]))


@turns("view_as", "reshape_as")
def _view_as(input: Tensor, other: Tensor) -> Tensor:
    return reshape(input, other.shape)


@turns("ravel")
def _ravel(input: Tensor) -> Tensor:
    return _flatten(input)


@turns("expand_as")
def _expand_as(input: Tensor, other: Tensor) -> Tensor:
    return expand(input, other.shape)


@turns("transpose", "swapaxes", "swapdims")
def _transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    a, b = axis_of(input, dim0, "transpose"), axis_of(input, dim1, "transpose")
    order = list(range(input.expr.ndim))
    order[a], order[b] = order[b], order[a]
    return input.like(sal.transpose(input.expr, order))


@turns("t")
def _t(input: Tensor) -> Tensor:
    if input.batched and input.ndim > 1:
        raise mixes("the transpose")
    return input.like(sal.transpose(input.expr))


@turns("permute")
def _permute(input: Tensor, *dims: Any) -> Tensor:
    order = [d % input.ndim for d in sizes_of(dims)]
    if input.batched and order[0] != 0:
        raise mixes("permute")
    return input.like(sal.transpose(input.expr, [d - input.batched for d in order[input.batched:]]))


@turns("movedim", "moveaxis")
def _movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    given = [tuple(d % input.ndim for d in ((dims,) if isinstance(dims, int) else dims)) for dims in (source, destination)]
    order = [d for d in range(input.ndim) if d not in given[0]]
    for to, of in sorted(zip(given[1], given[0])):
        order.insert(to, of)
    return _permute(input, order)


@turns("diagonal")
def _diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    return input.like(elements.diagonal(input.expr, offset, *(axis_of(input, d, "diagonal") for d in (dim1, dim2))))


@turns("flip")
def _flip(input: Tensor, *dims: Any) -> Tensor:
    return input.like(elements.flip(input.expr, axes_of(input, sizes_of(dims), "flip")))


@turns("repeat")
def _repeat(input: Tensor, *repeats: Any) -> Tensor:
    times = sizes_of(repeats)
    if input.batched and (len(times) != input.ndim or times[0] != 1) or any(isinstance(n, BatchSize) for n in times):
        raise mixes("repeat along axis 0")
    e, own = input.expr, times[input.batched:]
    return input.like(elements.tile(sal.reshape(e, (1,) * (len(own) - e.ndim) + e.shape), own))


@turns("repeat_interleave")
def _repeat_interleave(input: Tensor, repeats: Any, dim: Optional[int] = None, *, output_size: Any = None) -> Tensor:
    if dim is None:
        raise mixes("repeat_interleave over all axes")
    return input.like(elements.repeat(input.expr, _key(repeats), axis_of(input, dim, "repeat_interleave")))


def _together(tensors: Sequence[Tensor], what: str) -> bool:
    batched = {x.batched for x in tensors}
    if len(batched) != 1:
        raise CannotTurn(f"{what} of tensors with a batch axis and without")
    return batched.pop()


@turns("cat", "concat", "concatenate")
def _cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    batched = _together(tensors, "cat")
    return Tensor(sal.concatenate([x.expr for x in tensors], axis_of(tensors[0], dim, "cat")), batched)


@turns("stack")
def _stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    batched = _together(tensors, "stack")
    return Tensor(sal.stack([x.expr for x in tensors], axis_of(tensors[0], dim, "stack", tensors[0].ndim + 1)), batched)


def _pieces(input: Tensor, axis: int, ends: Sequence[int]) -> tuple[Tensor, ...]:
    before = (slice(None),) * axis
    return tuple(input.like(input.expr[before + (slice(a, b),)]) for a, b in zip([0] + list(ends), ends))


@turns("unbind")
def _unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    return tuple(_select(input, dim, k) for k in range(input.expr.shape[axis_of(input, dim, "unbind")]))


@turns("select")
def _select(input: Tensor, dim: int, index: Any) -> Tensor:
    return input.like(input.expr[(slice(None),) * axis_of(input, dim, "select") + (_key(index),)])


@turns("narrow")
def _narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    return _slice(input, dim, _key(start), _key(start) + length)


@turns("slice")
def _slice(input: Tensor, dim: int = 0, start: Optional[int] = None, end: Optional[int] = None, step: int = 1) -> Tensor:
    if input.batched and dim % input.ndim == 0 and not start and (end is None or end >= 2 ** 62) and step == 1:
        return input
    return input.like(input.expr[(slice(None),) * axis_of(input, dim, "slice") + (slice(start, end, step),)])


@turns("split", "split_with_sizes", "unsafe_split", "unsafe_chunk")
def _split(input: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    axis = axis_of(input, dim, "split")
    n = input.expr.shape[axis]
    if isinstance(split_size, int):
        return _pieces(input, axis, list(range(split_size, n, split_size)) + [n])
    return _pieces(input, axis, np.cumsum(split_size).tolist())


def _filled(number: float) -> tuple[Callable[..., Tensor], Callable[..., Tensor]]:
    """Tensors of one number: of the shape of another tensor, and of a given shape."""

    def made(shape: Sequence[Any]) -> Tensor:
        batched = isinstance(shape[0], BatchSize) if len(shape) else False
        return Tensor(sal.constant(np.full(tuple(shape)[batched:], number)), batched)

    return lambda input, **_: made(input.shape), lambda input, *size, **_: made(sizes_of(size))


for _name, _value in (("zeros", 0.0), ("ones", 1.0)):
    OPERATIONS[_name + "_like"], OPERATIONS["new_" + _name] = _filled(_value)


@turns("chunk")
def _chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    return _split(input, -(-input.expr.shape[axis_of(input, dim, "chunk")] // chunks), dim)


def _key(part: Any) -> Any:
    if not isinstance(part, Tensor):
        return part
    if part.array is None:
        raise CannotTurn("an index that is computed from the state or a parameter")
    return part.array if part.array.ndim else int(part.array)


@turns("getitem")
def _getitem(input: Tensor, key: Any) -> Tensor:
    keys = [_key(part) for part in (key if isinstance(key, tuple) else (key,))]
    if not input.batched:
        return input.like(input.expr[tuple(keys)])
    used = sum(1 for part in keys if part is not None and part is not Ellipsis)
    at = next((k for k, part in enumerate(keys) if part is Ellipsis), None)
    if at is not None:
        keys[at:at + 1] = [slice(None)] * (input.ndim - used)
    if not keys or not isinstance(keys[0], slice) or keys[0] != slice(None):
        raise mixes("an index of axis 0")
    return input.like(input.expr[tuple(keys[1:])])


@turns("roll")
def _roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    e = input.expr
    if dims is None or dims == ():
        raise (mixes("roll over all axes") if input.batched else CannotTurn("roll without axes"))
    for shift, dim in zip(*(value if isinstance(value, (tuple, list)) else (value,) for value in (shifts, dims))):
        axis = axis_of(input, dim, "roll")
        at, before = -shift % e.shape[axis], (slice(None),) * axis
        if at != 0:
            e = sal.concatenate([e[before + (slice(at, None),)], e[before + (slice(None, at),)]], axis)
    return input.like(e)


def _triangle(function: Callable[..., np.ndarray]) -> Callable[..., Tensor]:
    def turned(input: Tensor, diagonal: int = 0) -> Tensor:
        if input.expr.ndim < 2:
            raise mixes("a triangle of a matrix")
        return input.like(input.expr * function(np.ones(input.expr.shape[-2:]), diagonal))

    return turned


OPERATIONS.update(triu=_triangle(np.triu), tril=_triangle(np.tril))


@turns("index")
def _index(input: Tensor, indices: Sequence[Any]) -> Tensor:
    return _getitem(input, tuple(slice(None) if part is None else part for part in indices))


@turns("gather")
def _gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    at, places = axis_of(input, dim, "gather"), _key(index)
    if input.batched:
        if places.shape[0] != 1:
            raise mixes("gather with an index for each state")
        places = places[0]
    grid = np.ogrid[tuple(slice(n) for n in places.shape)]
    return input.like(input.expr[tuple(places if k == at else own for k, own in enumerate(grid))])


@turns("index_select")
def _index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    return input.like(input.expr.take(_key(index), axis_of(input, dim, "index_select")))


# ---- operations: sums and combinations


def _reduction(function: Callable[..., Expr], what: str) -> Callable[..., Tensor]:
    def turned(input: Tensor, dim: Any = None, keepdim: bool = False, *, axis: Any = None,
               dtype: Any = None) -> Tensor:
        axes = axes_of(input, axis if dim is None else dim, what)
        return input.like(function(input.expr, axes, keepdim))

    return turned


OPERATIONS.update((_name, _reduction(_function, _name)) for _name, _function in {
    "sum": sal.sum, "mean": sal.mean, "logsumexp": sal.logsumexp, "amax": sal.max, "amin": sal.min,
    "prod": elements.prod}.items())


class Extreme(NamedTuple):
    """What max and min along an axis give: the places are no function that a formula has."""

    values: Tensor
    indices: None = None


def _extreme(what: str) -> Callable[..., Any]:
    def turned(input: Tensor, dim: Any = None, keepdim: bool = False, other: Any = None) -> Any:
        if isinstance(dim, Tensor) or other is not None:
            return OPERATIONS[what + "imum"](input, dim if other is None else other)
        value = OPERATIONS["a" + what](input, dim, keepdim)
        return value if dim is None else Extreme(value)

    return turned


OPERATIONS.update(max=_extreme("max"), min=_extreme("min"))


def _spread_of(function: Callable[..., Expr], what: str) -> Callable[..., Tensor]:
    def turned(input: Tensor, dim: Any = None, unbiased: Optional[bool] = None, keepdim: bool = False, *,
               correction: Optional[float] = None) -> Tensor:
        if isinstance(dim, bool):  # x.var(unbiased)
            dim, unbiased = None, dim
        ddof = correction if correction is not None else 1 if unbiased is None else int(unbiased)
        return input.like(function(input.expr, axes_of(input, dim, what), ddof, keepdim))

    return turned


def root(e: Expr) -> Expr:
    """The square root of a sum of squares, with the gradient 0 at 0 as PyTorch has it."""
    return sal.where(e, sal.sqrt(e), 0.0)


OPERATIONS.update(var=_spread_of(elements.var, "var"),
                  std=_spread_of(lambda *args: root(elements.var(*args)), "std"))


@turns("cumsum")
def _cumsum(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    return input.like(sal.cumsum(input.expr, axis_of(input, dim, "cumsum")))


@turns("softmax", "_softmax")
def _softmax(input: Tensor, dim: int, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    return input.like(sal.softmax(input.expr, axis_of(input, dim, "softmax")))


@turns("log_softmax", "_log_softmax")
def _log_softmax(input: Tensor, dim: int, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    return input.like(input.expr - sal.logsumexp(input.expr, axis_of(input, dim, "log_softmax"), True))


@turns("softmin")
def _softmin(input: Tensor, dim: int, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    return _softmax(input.like(-input.expr), dim)


@turns("addcmul")
def _addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: float = 1) -> Tensor:
    return OPERATIONS["add"](input, OPERATIONS["mul"](OPERATIONS["mul"](tensor1, tensor2), value))


@turns("addcdiv")
def _addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: float = 1) -> Tensor:
    return OPERATIONS["add"](input, OPERATIONS["mul"](OPERATIONS["div"](tensor1, tensor2), value))


@turns("lerp")
def _lerp(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    return OPERATIONS["add"](input, OPERATIONS["mul"](OPERATIONS["sub"](end, input), weight))


# those that take the size of the batch
SIZED = {reshape, expand} | {OPERATIONS["new_" + _name] for _name in ("zeros", "ones")}

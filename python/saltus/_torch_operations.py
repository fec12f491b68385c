# SPDX-License-Identifier: MIT
"""PyTorch's operations on formulas.

A module works on a batch, axis 0 of its input; a formula is about one state. So a tensor of the module
is kept as an expression without that axis, and operations that mix the states of a batch are refused.
PyTorch itself is not needed here.
"""

from __future__ import annotations

import math
import operator
from typing import Any, Callable, Optional, Sequence

import numpy as np

from . import _formula as sal
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


def constant_tensor(tensor: Any) -> Tensor:
    """The numbers of a torch tensor as a constant."""
    array = numbers_of(tensor)
    if array.dtype.kind == "c":
        raise CannotTurn("complex numbers")
    return Tensor(sal.constant(array), False, array)


def _mixes(what: str) -> CannotTurn:
    return CannotTurn(f"{what} mixes the states of a batch (axis 0)")


def _axis(x: Tensor, dim: int, what: str, rank: Optional[int] = None) -> int:
    """The axis of the expression that is axis `dim` of a tensor."""
    rank = x.ndim if rank is None else rank
    if not -rank <= dim < rank:
        raise CannotTurn(f"{what}: there is no axis {dim} in the shape {x.shape}")
    axis = dim % rank - x.batched
    if axis < 0:
        raise _mixes(f"{what} along axis {dim}")
    return axis


def _axes(x: Tensor, dim: Any, what: str) -> Any:
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        if x.batched:
            raise _mixes(f"{what} over all axes")
        return None
    return tuple(_axis(x, d, what) for d in (dim if isinstance(dim, (tuple, list)) else [dim]))


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
            raise _mixes(f"{what} of the shapes " + " and ".join(str(y.shape) for y in parts if hasattr(y, "shape")))
        return sal.reshape(x.expr, x.expr.shape[1:])

    return (*map(fitted, parts), bool(wholes))


# ---- operations, by PyTorch's names: functions and methods of tensors, with PyTorch's arguments

OPERATIONS: dict[str, Callable[..., Any]] = {}

# those whose result may share memory with their first argument
ALIASES = {"view", "reshape", "contiguous", "flatten", "unflatten", "squeeze", "unsqueeze", "transpose", "swapaxes",
           "t", "permute", "split", "chunk", "getitem", "float", "double", "to", "type_as", "expand", "dropout", "pos",
           "positive"}


def _turns(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
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
    "hardswish": lambda e: e * sal.clip(e + 3, 0, 6) / 6,
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
                          (("minimum",), sal.minimum), (("maximum",), sal.maximum)):
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


OPERATIONS.update((_name, _logical(_name, operator.mul)) for _name in ("logical_and", "bitwise_and", "and"))
OPERATIONS.update((_name, _logical(_name, operator.add)) for _name in ("logical_or", "bitwise_or", "or"))


@_turns("logical_not", "bitwise_not", "invert")
def _not(input: Any) -> Condition:
    condition = _condition(input, "not")
    return Condition(condition.expr, condition.batched, not condition.negated)


@_turns("where")
def _where(condition: Any, input: Any, other: Any) -> Tensor:
    if isinstance(input, Condition):  # x.where(condition, y)
        condition, input = input, condition
    known = _condition(condition, "where")
    test, a, b, batched = _aligned("where", known, input, other)
    return Tensor(sal.where(test, b, a) if known.negated else sal.where(test, a, b), batched)


@_turns("masked_fill")
def _masked_fill(input: Tensor, mask: Any, value: Any) -> Tensor:
    return _where(_condition(mask, "masked_fill"), value, input)


# those that take conditions
CONDITIONAL = {OPERATIONS[_name] for _name in ("logical_and", "bitwise_and", "and", "logical_or", "bitwise_or", "or",
                                               "logical_not", "where", "masked_fill")}


@_turns("pow", "ipow")
def _pow(input: Any, exponent: Any) -> Tensor:
    if isinstance(exponent, Tensor):
        if isinstance(input, Tensor) or input <= 0:
            raise CannotTurn("a power that is a tensor, of a base that is not a positive number")
        return exponent.like(sal.exp(exponent.expr * math.log(input)))
    return input.like(input.expr ** exponent)


@_turns("softplus")
def _softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    if threshold < 20:  # it is the identity where beta * x is above it
        raise CannotTurn(f"threshold={threshold}")
    return input.like(sal.softplus(input.expr) if beta == 1 else sal.softplus(input.expr * beta) / beta)


@_turns("gelu")
def _gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    e = input.expr
    if approximate == "none":
        return input.like(sal.gelu(e))
    return input.like(0.5 * e * (1 + sal.tanh(math.sqrt(2 / math.pi) * (e + 0.044715 * e ** 3))))


@_turns("elu")
def _elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    return input.like(sal.elu(input.expr, alpha))


@_turns("prelu")
def _prelu(input: Tensor, weight: Tensor) -> Tensor:
    slope = sal.reshape(weight.expr, (-1,) + (1,) * (input.expr.ndim - 1) if weight.expr.size > 1 else ())
    return input.like(sal.relu(input.expr) - slope * sal.relu(-input.expr))


@_turns("leaky_relu")
def _leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    return input.like(sal.relu(input.expr) - negative_slope * sal.relu(-input.expr))


@_turns("clamp", "clip")
def _clamp(input: Tensor, min: Optional[float] = None, max: Optional[float] = None) -> Tensor:
    return input.like(sal.clip(input.expr, min, max))


@_turns("hardtanh")
def _hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    return _clamp(input, min_val, max_val)


@_turns("dropout")
def _dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    if training:
        raise CannotTurn("it draws random numbers, training=True")
    return input


# ---- operations: shapes


@_turns("float", "double")
def _same_or_numbers(input: Any) -> Tensor:
    return input.numbers() if isinstance(input, Condition) else input


@_turns("contiguous", "clone")
def _same(input: Tensor, *, memory_format: Any = None) -> Tensor:
    return input


@_turns("to", "type_as")
def _to(input: Any, *targets: Any, **options: Any) -> Tensor:
    for target in targets + tuple(options.get(name) for name in ("dtype",)):
        if not getattr(target, "is_floating_point", True):
            raise CannotTurn(f"a conversion to {target}")
    return _same_or_numbers(input)


CONDITIONAL |= {_same_or_numbers, _to}


@_turns("dim", "ndimension")
def _dim(input: Tensor) -> int:
    return input.ndim


@_turns("size")
def _size(input: Tensor, dim: Optional[int] = None) -> Any:
    return input.shape if dim is None else input.shape[dim]


@_turns("getattr")
def _getattr(input: Tensor, name: str) -> Any:
    if name in ("shape", "ndim"):
        return getattr(input, name)
    if name in ("T", "mT"):
        return _t(input) if name == "T" or input.ndim == 2 else _transpose(input, -2, -1)
    if name in ("dtype", "device"):
        return None
    raise CannotTurn(f"the attribute .{name} of a tensor")


def _sizes(given: Sequence[Any]) -> tuple[Any, ...]:
    """Sizes that are given as arguments or as one tuple."""
    return tuple(given[0]) if len(given) == 1 and isinstance(given[0], (tuple, list)) else tuple(given)


@_turns("view", "reshape")
def reshape(input: Tensor, *shape: Any) -> Tensor:
    sizes = _sizes(shape)
    if not input.batched:
        return input.like(sal.reshape(input.expr, sizes))
    own = sizes[1:]
    if not sizes or not (sizes[0] is _BATCH or (sizes[0] == -1 and math.prod(own) == input.expr.size)):
        raise _mixes(f"a change of the shape {input.shape} to {sizes}")
    return input.like(sal.reshape(input.expr, own))


@_turns("expand")
def expand(input: Tensor, *shape: Any) -> Tensor:
    """Axes of length 1 repeated; a constant may get the batch axis."""
    sizes, e = _sizes(shape), input.expr
    batched = any(n is _BATCH for n in sizes[:1]) or (input.batched and sizes[0] == -1 and len(sizes) == input.ndim)
    if any(n is _BATCH for n in sizes[1:]) or (input.batched and (not batched or len(sizes) != input.ndim)):
        raise _mixes(f"a change of the shape {input.shape} to {sizes}")
    if batched and not input.batched and input.ndim == len(sizes):
        if e.shape[0] != 1:
            raise _mixes(f"a change of the shape {input.shape} to {sizes}")
        e = sal.reshape(e, e.shape[1:])
    own = sizes[batched:]
    before = (1,) * (len(own) - e.ndim) + e.shape
    whole = tuple(old if new == -1 else new for old, new in zip(before, own))
    return Tensor(sal.reshape(e, before) * np.ones(whole), batched)


@_turns("flatten")
def _flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    if input.batched and start_dim == 0 and input.expr.size == 1:
        return input.like(sal.reshape(input.expr, ()))
    start, end = _axis(input, start_dim, "flatten"), _axis(input, end_dim, "flatten")
    shape = input.expr.shape
    return input.like(sal.reshape(input.expr, shape[:start] + (math.prod(shape[start:end + 1]),) + shape[end + 1:]))


@_turns("unflatten")
def _unflatten(input: Tensor, dim: int, sizes: Sequence[int], *_: Any) -> Tensor:
    at, shape = _axis(input, dim, "unflatten"), input.expr.shape
    return input.like(sal.reshape(input.expr, shape[:at] + tuple(sizes) + shape[at + 1:]))


@_turns("squeeze")
def _squeeze(input: Tensor, dim: Any = None) -> Tensor:
    shape = input.expr.shape
    axes = range(len(shape)) if dim is None else _axes(input, dim, "squeeze")
    return input.like(sal.reshape(input.expr, tuple(n for k, n in enumerate(shape) if k not in axes or n != 1)))


@_turns("unsqueeze")
def _unsqueeze(input: Tensor, dim: int) -> Tensor:
    at, shape = _axis(input, dim, "unsqueeze", input.ndim + 1), input.expr.shape
    return input.like(sal.reshape(input.expr, shape[:at] + (1,) + shape[at:]))


@_turns("transpose", "swapaxes")
def _transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    a, b = _axis(input, dim0, "transpose"), _axis(input, dim1, "transpose")
    order = list(range(input.expr.ndim))
    order[a], order[b] = order[b], order[a]
    return input.like(sal.transpose(input.expr, order))


@_turns("t")
def _t(input: Tensor) -> Tensor:
    if input.batched and input.ndim > 1:
        raise _mixes("the transpose")
    return input.like(sal.transpose(input.expr))


@_turns("permute")
def _permute(input: Tensor, *dims: Any) -> Tensor:
    order = [d % input.ndim for d in _sizes(dims)]
    if input.batched and order[0] != 0:
        raise _mixes("permute")
    return input.like(sal.transpose(input.expr, [d - input.batched for d in order[input.batched:]]))


def _together(tensors: Sequence[Tensor], what: str) -> bool:
    batched = {x.batched for x in tensors}
    if len(batched) != 1:
        raise CannotTurn(f"{what} of tensors with a batch axis and without")
    return batched.pop()


@_turns("cat", "concat", "concatenate")
def _cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    batched = _together(tensors, "cat")
    return Tensor(sal.concatenate([x.expr for x in tensors], _axis(tensors[0], dim, "cat")), batched)


@_turns("stack")
def _stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    batched = _together(tensors, "stack")
    return Tensor(sal.stack([x.expr for x in tensors], _axis(tensors[0], dim, "stack", tensors[0].ndim + 1)), batched)


def _pieces(input: Tensor, axis: int, ends: Sequence[int]) -> tuple[Tensor, ...]:
    before = (slice(None),) * axis
    return tuple(input.like(input.expr[before + (slice(a, b),)]) for a, b in zip([0] + list(ends), ends))


@_turns("split")
def _split(input: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    axis = _axis(input, dim, "split")
    n = input.expr.shape[axis]
    if isinstance(split_size, int):
        return _pieces(input, axis, list(range(split_size, n, split_size)) + [n])
    return _pieces(input, axis, np.cumsum(split_size).tolist())


@_turns("chunk")
def _chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    return _split(input, -(-input.expr.shape[_axis(input, dim, "chunk")] // chunks), dim)


def _key(part: Any) -> Any:
    if not isinstance(part, Tensor):
        return part
    if part.array is None:
        raise CannotTurn("an index that is computed from the state or a parameter")
    return part.array if part.array.ndim else int(part.array)


@_turns("getitem")
def _getitem(input: Tensor, key: Any) -> Tensor:
    keys = [_key(part) for part in (key if isinstance(key, tuple) else (key,))]
    if not input.batched:
        return input.like(input.expr[tuple(keys)])
    used = sum(1 for part in keys if part is not None and part is not Ellipsis)
    at = next((k for k, part in enumerate(keys) if part is Ellipsis), None)
    if at is not None:
        keys[at:at + 1] = [slice(None)] * (input.ndim - used)
    if not keys or not isinstance(keys[0], slice) or keys[0] != slice(None):
        raise _mixes("an index of axis 0")
    return input.like(input.expr[tuple(keys[1:])])


@_turns("roll")
def _roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    e = input.expr
    if dims is None or dims == ():
        raise (_mixes("roll over all axes") if input.batched else CannotTurn("roll without axes"))
    for shift, dim in zip(*(value if isinstance(value, (tuple, list)) else (value,) for value in (shifts, dims))):
        axis = _axis(input, dim, "roll")
        at, before = -shift % e.shape[axis], (slice(None),) * axis
        if at != 0:
            e = sal.concatenate([e[before + (slice(at, None),)], e[before + (slice(None, at),)]], axis)
    return input.like(e)


def _triangle(function: Callable[..., np.ndarray]) -> Callable[..., Tensor]:
    def turned(input: Tensor, diagonal: int = 0) -> Tensor:
        if input.expr.ndim < 2:
            raise _mixes("a triangle of a matrix")
        return input.like(input.expr * function(np.ones(input.expr.shape[-2:]), diagonal))

    return turned


OPERATIONS.update(triu=_triangle(np.triu), tril=_triangle(np.tril))


@_turns("index_select")
def _index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    return input.like(input.expr.take(_key(index), _axis(input, dim, "index_select")))


# ---- operations: sums and products


def _reduction(function: Callable[..., Expr], what: str) -> Callable[..., Tensor]:
    def turned(input: Tensor, dim: Any = None, keepdim: bool = False, *, axis: Any = None,
               dtype: Any = None) -> Tensor:
        axes = _axes(input, axis if dim is None else dim, what)
        return input.like(function(input.expr, axes, keepdim))

    return turned


OPERATIONS.update((_name, _reduction(_function, _name)) for _name, _function in {
    "sum": sal.sum, "mean": sal.mean, "logsumexp": sal.logsumexp, "amax": sal.max,
    "amin": lambda e, axes, keepdim: -sal.max(-e, axes, keepdim)}.items())


@_turns("cumsum")
def _cumsum(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    return input.like(sal.cumsum(input.expr, _axis(input, dim, "cumsum")))


@_turns("softmax")
def _softmax(input: Tensor, dim: int, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    return input.like(sal.softmax(input.expr, _axis(input, dim, "softmax")))


@_turns("log_softmax")
def _log_softmax(input: Tensor, dim: int, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    return input.like(input.expr - sal.logsumexp(input.expr, _axis(input, dim, "log_softmax"), True))


@_turns("matmul", "mm", "bmm", "mv", "dot", "imatmul")
def _matmul(input: Tensor, other: Tensor) -> Tensor:
    """A product of matrices; the batch must be rows of the first one, or a stack of matrices."""
    what = f"the matrix product of the shapes {input.shape} and {other.shape}"
    a, b, ranks = input.expr, other.expr, (input.ndim, other.ndim)
    rows = input.batched and not other.batched and ranks[0] == 2
    if (input.batched and ranks[0] < 3 and not rows) or (other.batched and ranks[1] < 3) or (rows and ranks[1] > 2):
        raise _mixes(what)
    if not other.batched and input.batched and ranks[1] > 2 or not input.batched and other.batched and ranks[0] > 2:
        raise CannotTurn(what)
    if a.ndim == 3 and b.ndim == 2:
        product = sal.reshape(sal.matmul(sal.reshape(a, (-1, a.shape[2])), b), a.shape[:2] + b.shape[1:])
    else:
        product = sal.matmul(a, b)
    return Tensor(product, input.batched or other.batched)


@_turns("addmm")
def _addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    product = _matmul(mat1, mat2)
    return OPERATIONS["add"](product.like(alpha * product.expr), input.like(beta * input.expr))


@_turns("linear")
def _linear(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None) -> Tensor:
    x, w = input.expr, weight.expr
    if weight.batched or (input.batched and x.ndim == 0):
        raise _mixes(f"linear of the shapes {input.shape} and {weight.shape}")
    if x.ndim == 1:
        result = sal.matmul(w, x)
    else:
        result = sal.matmul(sal.reshape(x, (-1, x.shape[-1])), sal.transpose(w))
        result = sal.reshape(result, x.shape[:-1] + w.shape[:1])
    return input.like(result if bias is None else result + bias.expr)


def _flat_axes(e: Expr, labels: str, groups: Sequence[str]) -> Expr:
    """The axes in the order of groups of labels, each group that has labels as one axis."""
    sizes = dict(zip(labels, e.shape))
    e = sal.transpose(e, [labels.index(label) for label in "".join(groups)])
    return sal.reshape(e, tuple(math.prod(sizes[label] for label in group) for group in groups if group))


def _contract(a: Expr, a_labels: str, b: Expr, b_labels: str, kept: str) -> tuple[Expr, str]:
    """The product of two expressions, summed over their common labels that are not kept."""
    sizes = {**dict(zip(a_labels, a.shape)), **dict(zip(b_labels, b.shape))}
    common = [label for label in a_labels if label in b_labels]
    stack, inner = ("".join(c for c in common if (c in kept) == is_kept) for is_kept in (True, False))
    left, right = (own.translate({ord(c): None for c in common}) for own in (a_labels, b_labels))
    if inner and not stack:
        product = sal.matmul(_flat_axes(a, a_labels, (left, inner)), _flat_axes(b, b_labels, (inner, right)))
    else:
        a, b = _flat_axes(a, a_labels, (stack, left, inner)), _flat_axes(b, b_labels, (stack, inner, right))
        n_stack, n_left, n_right, n_inner = (math.prod(sizes[c] for c in part) for part in (stack, left, right, inner))
        a, b = sal.reshape(a, (n_stack, n_left, n_inner)), sal.reshape(b, (n_stack, n_inner, n_right))
        product = sal.matmul(a, b) if inner else a * b
    labels = stack + left + right
    return sal.reshape(product, tuple(sizes[label] for label in labels)), labels


@_turns("einsum")
def _einsum(equation: str, *operands: Any) -> Tensor:
    tensors: Sequence[Tensor] = _sizes(operands)
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if not arrow or "." in equation or len(terms) != len(tensors) \
            or any(len(set(term)) != len(term) or len(term) != x.ndim for term, x in zip(terms, tensors)):
        raise CannotTurn(f"the equation {equation!r}")
    batch = {term[0] for term, x in zip(terms, tensors) if x.batched}
    if not batch.issubset(set(output[:1])) or any(
            (label in term) != x.batched for label in batch for term, x in zip(terms, tensors)):
        raise _mixes(f"the equation {equation!r}")
    parts = [(x.expr, term[x.batched:]) for term, x in zip(terms, tensors)]
    wanted = output[len(batch):]

    def reduced(part: tuple[Expr, str], kept: str) -> tuple[Expr, str]:
        axes = tuple(k for k, label in enumerate(part[1]) if label not in kept)
        return (sal.sum(part[0], axes) if axes else part[0]), "".join(c for c in part[1] if c in kept)

    result = parts[0]
    for k, part in enumerate(parts[1:], 1):
        later = wanted + "".join(term for _, term in parts[k + 1:])
        result = _contract(*reduced(result, later + part[1]), *reduced(part, later + result[1]), later)
    expr, labels = reduced(result, wanted)
    return Tensor(sal.transpose(expr, [labels.index(label) for label in wanted]), bool(batch))


# ---- operations: images


def _pair(value: Any) -> tuple[int, int]:
    values = (value,) * 2 if isinstance(value, int) else tuple(value) * (3 - len(value))
    return int(values[0]), int(values[1])


def _equal(value: Any, what: str) -> int:
    a, b = _pair(value)
    if a != b:
        raise CannotTurn(f"{what}={(a, b)}: unequal numbers")
    return a


def _expect_ones(**values: Any) -> None:
    for name, value in values.items():
        if value != 1 and set(_pair(value)) != {1}:
            raise CannotTurn(f"{name}={value}")


def _expect_image(input: Tensor, rank: int, what: str) -> None:
    if not input.batched or input.ndim != rank:
        raise CannotTurn(f"{what} of the shape {input.shape}; expected a batch and {rank - 1} axes")


def _extended(e: Expr, axis: int, before: int, after: int, circular: bool, value: float = 0) -> Expr:
    """An expression with more elements at the ends of an axis."""
    if before < 0 or after < 0:
        raise CannotTurn("padding by a negative number")
    n, whole = e.shape[axis], (slice(None),) * axis

    def fill(count: int, start: int) -> list[Expr]:
        if count == 0:
            return []
        if circular:
            return [e[whole + (slice(start, start + count),)]]
        return [sal.constant(np.full(e.shape[:axis] + (count,) + e.shape[axis + 1:], value))]

    parts = fill(before, n - before) + [e] + fill(after, 0)
    return e if len(parts) == 1 else sal.concatenate(parts, axis)


@_turns("pad")
def _pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: Optional[float] = None) -> Tensor:
    if mode not in ("constant", "circular"):
        raise CannotTurn(f"padding with mode={mode!r}")
    e = input.expr
    for k in range(len(pad) // 2):
        axis = _axis(input, -1 - k, "pad")
        e = _extended(e, axis, pad[2 * k], pad[2 * k + 1], mode == "circular", value or 0)
    return input.like(e)


def _padding(padding: Any, kernel: Sequence[int], stride: Any) -> tuple[int, int]:
    if not isinstance(padding, str):
        return _pair(padding)
    if padding == "same" and (any(n % 2 == 0 for n in kernel) or set(_pair(stride)) != {1}):
        raise CannotTurn("padding='same' with an even kernel or a stride")
    own = [(n - 1) // 2 if padding == "same" else 0 for n in kernel]
    return own[0], own[-1]


@_turns("conv2d")
def _conv2d(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None, stride: Any = 1, padding: Any = 0,
            dilation: Any = 1, groups: int = 1) -> Tensor:
    _expect_image(input, 4, "conv2d")
    _expect_ones(dilation=dilation, groups=groups)
    x, (height, width) = input.expr, _padding(padding, weight.expr.shape[2:], stride)
    if height != width:
        x = _extended(_extended(x, 1, height, height, False), 2, width, width, False)
        height = 0
    return input.like(sal.conv2d(x, weight.expr, None if bias is None else bias.expr, _equal(stride, "stride"), height))


@_turns("conv1d")
def _conv1d(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None, stride: Any = 1, padding: Any = 0,
            dilation: Any = 1, groups: int = 1) -> Tensor:
    _expect_image(input, 3, "conv1d")
    _expect_ones(dilation=dilation, groups=groups)
    w, more = weight.expr, _padding(padding, weight.expr.shape[2:], stride)[0]
    x = _extended(input.expr, 1, more, more, False)
    row = sal.conv2d(sal.reshape(x, (x.shape[0], 1, x.shape[1])), sal.reshape(w, w.shape[:2] + (1,) + w.shape[2:]),
                     None if bias is None else bias.expr, _pair(stride)[0], 0)
    return input.like(sal.reshape(row, (row.shape[0], row.shape[2])))


def _window(kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool) -> tuple[int, int]:
    if _pair(padding) != (0, 0) or ceil_mode:
        raise CannotTurn(f"pooling with padding={padding}, ceil_mode={ceil_mode}")
    kernel = _equal(kernel_size, "kernel_size")
    return kernel, kernel if stride is None or stride == [] else _equal(stride, "stride")


@_turns("avg_pool2d")
def _avg_pool2d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
                count_include_pad: bool = True, divisor_override: Optional[int] = None) -> Tensor:
    _expect_image(input, 4, "avg_pool2d")
    if divisor_override is not None:
        raise CannotTurn(f"divisor_override={divisor_override}")
    return input.like(sal.avg_pool2d(input.expr, *_window(kernel_size, stride, padding, ceil_mode)))


@_turns("max_pool2d")
def _max_pool2d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
                ceil_mode: bool = False, return_indices: bool = False) -> Tensor:
    _expect_image(input, 4, "max_pool2d")
    _expect_ones(dilation=dilation)
    if return_indices:
        raise CannotTurn("return_indices=True")
    return input.like(sal.max_pool2d(input.expr, *_window(kernel_size, stride, padding, ceil_mode)))


@_turns("adaptive_avg_pool2d")
def _adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    _expect_image(input, 4, "adaptive_avg_pool2d")
    height, width = input.expr.shape[1:]
    rows, columns = (output_size,) * 2 if isinstance(output_size, int) else output_size
    if (rows, columns) == (1, 1):
        return input.like(sal.mean(input.expr, (1, 2), True))
    if not rows or not columns or height % rows or width % columns or height // rows != width // columns:
        raise CannotTurn(f"output_size={(rows, columns)} of {height} x {width} pixels")
    return input.like(sal.avg_pool2d(input.expr, height // rows))


@_turns("batch_norm")
def batch_norm(input: Tensor, running_mean: Optional[Tensor], running_var: Optional[Tensor],
                weight: Optional[Tensor] = None, bias: Optional[Tensor] = None, training: bool = False,
                momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    if training or running_mean is None or running_var is None:
        raise _mixes("batch normalisation by the statistics of the batch")
    shape = (-1,) + (1,) * (input.expr.ndim - 1)
    factor = 1 / np.sqrt(running_var.array.astype(np.float64) + eps)
    result = (input.expr - sal.reshape(running_mean.expr, shape)) * factor.reshape(shape)
    result = result if weight is None else result * sal.reshape(weight.expr, shape)
    return input.like(result if bias is None else result + sal.reshape(bias.expr, shape))


@_turns("layer_norm")
def _layer_norm(input: Tensor, normalized_shape: Sequence[int], weight: Optional[Tensor] = None,
                bias: Optional[Tensor] = None, eps: float = 1e-5) -> Tensor:
    axes = tuple(_axis(input, -1 - k, "layer_norm") for k in range(len(normalized_shape)))
    centred = input.expr - sal.mean(input.expr, axes, True)
    result = centred / sal.sqrt(sal.mean(sal.square(centred), axes, True) + eps)
    result = result if weight is None else result * weight.expr
    return input.like(result if bias is None else result + bias.expr)


@_turns("group_norm")
def _group_norm(input: Tensor, num_groups: int, weight: Optional[Tensor] = None, bias: Optional[Tensor] = None,
                eps: float = 1e-5) -> Tensor:
    if not input.batched or input.expr.ndim < 1:
        raise CannotTurn(f"group_norm of the shape {input.shape}")
    groups, shape = sal.reshape(input.expr, (num_groups, -1)), (-1,) + (1,) * (input.expr.ndim - 1)
    result = sal.reshape(_layer_norm(input.like(groups), groups.shape[1:], eps=eps).expr, input.expr.shape)
    result = result if weight is None else result * sal.reshape(weight.expr, shape)
    return input.like(result if bias is None else result + sal.reshape(bias.expr, shape))


@_turns("_weight_norm")
def _weight_norm(v: Tensor, g: Tensor, dim: int = 0) -> Tensor:
    axes = tuple(k for k in range(v.expr.ndim) if k != dim)
    return v.like(v.expr * (g.expr / sal.sqrt(sal.sum(sal.square(v.expr), axes, True))))

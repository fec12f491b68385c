# SPDX-License-Identifier: MIT
"""PyTorch's products of matrices and tensors on formulas."""

from __future__ import annotations

from typing import Any, Optional, Sequence

from . import _formula as sal
from . import _formula_numpy as elements
from ._torch_operations import OPERATIONS, CannotTurn, Tensor, axis_of, mixes, sizes_of, turns


@turns("matmul", "mm", "bmm", "mv", "dot", "vdot", "imatmul")
def _matmul(input: Tensor, other: Tensor) -> Tensor:
    """A product of matrices; the batch must be rows of the first one, or a stack of matrices."""
    what = f"the matrix product of the shapes {input.shape} and {other.shape}"
    a, b, ranks = input.expr, other.expr, (input.ndim, other.ndim)
    rows = input.batched and not other.batched and ranks[0] == 2
    if (input.batched and ranks[0] < 3 and not rows) or (other.batched and ranks[1] < 3) or (rows and ranks[1] > 2):
        raise mixes(what)
    if not other.batched and input.batched and 2 < ranks[1] >= ranks[0] \
            or not input.batched and other.batched and 2 < ranks[0] >= ranks[1]:
        raise CannotTurn(what)
    return Tensor(sal.matmul(a, b), input.batched or other.batched)


@turns("bilinear")
def _bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Optional[Tensor] = None) -> Tensor:
    a, b, (n, i, j) = input1.expr, input2.expr, weight.expr.shape
    if input1.batched != input2.batched or weight.batched:
        raise mixes(f"bilinear of the shapes {input1.shape} and {input2.shape}")
    rows = sal.matmul(sal.reshape(a, (-1, i)), sal.reshape(sal.transpose(weight.expr, (1, 0, 2)), (i, n * j)))
    products = sal.reshape(rows, (-1, n, j)) * sal.reshape(b, (-1, 1, j))
    result = sal.reshape(sal.sum(products, 2), a.shape[:-1] + (n,))
    return input1.like(result if bias is None else result + bias.expr)


@turns("cdist")
def _cdist(x1: Tensor, x2: Tensor, p: float = 2.0, *_: Any, **__: Any) -> Tensor:
    differences = OPERATIONS["sub"](OPERATIONS["unsqueeze"](x1, -2), OPERATIONS["unsqueeze"](x2, -3))
    return OPERATIONS["linalg_vector_norm"](differences, p, -1)


@turns("tensordot")
def _tensordot(input: Tensor, other: Tensor, dims: Any = 2, *_: Any, **__: Any) -> Tensor:
    if isinstance(dims, int):
        dims = [list(range(input.ndim - dims, input.ndim)), list(range(dims))]
    if other.batched:
        raise mixes("tensordot by a tensor with the states")
    axes = [axis_of(input, d, "tensordot") for d in dims[0]], [axis_of(other, d, "tensordot") for d in dims[1]]
    return input.like(elements.tensordot(input.expr, other.expr, axes))


@turns("aten.tensordot")
def _aten_tensordot(input: Tensor, other: Tensor, dims_self: Sequence[int], dims_other: Sequence[int]) -> Tensor:
    return _tensordot(input, other, (dims_self, dims_other))


@turns("addmm", "baddbmm", "addmv")
def _addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    product = _matmul(mat1, mat2)
    return OPERATIONS["add"](product.like(alpha * product.expr), input.like(beta * input.expr))


@turns("linear")
def _linear(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None) -> Tensor:
    x, w = input.expr, weight.expr
    if weight.batched or (input.batched and x.ndim == 0):
        raise mixes(f"linear of the shapes {input.shape} and {weight.shape}")
    if x.ndim == 1:
        result = sal.matmul(w, x)
    else:
        result = sal.matmul(sal.reshape(x, (-1, x.shape[-1])), sal.transpose(w))
        result = sal.reshape(result, x.shape[:-1] + w.shape[:1])
    return input.like(result if bias is None else result + bias.expr)


@turns("einsum")
def _einsum(equation: str, *operands: Any) -> Tensor:
    tensors: Sequence[Tensor] = sizes_of(operands)
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if not arrow or "." in equation or len(terms) != len(tensors) \
            or any(len(term) != x.ndim for term, x in zip(terms, tensors)):
        raise CannotTurn(f"the equation {equation!r}")
    batch = {term[0] for term, x in zip(terms, tensors) if x.batched}
    if not batch.issubset(set(output[:1])) or any(
            (label in term[x.batched:]) or (label in term) != x.batched
            for label in batch for term, x in zip(terms, tensors)):
        raise mixes(f"the equation {equation!r}")
    own = ",".join(term[x.batched:] for term, x in zip(terms, tensors)) + "->" + output[len(batch):]
    return Tensor(elements.einsum(own, *[x.expr for x in tensors]), bool(batch))

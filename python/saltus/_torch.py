# SPDX-License-Identifier: MIT
"""PyTorch modules as models: by torch.fx or torch.export into a formula, or called back.

PyTorch is imported when :func:`from_torch` is called, not before.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import math
import warnings
import weakref
from typing import Any, Iterator, Optional, Sequence, Union

import numpy as np

from . import _formula as sal
from ._formula import Expr
from ._library import ArgumentError, InternalError, ShapeError, UnsupportedError
from ._model import Model
from ._run import SaltusWarning
from ._torch_operations import CannotTurn, first_real, numbers_of
from ._torch_trace import Turner

_KINKS = {"relu", "abs", "max", "maximum", "minimum", "clamp", "max_pool2d"}  # gradients differ on their kinks
_CONVERSIONS = {"float", "to", "type_as", "_to_copy"}  # operations that may round numbers to another type
_CHECKED = 4  # random states that a module is compared at, besides the lowest and the highest one


def _import_torch() -> Any:
    try:
        import torch
        import torch.fx
    except ImportError as failure:
        raise ImportError("saltus: PyTorch modules need PyTorch, which is not installed (Debian: python3-torch): "
                          f"{failure}") from failure
    return torch


# ---- calling back


@contextlib.contextmanager
def _evaluating(module: Any) -> Iterator[None]:
    """The module in evaluation mode, as in training it may be."""
    parts = [part for part in module.modules() if part.training]
    for part in parts:
        part.training = False
    try:
        yield
    finally:
        for part in parts:
            part.training = True


class _Called:
    """A module as a function of states, evaluated in its own type and place."""

    def __init__(self, torch: Any, module: Any, shape: tuple[int, ...], labels: bool = False):
        self.torch, self.module, self.shape, self.labels = torch, module, shape, labels
        first = first_real(torch, module)
        self.dtype = torch.get_default_dtype() if first is None else first.dtype
        self.device = None if first is None else first.device
        self.wanted = False  # whether gradients are asked for
        self.seen: list[Any] = []  # the module's tensors when their version was asked for, and which one that was
        self.changes = 0
        self.last: Optional[tuple[Any, Any, Any]] = None

    @property
    def tolerance(self) -> float:
        """How far values of the same state may differ: sums are rounded in another order."""
        return max(1e-4, 16 * self.torch.finfo(self.dtype).eps)

    def run(self, x: np.ndarray, graph: bool) -> tuple[Any, Any]:
        """The input and the values, one for each state; with a graph for autograd, or without."""
        torch = self.torch
        # whatever the caller is in
        with torch.inference_mode(False), torch.set_grad_enabled(graph), _evaluating(self.module):
            given = x.reshape((-1,) + self.shape)
            if self.labels:
                states = torch.tensor(given.argmax(-1), device=self.device)
            else:
                states = torch.tensor(given, dtype=self.dtype, device=self.device).requires_grad_(graph)
            values = self.module(states.clone())  # which the module may change in place
            if not isinstance(values, torch.Tensor) or tuple(values.shape) not in ((len(x),), (len(x), 1), ()) \
                    or values.numel() != len(x):
                found = tuple(values.shape) if isinstance(values, torch.Tensor) else type(values).__name__
                raise ShapeError(f"from_torch: the module gave {found} for {len(x)} states; expected the shape "
                                 f"({len(x)},) or ({len(x)}, 1)")
            return states, values.reshape(len(x))

    def version(self) -> int:
        """How often the module's tensors were found to have changed."""
        now = list(itertools.chain(self.module.parameters(), self.module.buffers()))
        if len(now) != len(self.seen) or not all(map(self.torch.equal, now, self.seen)):
            self.seen = [value.detach().clone() for value in now]
            self.changes += 1
        return self.changes

    def value(self, x: np.ndarray) -> np.ndarray:
        """f of states (states, N)."""
        states, values = self.run(x, self.wanted)
        self.last = (x, states, values) if self.wanted else None
        return numbers_of(values)

    def slopes(self, x: np.ndarray) -> Optional[np.ndarray]:
        """Gradients of f (states, N), or None if autograd knows no way from f to the states."""
        last, self.last, self.wanted = self.last, None, True
        states, values = last[1:] if last is not None and last[0] is x else self.run(x, True)
        if self.labels or not values.requires_grad:  # it has no grad_fn
            return None
        with self.torch.inference_mode(False), self.torch.enable_grad():
            slopes, = self.torch.autograd.grad(values.sum(), states, allow_unused=True)
        return None if slopes is None else numbers_of(slopes).reshape(x.shape)

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Gradients of f (states, N); of the states that f was just asked for without another pass."""
        slopes = self.slopes(x)
        return np.zeros_like(x) if slopes is None else slopes


def _call_back(torch: Any, module: Any, x: Expr, name: Optional[str], labels: bool, live: bool) -> tuple[Model, bool]:
    """A model that calls the module, which may change if it is live, and whether it has gradients."""
    called, block = _Called(torch, module, x.shape, labels), _leaf(x)
    model = Model.from_function(called.value, block, name=name)
    _, states = _random_states(model)
    together = called.value(states)  # what is wrong with the module is raised here
    near = max(1e-3, called.tolerance)
    for size in (len(states) // 2, 1):
        apart = np.concatenate([called.value(states[k:k + size]) for k in range(0, len(states), size)])
        if not np.allclose(together, apart, rtol=near, atol=near, equal_nan=True):
            raise ArgumentError("from_torch: the module's value of a state depends on the other states of its batch, "
                                "or on chance; a model needs a function of the state")
    differentiable = called.slopes(states) is not None
    if differentiable:
        called.wanted = False
        model = Model.from_function(called.value, block, gradient=called.gradient, name=name)
    model._caught.version = called.version if live else None
    return model, differentiable


# ---- the check of a turned module


def _wide(torch: Any, module: Any) -> Any:
    """A copy of a module in double precision."""
    wide = _copied(torch, module).cpu().double()
    for part in wide.modules():
        for name, value in vars(part).items():
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                vars(part)[name] = value.double()
    return wide


def _reference(torch: Any, module: Any, shape: tuple[int, ...], wide: bool, labels: bool) -> tuple[_Called, bool]:
    """The module in double precision; if it cannot work in that, as it is, and False."""
    if wide:
        called = _Called(torch, _wide(torch, module), shape, labels)
        called.dtype, called.device = torch.float64, torch.device("cpu")
        called.wanted = True  # not by fast paths, which PyTorch takes where no gradient is asked for
        try:
            called.run(np.full((_CHECKED, math.prod(shape)), 0.5), True)  # of labels: all are the first one
            return called, True
        except RuntimeError:  # numbers in single precision inside
            pass
    return _Called(torch, module, shape, labels), False


def _random_states(model: Model, number: int = _CHECKED) -> tuple[np.ndarray, np.ndarray]:
    """Codes of states, random ones, the lowest and the highest; and the same states as reals."""
    random = np.random.default_rng(0)
    block = model.blocks[0]
    count = block.states or 4
    codes = random.integers(0, count, (number + 2, model.variables)).astype(np.int32)
    codes[-2], codes[-1] = 0, count - 1
    if block.kind == "categorical":
        return codes, np.eye(block.states)[codes].reshape(len(codes), -1)
    return codes, block.values(codes).astype(np.float64)


class _Differs(Exception):
    """How a formula is not its module."""


def _expect_close(what: str, found: np.ndarray, torch_says: np.ndarray, tolerance: float, scale: float = 1) -> None:
    finite = np.isfinite(torch_says)
    # where autograd has no number, as at the root of 0, it may be inf or nan by the order of the products
    same = what.startswith("gradient") or np.array_equal(found[~finite], torch_says[~finite], equal_nan=True)
    largest = max([scale] + list(np.abs(torch_says[finite]).ravel()))
    error = float(np.max(np.abs(found[finite] - torch_says[finite]), initial=0)) / largest
    if not same or not error <= tolerance:
        raise _Differs(f"the formula's {what} is not the module's: the relative difference is {error:.3g}, more than "
                       f"{tolerance:g}")


def _check(torch: Any, model: Model, operations: set[str], module: Any, shape: tuple[int, ...], wide: bool,
           labels: bool) -> None:
    """Compare a model with its module: values at states and between them, gradients where f is smooth.

    A module of labels has no values between them, and no gradient in PyTorch.
    """
    called, exact = _reference(torch, module, shape, wide, labels)
    exact = exact and model.info["dtype"] == "f64"
    # PyTorch's softplus is the identity above 20, an error of 2e-9, and its celu has 1 / alpha in single precision
    tolerance = called.tolerance if called.dtype != torch.float64 else 1e-4 if not exact else \
        1e-7 if "celu" in operations else 1e-8 if "softplus" in operations else 1e-9
    if labels:
        codes, states = _random_states(model, 64)
        _expect_close("value", model.value(codes, codes=True), called.value(states), tolerance)
        return
    codes, states = _random_states(model)
    spread = np.random.default_rng(1).uniform(0.05, 0.95, states.shape)
    points = states + spread * (np.roll(states, 1, axis=0) - states) + 0.01 * spread
    gradients = {"states": called.gradient(states), "points": called.gradient(points)}
    scale = max(1.0, float(np.nan_to_num(np.abs(gradients["points"] * points)).sum(axis=1).max()))
    _expect_close("value", model.value(codes, codes=True), called.value(states), tolerance, scale)
    _expect_close("value between states", model.value_at(points), called.value(points), tolerance, scale)
    _expect_close("gradient between states", model.gradient_at(points), gradients["points"], tolerance)
    if not operations & _KINKS:
        _expect_close("gradient", model.gradient(codes, codes=True), gradients["states"], tolerance)


# ---- what users call


class _Origin:
    """What a model keeps of its module: the state dict, and the parameter of each of its names."""

    def __init__(self, module: Any):
        names = {id(value): name for name, value in module.named_parameters()}
        self.names = {name: names[id(value)] for name, value in module.state_dict(keep_vars=True).items()
                      if id(value) in names}
        self.state = {name: value.detach().cpu().clone() if hasattr(value, "detach") else value
                      for name, value in module.state_dict().items()}


_origins: "weakref.WeakKeyDictionary[Model, _Origin]" = weakref.WeakKeyDictionary()


def _make_block(kind: str, shape: Any, states: Optional[int], levels: Any) -> Expr:
    if kind not in ("binary", "spin", "categorical", "ordinal", "count"):
        raise ArgumentError(f"kind {kind!r}: expected 'binary', 'spin', 'categorical', 'ordinal' or 'count'")
    if kind in ("binary", "spin"):
        if states not in (None, 2) or levels is not None:
            raise ArgumentError(f"states and levels are for other kinds than {kind!r}")
        return sal.binary(shape, name="x") if kind == "binary" else sal.spins(shape, name="x")
    if kind == "count":
        return sal.counts(shape, cap=None if states is None else states - 1, name="x")
    if kind == "ordinal" and levels is not None:
        return sal.ordinal(shape, levels, name="x")
    if states is None:
        raise ArgumentError(f"kind {kind!r}: give the number of states")
    return sal.categorical(shape, states, name="x") if kind == "categorical" else sal.ordinal(shape, states, name="x")


def from_torch(module: Any, shape: Union[int, Sequence[int]] = (256,), kind: str = "binary",
               states: Optional[int] = None, levels: Any = None, name: Optional[str] = None, dtype: Any = "f64",
               fallback: Union[bool, str] = True, labels: bool = False) -> Model:
    """A model from a PyTorch module that gives f for each state of a batch.

    The module is read by torch.fx, or where that stops and PyTorch is 2.1 or later by torch.export, and written as a
    formula with the same weights, which is then compared with the module. It is evaluated as in ``module.eval()``.
    The model has a copy of the weights: later changes of the module do not change it, but with ``fallback='live'``.

    Parameters
    ----------
    module : torch.nn.Module
        From states (B, \\*shape) to f, (B,) or (B, 1). Categorical variables come one-hot, (B, \\*shape, states),
        or with `labels` as labels.
    shape : int or tuple of int
        Shape of the variables of one state, without the batch axis.
    kind : {'binary', 'spin', 'categorical', 'ordinal', 'count'}
        Kind of the variables: :func:`binary`, :func:`spins`, and so on.
    states : int, optional
        Number of states of categorical and ordinal variables; of counts the largest one and 1.
    levels : array of float, optional
        Levels of ordinal variables, rising.
    name : str, optional
        Name of the model in messages and summaries; None: that of the module's class.
    dtype : {'f64', 'f32'}
        Type of the numbers that the formula computes with. A module that is called back uses its own.
    fallback : bool, 'always' or 'live'
        What to do with a module that cannot be turned into a formula, or that differs from its formula:
        True: call it at each evaluation, with a warning that names the operation; False: raise. 'always': call it
        without an attempt to turn it. 'live': the same with the module itself, not with a copy, so that the model
        sees what an optimiser of PyTorch does to it.
    labels : bool
        Of categorical variables: the module gets their labels, integers (B, \\*shape), as embeddings take them. The
        formula has the weight times the one-hot state in place of an embedding, so it has gradients. Called back,
        a module of labels has no gradient.

    Returns
    -------
    Model
        Parameters have the names of the module's state dict. Buffers, and parameters that do not
        require a gradient, are constants. A module that is called back has no parameters.

    Raises
    ------
    ImportError
        PyTorch is not installed.
    UnsupportedError
        With ``fallback=False``: which operation cannot be turned, and where it is.
    ArgumentError
        An argument is wrong; or a module that is called back gives a state another value in another batch.
    ShapeError
        The module gives something else than one number for each state.
    InternalError
        With ``fallback=False``: formula and module differ, at some states or between them.

    Notes
    -----
    docs/python.md has the table of what becomes a formula. With torch.fx, control flow must not depend on tensors or
    their shapes; with torch.export it may depend on shapes. The batch axis must be left alone.

    A module that is called back is slower, mostly much slower: each evaluation goes through Python and autograd,
    whatever the number of threads. To train it, let PyTorch's optimiser change the module, and a :class:`Chain` of
    the model with ``fallback='live'`` draw the samples.

    PyTorch's softplus is the identity above 20, the formula's is exact: they differ by up to 2e-9.
    """
    torch = _import_torch()
    if not isinstance(module, torch.nn.Module):
        raise ArgumentError(f"from_torch: expected a torch.nn.Module; found {type(module).__name__}")
    if fallback not in (True, False, "always", "live"):
        raise ArgumentError(f"from_torch: fallback={fallback!r}: expected True, False, 'always' or 'live'")
    if labels and kind != "categorical":
        raise ArgumentError("from_torch: labels=True gives the module the labels of categorical variables; expected "
                            f"kind='categorical', found {kind!r}")
    x = _make_block(kind, shape, states, levels)
    name = type(module).__name__ if name is None else name
    with torch.inference_mode(False), torch.enable_grad():  # whatever the caller is in
        own = _copied(torch, module)
        try:
            if fallback in ("always", "live"):
                raise CannotTurn(f"fallback={fallback!r}")
            model = _formula_of(torch, own, x, dtype, name, labels)
        except _Differs as why:
            if not fallback:
                raise InternalError(f"from_torch: {why}. This is a defect in Saltus; fallback='always' calls the "
                                    f"module instead") from why
            model, differentiable = _call_back(torch, own, x, name, labels, False)
            _warn(f"since {why}, which is a defect in Saltus, or the module is no function of the state", differentiable)
        except CannotTurn as why:
            if not fallback:
                raise UnsupportedError(f"from_torch: the module cannot be turned into a formula: {why}") from why
            live = fallback == "live"
            model, differentiable = _call_back(torch, module if live else own, x, name, labels, live)
            if fallback not in ("always", "live"):
                _warn(f"as it cannot be turned into a formula: {why}", differentiable)
        _origins[model] = _Origin(module)
    return model


def _copied(torch: Any, module: Any) -> Any:
    """A copy of a module, for evaluation."""
    known = {}  # tensors with a history cannot be copied, and nobody needs the history
    for part in module.modules():
        known.update((id(value), value.detach().clone()) for value in vars(part).values()
                     if isinstance(value, torch.Tensor) and not value.is_leaf)
    try:
        return copy.deepcopy(module, known).eval()
    except Exception as failure:  # locks, files
        raise ArgumentError(f"from_torch: the module cannot be copied: {failure}") from failure


def _formula_of(torch: Any, module: Any, x: Expr, dtype: Any, name: Optional[str], labels: bool) -> Model:
    """A module as a formula that is equal to it: by torch.fx, or else by torch.export where PyTorch has that."""
    if module._forward_hooks or module._forward_pre_hooks:
        raise CannotTurn("it has hooks that run with forward")

    def checked(how: str) -> Model:
        f, names, wide = _turned(torch, module, x, labels, how)
        model = Model(f, dtype=dtype, name=name)
        _check(torch, model, names | {e.op for e in sal.ordered(f)}, module, x.shape, wide, labels)
        return model

    try:
        return checked("turn")
    except CannotTurn as why:
        if not _has_export(torch):
            raise
        try:
            return checked("turn_exported")
        except _Differs:
            raise why from None
        except CannotTurn as other:
            raise CannotTurn(f"{why}; by torch.export: {other}") from None


def _has_export(torch: Any) -> bool:
    try:
        import torch.export
    except ImportError:
        return False
    return hasattr(torch.export, "export")


def _turned(torch: Any, module: Any, x: Expr, labels: bool, how: str) -> tuple[Expr, set[str], bool]:
    """A module as a formula, the names of its operations, and whether all numbers were computed in double precision."""
    try:  # what the module computes from weights alone is computed while it is traced
        turner = Turner(torch, _wide(torch, module), labels)
        return getattr(turner, how)(x), turner.names, not turner.names & _CONVERSIONS
    except CannotTurn:
        turner = Turner(torch, _copied(torch, module).cpu(), labels)
        return getattr(turner, how)(x), turner.names, False


def _leaf(x: Expr) -> Expr:
    return _leaf(x.inputs[0]) if x.op == "reshape" else x


def _warn(why: str, differentiable: bool) -> None:
    samplers = "" if differentiable else " It has no gradient, so only samplers that need none can be used."
    warnings.warn(f"from_torch: the module runs in PyTorch at each call, {why}. This is 3 to 140 times slower than a "
                  f"formula (docs/python.md), because every step goes through Python and autograd.{samplers}",
                  SaltusWarning, stacklevel=3)


def to_torch_state_dict(model: Model, dtype: Any = None) -> dict[str, Any]:
    """The parameters of a model as a PyTorch state dict.

    Parameters
    ----------
    model : Model
        From :func:`from_torch`, perhaps trained since; or any other model.
    dtype : torch.dtype, optional
        Type of the real numbers; None: of each entry as in the module, and torch.float32 without one.

    Returns
    -------
    dict
        From names to tensors. If the model came from :func:`from_torch`, the dict has all names of the
        module's state dict, for ``module.load_state_dict(..)``: what is no parameter of the model, such
        as buffers, is as it was in the module.

    Raises
    ------
    ImportError
        PyTorch is not installed.
    """
    torch = _import_torch()
    params, origin = model.params, _origins.get(model)
    if origin is None:
        return {name: torch.tensor(value, dtype=dtype or torch.float32) for name, value in params.items()}
    known = set(params)

    def entry(name: str, value: Any) -> Any:
        if origin.names.get(name) in known:
            return torch.tensor(params[origin.names[name]], dtype=dtype or value.dtype)
        real = isinstance(value, torch.Tensor) and value.is_floating_point()
        return value.to(dtype or value.dtype, copy=True) if real else copy.deepcopy(value)

    return {name: entry(name, value) for name, value in origin.state.items()}

# SPDX-License-Identifier: MIT
"""PyTorch modules as models: by torch.fx into a formula, or called back.

PyTorch is imported when :func:`from_torch` is called, not before.
"""

from __future__ import annotations

import copy
import dis
import inspect
import itertools
import math
import operator
import os
import sys
import warnings
import weakref
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from . import _formula as sal
from ._formula import Expr
from ._library import ArgumentError, InternalError, SaltusError, ShapeError, UnsupportedError
from ._model import Model
from ._run import SaltusWarning
from ._torch_operations import (ALIASES, CONDITIONAL, OPERATIONS, BatchSize, CannotTurn, Condition, Tensor, batch_norm,
                                constant_tensor, expand, numbers_of, reshape)

_HERE = os.path.dirname(os.path.abspath(__file__))
_KINKS = {"relu", "abs", "max", "maximum", "minimum", "clamp", "max_pool2d"}  # gradients differ on their kinks
_CHECKED = 4  # random states that a module is compared at, besides the lowest and the highest one


def _import_torch() -> Any:
    try:
        import torch
        import torch.fx
    except ImportError as failure:
        raise ImportError("saltus: PyTorch modules need PyTorch, which is not installed (Debian: python3-torch): "
                          f"{failure}") from failure
    return torch


# ---- tracing


def _make_tracer(torch: Any) -> Any:
    """A tracer that goes into all modules, and notes the module and the user's line of each node."""
    package = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
    whole = (torch.nn.modules.batchnorm._BatchNorm,)

    def user_line() -> Optional[str]:
        frame = sys._getframe(2)
        while frame is not None:
            file = os.path.abspath(frame.f_code.co_filename)
            if frame.f_code is _Turner.turn.__code__:
                return None
            if not file.startswith(package) and os.path.dirname(file) != _HERE:
                return f"{file}:{frame.f_lineno}"
            frame = frame.f_back
        return None

    def unpacked(values: Any) -> Any:
        """The items of `a, b = values`: torch.fx of older versions does not find them in Python 3.11."""
        frame = sys._getframe(2)
        for at in dis.get_instructions(frame.f_code):
            if at.offset == frame.f_lasti and at.opname == "UNPACK_SEQUENCE":
                return iter([values[k] for k in range(at.argval)])
        return values.tracer.iter(values)

    def augmented(name: str) -> Any:
        """`a += b` as what it is: torch.fx records `a = a + b`, which leaves a's views as they are."""
        return lambda self, other: self.tracer.create_proxy("call_function", getattr(operator, name), (self, other), {})

    class Own:
        def __iter__(self) -> Any:
            return unpacked(self)

    for name in ("iadd", "isub", "imul", "itruediv", "ipow", "imatmul", "ifloordiv", "imod"):
        setattr(Own, f"__{name}__", augmented(name))

    class Attribute(Own, torch.fx.proxy.Attribute):
        pass

    class Proxy(Own, torch.fx.Proxy):
        def __getattr__(self, name: str) -> Any:
            return Attribute(self, name)

    class Tracer(torch.fx.Tracer):
        def __init__(self) -> None:
            super().__init__()
            self.path: list[str] = []

        def proxy(self, node: Any) -> Any:
            return Proxy(node, self)

        def is_leaf_module(self, module: Any, name: str) -> bool:
            return isinstance(module, whole)

        def call_module(self, module: Any, forward: Any, args: Any, kwargs: Any) -> Any:
            self.path.append(f"{self.path_of_module(module)} ({type(module).__name__})")
            try:
                return super().call_module(module, forward, args, kwargs)
            finally:
                self.path.pop()

        def create_node(self, *args: Any, **kwargs: Any) -> Any:
            node = super().create_node(*args, **kwargs)
            places = ([f"module {self.path[-1]}"] if self.path else []) + [user_line()]
            node.meta["saltus_no_grad"] = not torch.is_grad_enabled()
            node.meta["saltus_place"] = ", ".join(place for place in places if place)
            return node

    return Tracer()


class _Turner:
    """Turns the graph of a module into an expression."""

    def __init__(self, torch: Any, module: Any):
        self.torch, self.module = torch, module
        self.learned = dict(module.named_parameters())
        self.kept: dict[str, Tensor] = {}
        self.converts = False  # whether the module rounds numbers to another type
        self.homes = (torch, torch.nn.functional, operator, torch.special)
        self.roots: dict[Any, Any] = {}  # nodes that may share memory with an earlier one, and the first of those
        self.seen: set[Any] = set()  # nodes that have been turned, and the one that is

    def attribute(self, target: str) -> Any:
        """A parameter, buffer or other tensor of the module by its name."""
        if target not in self.kept:
            value = self.module
            for part in target.split("."):
                value = getattr(value, part)
            if not isinstance(value, self.torch.Tensor):
                return value
            own = self.learned.get(target)
            if own is not None and own.requires_grad:
                numbers = numbers_of(own)
                self.kept[target] = Tensor(sal.param(target, numbers.shape, numbers), False)
            else:
                self.kept[target] = constant_tensor(value)
        return self.kept[target]

    def operation(self, node: Any) -> Callable[..., Any]:
        """How the operation of a node is turned."""
        name = node.target if node.op == "call_method" else getattr(node.target, "__name__", str(node.target))
        if node.op == "call_function" and node.target is not getattr \
                and not any(getattr(home, name, None) is node.target for home in self.homes) \
                and getattr(node.target, "__module__", None) not in ("torch._C._nn", "torch._C"):
            raise CannotTurn("it is not one of those that can be turned")
        plain = name[:-1] if name.endswith("_") and not name.startswith("_") else name
        if plain not in OPERATIONS:
            raise CannotTurn("it is not one of those that can be turned")
        augments = name.startswith("i") and node.target is getattr(operator, name, None) and name[1:] in OPERATIONS
        inside = plain != name or augments or _asks_in_place(OPERATIONS[plain], node)
        operand = node.args[0] if node.args and isinstance(node.args[0], self.torch.fx.Node) else None
        if inside and plain != "dropout" and operand is not None:
            self.expect_forgotten(operand, node)
        if operand is not None and (inside or plain in ALIASES or
                                    (plain == "getattr" and node.args[1] in ("T", "mT"))):
            self.roots[node] = self.roots.get(operand, operand)
        elif plain == "einsum" and len(node.all_input_nodes) == 1:
            self.roots[node] = self.roots.get(node.all_input_nodes[0], node.all_input_nodes[0])
        return OPERATIONS[plain]

    def expect_forgotten(self, operand: Any, node: Any) -> None:
        """Refuse a change in place of memory that is used later through this tensor or through another one."""
        root = self.roots.get(operand, operand)
        if root.op == "get_attr":
            raise CannotTurn("it changes a tensor of the module in place")
        same = [root] + [other for other, first in self.roots.items() if first is root]
        if any(user is not node and user not in self.seen for other in same for user in other.users):
            raise CannotTurn("it changes a tensor in place that is used again")

    def batch_norm(self, target: str, input: Tensor) -> Tensor:
        """A module of batch normalisation, in evaluation mode."""
        module = self.module.get_submodule(target)
        own = [None if getattr(module, name) is None else self.attribute(f"{target}.{name}")
               for name in ("running_mean", "running_var", "weight", "bias")]
        return batch_norm(input, *own, eps=module.eps)

    def node(self, node: Any, args: Any, kwargs: Any) -> Any:
        """The value of a node, from the values of its arguments."""
        if node.op == "get_attr":
            return self.attribute(node.target)
        if node.op == "call_module":
            return self.batch_norm(node.target, *args, **kwargs)
        parts: list[Any] = []
        self.torch.fx.node.map_aggregate((args, kwargs), parts.append)
        if not any(isinstance(part, (Tensor, Condition, BatchSize)) for part in parts) or \
                node.target is operator.getitem and isinstance(args[0], tuple):
            if node.target is operator.getitem and node.args[0] in self.roots:  # a piece of a tensor
                self.roots[node] = self.roots[node.args[0]]
            return node.target(*args, **kwargs) if node.op == "call_function" \
                else getattr(args[0], node.target)(*args[1:], **kwargs)
        function = self.operation(node)
        self.converts = self.converts or node.target in ("float", "to", "type_as")
        if any(isinstance(part, BatchSize) for part in parts) and function not in (reshape, expand):
            raise CannotTurn("it computes with the size of the batch")
        if any(isinstance(part, Condition) for part in parts) and function not in CONDITIONAL:
            raise CannotTurn("it computes with the truth of a comparison; make it a number by .float()")
        value = function(*args, **kwargs)
        if node.meta.get("saltus_no_grad") and _varies(value):
            raise CannotTurn("its gradient is hidden, as by torch.no_grad()")
        return value

    def turn(self, x: Tensor) -> Expr:
        """The module's value for one state."""
        tracer = _make_tracer(self.torch)
        _expect_one_argument(self.module)
        chance = self.torch.get_rng_state()
        try:
            graph = tracer.trace(_alone(self.module))
        except Exception as failure:  # whatever the module's code does with what is not a tensor
            raise CannotTurn(f"torch.fx cannot trace the module: {type(failure).__name__}: {failure}") from failure
        if not self.torch.equal(chance, self.torch.get_rng_state()):
            raise CannotTurn("it draws random numbers")
        values: dict[Any, Any] = {}

        def known(value: Any) -> Any:
            return constant_tensor(value) if isinstance(value, self.torch.Tensor) else value

        for node in graph.nodes:
            self.seen.add(node)
            args, kwargs = self.torch.fx.node.map_arg((node.args, node.kwargs), lambda n: known(values[n]))
            if node.op == "placeholder":
                values[node] = x
            elif node.op == "output":
                return _scalar(args[0])
            else:
                try:
                    values[node] = self.node(node, args, kwargs)
                except (CannotTurn, SaltusError, TypeError, ValueError, AttributeError, IndexError) as failure:
                    raise CannotTurn(f"{_describe(node)}: {failure}") from failure
        raise CannotTurn("its graph has no output")


def _asks_in_place(function: Callable[..., Any], node: Any) -> bool:
    try:
        return inspect.signature(function).bind(*node.args, **node.kwargs).arguments.get("inplace") is True
    except TypeError:  # other arguments than the function knows
        return node.kwargs.get("inplace") is True


def _varies(value: Any) -> bool:
    """Whether a value depends on the state or on a parameter."""
    if isinstance(value, tuple):
        return any(_varies(part) for part in value)
    return isinstance(value, Tensor) and any(e.op in ("block", "param") for e in sal.ordered(value.expr))


def _expect_one_argument(module: Any) -> None:
    try:
        signature = inspect.signature(module.forward)
    except ValueError:  # a compiled module
        return
    try:
        signature.bind(None)
    except TypeError as failure:
        raise CannotTurn(f"its forward does not take one argument: {failure}") from failure


def _alone(module: Any) -> Any:
    """A module whose other arguments of forward have their defaults; torch.fx would make variables of them."""
    kind, set_on_it = type(module), vars(module).get("forward")

    def forward(self: Any, x: Any) -> Any:
        return kind.forward(self, x) if set_on_it is None else set_on_it(x)

    own = {"forward": forward, "__module__": kind.__module__}
    module.__class__ = type(kind.__name__, (kind,), own)
    return module


def _describe(node: Any) -> str:
    """A node for messages: operation, node, module and line."""
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", str(node.target))
    place = node.meta.get("saltus_place", "")
    return f"operation {name} (node %{node.name}{'; ' + place if place else ''})"


def _scalar(output: Any) -> Expr:
    if not isinstance(output, Tensor) or not output.batched or output.expr.shape not in ((), (1,)):
        found = f"the shape {output.shape}" if isinstance(output, Tensor) else type(output).__name__
        raise CannotTurn(f"the output has {found}; expected one number for each state, (B,) or (B, 1)")
    return sal.reshape(output.expr, ())


# ---- calling back


class _Called:
    """A module as a function of states, evaluated in its own type and place."""

    def __init__(self, torch: Any, module: Any, shape: tuple[int, ...]):
        self.torch, self.module, self.shape = torch, module, shape
        attributes = (value for part in module.modules() for value in vars(part).values())
        first = next((t for t in itertools.chain(module.parameters(), module.buffers(), attributes)
                      if isinstance(t, torch.Tensor) and t.is_floating_point()), None)
        self.dtype = torch.get_default_dtype() if first is None else first.dtype
        self.device = None if first is None else first.device
        self.wanted = False  # whether gradients are asked for
        self.last: Optional[tuple[Any, Any, Any]] = None

    @property
    def tolerance(self) -> float:
        """How far values of the same state may differ: sums are rounded in another order."""
        return max(1e-4, 16 * self.torch.finfo(self.dtype).eps)

    def run(self, x: np.ndarray, graph: bool) -> tuple[Any, Any]:
        """The input and the values, one for each state; with a graph for autograd, or without."""
        torch = self.torch
        with torch.inference_mode(False), torch.set_grad_enabled(graph):  # whatever the caller is in
            states = torch.tensor(x.reshape((-1,) + self.shape), dtype=self.dtype, device=self.device)
            states.requires_grad_(graph)
            values = self.module(states.clone())  # which the module may change in place
            if not isinstance(values, torch.Tensor) or tuple(values.shape) not in ((len(x),), (len(x), 1), ()) \
                    or values.numel() != len(x):
                found = tuple(values.shape) if isinstance(values, torch.Tensor) else type(values).__name__
                raise ShapeError(f"from_torch: the module gave {found} for {len(x)} states; expected the shape "
                                 f"({len(x)},) or ({len(x)}, 1)")
            return states, values.reshape(len(x))

    def value(self, x: np.ndarray) -> np.ndarray:
        """f of states (states, N)."""
        states, values = self.run(x, self.wanted)
        self.last = (x, states, values) if self.wanted else None
        return numbers_of(values)

    def slopes(self, x: np.ndarray) -> Optional[np.ndarray]:
        """Gradients of f (states, N), or None if autograd knows no way from f to the states."""
        last, self.last, self.wanted = self.last, None, True
        states, values = last[1:] if last is not None and last[0] is x else self.run(x, True)
        if not values.requires_grad:  # it has no grad_fn
            return None
        with self.torch.inference_mode(False), self.torch.enable_grad():
            slopes, = self.torch.autograd.grad(values.sum(), states, allow_unused=True)
        return None if slopes is None else numbers_of(slopes).reshape(x.shape)

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Gradients of f (states, N); of the states that f was just asked for without another pass."""
        slopes = self.slopes(x)
        return np.zeros_like(x) if slopes is None else slopes


def _call_back(torch: Any, module: Any, shape: tuple[int, ...], block: Expr, name: Optional[str]) -> tuple[Model, bool]:
    """A model that calls the module, and whether it has gradients."""
    called = _Called(torch, module, shape)
    model = Model.from_function(called.value, block, name=name)
    _, states = _random_states(model)
    together = called.value(states)  # what is wrong with the module is raised here
    near = max(1e-3, called.tolerance)
    for size in (len(states) // 2, 1):
        apart = np.concatenate([called.value(states[k:k + size]) for k in range(0, len(states), size)])
        if not np.allclose(together, apart, rtol=near, atol=near, equal_nan=True):
            raise ArgumentError("from_torch: the module's value of a state depends on the other states of its batch, "
                                "or on chance; a model needs a function of the state")
    if called.slopes(states) is None:
        return model, False
    called.wanted = False
    return Model.from_function(called.value, block, gradient=called.gradient, name=name), True


# ---- the check of a turned module


def _wide(torch: Any, module: Any) -> Any:
    """A copy of a module in double precision."""
    wide = _copied(torch, module).cpu().double()
    for part in wide.modules():
        for name, value in vars(part).items():
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                vars(part)[name] = value.double()
    return wide


def _reference(torch: Any, module: Any, shape: tuple[int, ...], wide: bool) -> tuple[_Called, bool]:
    """The module in double precision; if it cannot work in that, as it is, and False."""
    if wide:
        called = _Called(torch, _wide(torch, module), shape)
        called.dtype, called.device = torch.float64, torch.device("cpu")
        try:
            called.run(np.full((_CHECKED, math.prod(shape)), 0.5), False)
            return called, True
        except RuntimeError:  # numbers in single precision inside
            pass
    return _Called(torch, module, shape), False


def _random_states(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Codes of states, random ones, the lowest and the highest; and the same states as reals."""
    random = np.random.default_rng(0)
    block = model.blocks[0]
    count = block.states or 4
    codes = random.integers(0, count, (_CHECKED + 2, model.variables)).astype(np.int32)
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


def _check(torch: Any, model: Model, f: Expr, module: Any, shape: tuple[int, ...], wide: bool) -> None:
    """Compare a model with its module: values at states and between them, gradients where f is smooth."""
    called, exact = _reference(torch, module, shape, wide)
    exact = exact and model.info["dtype"] == "f64"
    operations = {e.op for e in sal.ordered(f)}
    # PyTorch's softplus is the identity above 20, which is an error of 2e-9
    tolerance = called.tolerance if called.dtype != torch.float64 else 1e-4 if not exact else \
        1e-8 if "softplus" in operations else 1e-9
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
               fallback: Union[bool, str] = True) -> Model:
    """A model from a PyTorch module that gives f for each state of a batch.

    The module is read by torch.fx and written as a formula with the same weights, which is then compared
    with the module. It is evaluated as in ``module.eval()``. The model has a copy of the weights: later
    changes of the module do not change it.

    Parameters
    ----------
    module : torch.nn.Module
        From states (B, \\*shape) to f, (B,) or (B, 1). Categorical variables come one-hot, (B, \\*shape, states).
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
    fallback : bool or 'always'
        What to do with a module that cannot be turned into a formula, or that differs from its formula:
        True: call it at each evaluation, with a warning; False: raise. 'always': call it without an
        attempt to turn it.

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
    These become formulas: linear layers, convolutions (2-d with equal strides; 1-d; neither groups nor
    dilation), pooling without padding, normalisation by batch (with stored statistics) and layer, the
    usual activations, arithmetic, matrix products, einsum, sums, means, logsumexp, softmax, and changes of
    shape that leave the batch axis alone. Control flow must not depend on tensors. A module that is called back
    is slower, mostly much slower: each evaluation goes through Python and autograd, whatever the number
    of threads.

    PyTorch's softplus is the identity above 20, the formula's is exact: they differ by up to 2e-9.
    """
    torch = _import_torch()
    if not isinstance(module, torch.nn.Module):
        raise ArgumentError(f"from_torch: expected a torch.nn.Module; found {type(module).__name__}")
    x = _make_block(kind, shape, states, levels)
    name = type(module).__name__ if name is None else name
    with torch.inference_mode(False), torch.enable_grad():  # whatever the caller is in
        own = _copied(torch, module)
        try:
            if fallback == "always":
                raise CannotTurn("fallback='always'")
            f, wide = _turned(torch, own, x)
            model = Model(f, dtype=dtype, name=name)
            _check(torch, model, f, own, x.shape, wide)
        except _Differs as why:
            if not fallback:
                raise InternalError(f"from_torch: {why}. This is a defect in Saltus; fallback='always' calls the "
                                    f"module instead") from why
            model, differentiable = _call_back(torch, own, x.shape, _leaf(x), name)
            _warn(f"{why}, which is a defect in Saltus, or the module is no function of the state", differentiable)
        except CannotTurn as why:
            if not fallback:
                raise UnsupportedError(f"from_torch: the module cannot be turned into a formula: {why}") from why
            model, differentiable = _call_back(torch, own, x.shape, _leaf(x), name)
            if fallback != "always":
                _warn(str(why), differentiable)
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


def _turned(torch: Any, module: Any, x: Expr) -> tuple[Expr, bool]:
    """A module as a formula, and whether all its numbers were computed in double precision."""
    if module._forward_hooks or module._forward_pre_hooks:
        raise CannotTurn("it has hooks that run with forward")
    try:  # what the module computes from weights alone is computed while it is traced
        turner = _Turner(torch, _wide(torch, module))
        return turner.turn(Tensor(x, True)), not turner.converts
    except CannotTurn:
        return _Turner(torch, _copied(torch, module).cpu()).turn(Tensor(x, True)), False


def _leaf(x: Expr) -> Expr:
    return _leaf(x.inputs[0]) if x.op == "reshape" else x


def _warn(why: str, differentiable: bool) -> None:
    samplers = "" if differentiable else " It has no gradient, so only samplers that need none can be used."
    warnings.warn(f"from_torch: the module cannot be turned into a formula: {why}. It is called at each evaluation "
                  f"instead, which is slower, because every step goes through Python and autograd.{samplers}",
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

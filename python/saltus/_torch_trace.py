# SPDX-License-Identifier: MIT
"""The graph of a PyTorch module, by torch.fx or torch.export, and its translation into an expression."""

from __future__ import annotations

import contextlib
import dis
import inspect
import logging
import operator
import os
import sys
from typing import Any, Callable, Iterator, Optional

import numpy as np

from . import _formula as sal
from . import _torch_images, _torch_products
from ._formula import Expr
from ._library import SaltusError
from ._torch_layers import MOVES, make_plain, moved_labels
from ._torch_operations import (ALIASES, CONDITIONAL, OPERATIONS, SIZED, BatchSize, CannotTurn, Condition, Labels,
                                Tensor, constant_tensor, first_real, numbers_of)

_HERE = os.path.dirname(os.path.abspath(__file__))
assert _torch_images and _torch_products  # they fill the table of operations


def _make_tracer(torch: Any, module: Any) -> Any:
    """A tracer that goes into all modules, and notes the module and the user's line of each node."""
    package = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep

    def user_line() -> Optional[str]:
        frame = sys._getframe(2)
        while frame is not None:
            file = os.path.abspath(frame.f_code.co_filename)
            if frame.f_code is Turner.turn.__code__:
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
            known = self.tracer.tensors.get(self.node.target) if self.node.op == "get_attr" else None
            if known is not None and name in ("shape", "ndim", "dtype", "dim", "size"):  # code may branch on it
                return getattr(known, name)
            return Attribute(self, name)

    class Tracer(torch.fx.Tracer):
        def __init__(self) -> None:
            super().__init__()
            self.path: list[str] = []
            self.tensors = {**dict(module.named_parameters()), **dict(module.named_buffers())}

        def proxy(self, node: Any) -> Any:
            return Proxy(node, self)

        def is_leaf_module(self, module: Any, name: str) -> bool:
            return False

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


class _Named(CannotTurn):
    """Why a module cannot become a formula: an operation that it has."""


class Turner:
    """Turns the graph of a module into an expression."""

    def __init__(self, torch: Any, module: Any, labels: bool):
        self.torch, self.module, self.labels = torch, make_plain(torch, module), labels
        self.learned = {id(value): name for name, value in module.named_parameters()}
        self.kept: dict[str, Tensor] = {}
        self.names: set[str] = set()  # of the operations
        self.homes = (torch, torch.nn.functional, operator, torch.special)
        self.roots: dict[Any, Any] = {}  # nodes that may share memory with an earlier one, and the first of those
        self.seen: set[Any] = set()  # nodes that have been turned, and the one that is

    def attribute(self, target: str) -> Any:
        """A parameter, buffer or other tensor of the module by its name."""
        if target not in self.kept:
            value = operator.attrgetter(target)(self.module)
            if not isinstance(value, self.torch.Tensor):
                return value
            name = self.learned.get(id(value))
            if name is not None and value.requires_grad:
                numbers = numbers_of(value)
                self.kept[target] = Tensor(sal.param(name, numbers.shape, numbers), False)
            else:
                self.kept[target] = constant_tensor(value)
        return self.kept[target]

    def operation(self, node: Any) -> Callable[..., Any]:
        """How the operation of a node is turned."""
        name = _name(node)
        if isinstance(node.target, self.torch._ops.OpOverload):
            function = OPERATIONS.get(name, OPERATIONS.get(name[5:]) if name.startswith("aten.") else None)
            if function is None:
                raise CannotTurn("it has no translation")
            return function
        if node.op == "call_function" and node.target is not getattr \
                and not any(getattr(home, name, None) is node.target for home in self.homes) \
                and getattr(self.torch.linalg, name[len("linalg_"):], None) is not node.target \
                and getattr(node.target, "__module__", None) not in ("torch._C._nn", "torch._C"):
            raise CannotTurn("it has no translation")
        plain = name[:-1] if name.endswith("_") and not name.startswith("_") else name
        if plain not in OPERATIONS:
            raise CannotTurn("it has no translation")
        augments = name.startswith("i") and node.target is getattr(operator, name, None) and name[1:] in OPERATIONS
        inside = plain != name or augments or _asks_in_place(OPERATIONS[plain], node)
        operand = node.args[0] if node.args and isinstance(node.args[0], self.torch.fx.Node) else None
        if inside and "dropout" not in plain and operand is not None:
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

    def plainly(self, node: Any, args: Any, kwargs: Any) -> Any:
        """What PyTorch gives for numbers and tensors of the module."""
        function = node.target if node.op == "call_function" else getattr(args[0], node.target)
        return function(*(args if node.op == "call_function" else args[1:]), **kwargs)

    def node(self, node: Any, args: Any, kwargs: Any) -> Any:
        """The value of a node, from the values of its arguments."""
        if node.op == "get_attr":
            return self.attribute(node.target)
        map_parts = self.torch.fx.node.map_aggregate
        parts: list[Any] = []
        map_parts((args, kwargs), parts.append)
        if not any(isinstance(part, (Tensor, Condition, BatchSize)) for part in parts) or \
                node.target is operator.getitem and isinstance(args[0], tuple):
            if node.target is operator.getitem and node.args[0] in self.roots:  # a piece of a tensor
                self.roots[node] = self.roots[node.args[0]]
            return self.plainly(node, args, kwargs)
        exported = isinstance(node.target, self.torch._ops.OpOverload)
        if exported and all(part.array is not None for part in parts if isinstance(part, Tensor)) \
                and not any(isinstance(part, Condition) for part in parts):  # numbers of the module alone
            args, kwargs = map_parts((args, kwargs), lambda part: self.torch.from_numpy(part.array)
                                     if isinstance(part, Tensor) else part)
            return self.plainly(node, args, kwargs)
        name = _name(node)
        if isinstance(parts[0], Labels) and name.split(".")[-1] in MOVES:
            def move(places: np.ndarray) -> np.ndarray:
                own = [1 if isinstance(part, BatchSize) else
                       self.torch.from_numpy(places if isinstance(part, Labels) else part.array)
                       if isinstance(part, Tensor) else part for part in parts]
                remaining = iter(own)
                changed = map_parts((args, kwargs), lambda _: next(remaining))
                return self.plainly(node, *changed).numpy()

            return moved_labels(parts[0], move)
        function = self.operation(node)
        self.names.add(name.split(".")[-1])
        if any(isinstance(part, BatchSize) for part in parts) and function not in SIZED:
            raise CannotTurn("it computes with the size of the batch")
        if any(isinstance(part, Condition) for part in parts) and function not in CONDITIONAL:
            raise CannotTurn("it computes with the truth of a comparison; make it a number by .float()")
        value = function(*args, **kwargs)
        if node.meta.get("saltus_no_grad") and _varies(value):
            raise CannotTurn("its gradient is hidden, as by torch.no_grad()")
        return value

    def evaluate(self, graph: Any, given: dict[str, Any]) -> Any:
        """What the graph gives, with the values of its placeholders by name."""
        values: dict[Any, Any] = {}

        def known(value: Any) -> Any:
            return constant_tensor(value) if isinstance(value, self.torch.Tensor) else value

        for node in graph.nodes:
            self.seen.add(node)
            args, kwargs = self.torch.fx.node.map_arg((node.args, node.kwargs), lambda n: known(values[n]))
            if node.op == "placeholder":
                values[node] = given.get(node.name)
            elif not node.users and isinstance(node.target, self.torch._ops.OpOverload):  # an assertion
                continue
            elif node.op == "output":
                return args[0]
            else:
                try:
                    values[node] = self.node(node, args, kwargs)
                except (CannotTurn, SaltusError, TypeError, ValueError, AttributeError, LookupError, RuntimeError) as why:
                    user = next(iter(node.users), node) if node.op == "get_attr" else node
                    raise _Named(f"{_describe(user)}: {why}") from why
        raise CannotTurn("its graph has no output")

    def expect_no_chance(self, before: Any) -> None:
        if not self.torch.equal(before, self.torch.get_rng_state()):
            raise CannotTurn("it draws random numbers")

    def turn(self, x: Expr) -> Expr:
        """The module's value for one state, by torch.fx: a graph for a batch."""
        tracer = _make_tracer(self.torch, self.module)
        _expect_one_argument(self.module)
        chance = self.torch.get_rng_state()
        try:
            graph = tracer.trace(_alone(self.module))
        except Exception as failure:  # whatever the module's code does with what is not a tensor
            raise CannotTurn(f"torch.fx cannot trace the module: {type(failure).__name__}: {failure}") from failure
        self.expect_no_chance(chance)
        name = next(node.name for node in graph.nodes if node.op == "placeholder")
        result = _scalar(self.evaluate(graph, {name: (Labels if self.labels else Tensor)(x, True)}))
        self.expect_no_chance(chance)
        return result

    def turn_exported(self, x: Expr) -> Expr:
        """The module's value for one state, by torch.export: a graph for a batch of one state, in aten's operations."""
        export = self.torch.export.export
        shape = (1,) + (x.shape[:-1] if self.labels else x.shape)
        real = first_real(self.torch, self.module)
        example = self.torch.zeros(shape, dtype=self.torch.int64 if self.labels else None if real is None else real.dtype)
        options = {"strict": False} if "strict" in inspect.signature(export).parameters else {}
        chance = self.torch.get_rng_state()
        try:
            with _without_logs():
                program = export(_alone(self.module), (example,), **options).run_decompositions({})
        except Exception as failure:  # whatever the module's code does with what has no numbers
            said = str(failure).strip().splitlines() or [""]
            raise CannotTurn(f"it cannot trace the module: {type(failure).__name__}: {said[0]}") from failure
        given: dict[str, Any] = {}
        for spec in program.graph_signature.input_specs:
            if spec.kind.name == "USER_INPUT":
                whole = sal.reshape(x, (1,) + x.shape)
                given[spec.arg.name] = Labels(whole, False) if self.labels else Tensor(whole, False)
                continue
            user = next((user for node in program.graph.nodes if node.name == spec.arg.name for user in node.users), None)
            if user is None:
                continue
            try:
                given[spec.arg.name] = constant_tensor(program.constants[spec.target]) \
                    if spec.target in program.constants else self.attribute(spec.target)
            except (CannotTurn, SaltusError) as why:
                raise _Named(f"{_describe(user)}: {why}") from why
        kinds = [spec.kind.name for spec in program.graph_signature.output_specs]
        if any(kind not in ("USER_OUTPUT", "USER_INPUT_MUTATION") for kind in kinds) or kinds.count("USER_OUTPUT") != 1:
            raise CannotTurn("it changes its buffers, or gives several tensors")
        result = _scalar(self.evaluate(program.graph, given)[kinds.index("USER_OUTPUT")], False)
        self.expect_no_chance(chance)
        return result


@contextlib.contextmanager
def _without_logs() -> Iterator[None]:
    """No messages of Python's logging: PyTorch logs what makes an export fail, before it raises."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def _name(node: Any) -> str:
    """The name of a node's operation; "aten.NAME" for nodes of torch.export."""
    if isinstance(node.target, str):
        return node.target
    schema = getattr(node.target, "_schema", None)
    if schema is not None and "::" in schema.name:
        return schema.name.replace("::", ".")
    return getattr(node.target, "__name__", str(node.target))


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
    place = node.meta.get("saltus_place", "") or _traced_place(node.meta)
    return f"operation {_name(node)} (node %{node.name}{'; ' + place if place else ''})"


def _traced_place(meta: dict[str, Any]) -> str:
    """The module and the user's line of a node of torch.export."""
    modules = [f"{path} ({kind.rsplit('.', 1)[-1]})" for path, kind in (meta.get("nn_module_stack") or {}).values()
               if path and isinstance(kind, str)]
    return f"module {modules[-1]}" if modules else ""


def _scalar(output: Any, batched: bool = True) -> Expr:
    if not isinstance(output, Tensor) or output.batched != batched or output.expr.size != 1 \
            or output.expr.ndim + batched > 2:
        found = f"the shape {output.shape}" if isinstance(output, Tensor) else type(output).__name__
        raise CannotTurn(f"the output has {found}; expected one number for each state, (B,) or (B, 1)")
    return sal.reshape(output.expr, ())

# SPDX-License-Identifier: MIT
"""Models: formulas, ready-made ones, files and Python functions."""

from __future__ import annotations

import contextlib
import ctypes
import operator
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _formula, _library
from ._arrays import Copy, plain, reals
from ._formula import Expr, GivenShape
from ._library import (ArgumentError, Caught, Handle, ModelError, OutOfRangeError, Path, ShapeError, address, ask,
                       call, encode, lib, make, own_names, seed_of, warn_of)

if TYPE_CHECKING:
    from ._sampler import OwnSamplers

_DTYPES = {None: 0, "f32": 1, "float32": 1, "f64": 2, "float64": 2}


def _dtype(dtype: Any) -> int:
    name = dtype if dtype is None or isinstance(dtype, str) else np.dtype(dtype).name
    if name not in _DTYPES:
        raise ArgumentError(f"dtype {dtype!r}: expected 'f32' or 'f64'")
    return _DTYPES[name]


class Params(Mapping[str, NDArray[np.float64]]):
    """The parameters of a model by name, as arrays.

    ``model.params["W"]`` is a copy, which cannot be written. ``model.params["W"] = values`` sets the parameter: to
    numbers of its shape, or to some that NumPy broadcasts to it, such as one number. :meth:`update` sets several.
    ``model.params.flat`` is all numbers as one vector, which can be set too.

    Setting raises KeyError for a name that is not there, ShapeError for values of another shape, and ArgumentError
    for what are no real numbers, such as masked entries. A clamped model and its original share their parameters.

    Examples
    --------
    >>> import saltus as sal
    >>> s = sal.spins(2)
    >>> model = sal.Model((sal.param("b", 2) * s).sum())
    >>> model.params["b"] = [1, 2]
    >>> model.value([1, 1])
    3.0
    >>> model.params["b"] = 0.5 * model.params["b"]
    >>> model.params["b"]
    array([0.5, 1. ])
    """

    __slots__ = ("_model", "_shapes")  # a name that is set as an attribute is a mistake

    def __init__(self, model: "Model"):
        self._model = model
        self._shapes = {p["name"]: tuple(p["shape"]) for p in model.info["parameters"]}

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in ("_model", "_shapes", "flat"):
            raise AttributeError(f"model.params has no attribute {name!r} to set; a parameter is set by "
                                 f"model.params[{name!r}] = values")
        super().__setattr__(name, value)

    def _shape_of(self, name: str) -> tuple[int, ...]:
        if name not in self._shapes:
            raise KeyError(f"{name!r}; there are: {', '.join(self._shapes) or 'none'}")
        return self._shapes[name]

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        values = np.empty(self._shape_of(name))
        call("sal_model_get_params", self._model, name.encode(), address(values))
        return Copy.of(values, f"set the parameter, by model.params[{name!r}] = values")

    def _fitting(self, name: str, values: Any) -> NDArray[np.float64]:
        """Values of the shape of a parameter, as the library reads them."""
        shape, array = self._shape_of(name), reals(values, f"parameter {name}")
        try:
            return np.ascontiguousarray(np.broadcast_to(array, shape))
        except ValueError:
            raise ShapeError(f"parameter {name}: expected the shape {shape}; found {array.shape}") from None

    def __setitem__(self, name: str, values: Any) -> None:
        self._set(name, self._fitting(name, values))

    def _set(self, name: str, values: NDArray[np.float64]) -> None:
        call("sal_model_set_params", self._model, name.encode(), address(values))
        self._model._trained = False

    def update(self, *others: Any, **values: Any) -> None:
        """Set several parameters: those of a mapping, such as a dict or the parameters of another model, or of pairs.

        Names can be keywords too. If a name or a shape is wrong, nothing is set.
        """
        fitting = {name: self._fitting(name, array) for name, array in dict(*others, **values).items()}
        for name, array in fitting.items():
            self._set(name, array)

    def __iter__(self) -> Iterator[str]:
        return iter(self._shapes)

    def __len__(self) -> int:
        return len(self._shapes)

    def __repr__(self) -> str:
        return "<saltus params: " + ", ".join(f"{name} {shape}" for name, shape in self._shapes.items()) + ">"

    @property
    def flat(self) -> NDArray[np.float64]:
        """All numbers, in the order of the parameters, shape (size,); a copy, which cannot be written."""
        values = np.empty(lib.sal_model_parameters_size(self._model))
        call("sal_model_get_params", self._model, None, address(values))
        return Copy.of(values, "set all numbers, by model.params.flat = values")

    @flat.setter
    def flat(self, values: Any) -> None:
        array = reals(values, "params.flat")
        size = lib.sal_model_parameters_size(self._model)
        if array.shape != (size,):
            raise ShapeError(f"params.flat: expected {size} numbers; found an array of shape {array.shape}")
        call("sal_model_set_params", self._model, None, address(array))
        self._model._trained = False

    def load(self, path: Path) -> None:
        """Set all parameters from a safetensors file.

        Raises
        ------
        NotFoundError, FileError
            There is no such file, or reading it failed.
        DataError
            Tensors are missing, are none of this model's, or have another shape or type. Nothing has changed.
        UnsupportedError
            The model is a Python function, which has no parameters.
        """
        call("sal_model_load_params", self._model, encode(path))
        self._model._trained = False

    def save(self, path: Path) -> None:
        """Write all parameters to a safetensors file, which is replaced at once.

        Raises
        ------
        FileError
            Writing failed.
        UnsupportedError
            The model is a Python function, which has no parameters.
        """
        call("sal_model_save_params", self._model, encode(path))


class Block:
    """One block of variables of a model.

    Attributes
    ----------
    name, kind : str
    count : int
        Number of variables.
    states : int or None
        States of each; None: counts without a cap.
    levels : array, shape (states,), or None
        Of ordinal variables.
    total : int or None
        The sum of the values, if it is fixed.
    occurrences : array of int, shape (states,), or None
        How many variables have each label, if that is fixed.
    letters : str or None
        The letters that the labels are, of sites of sequences.
    variables, reals : slice
        Where the block is among the model's V variables, and among the N reals of the embedding.
    shape : tuple of int
        That which :func:`spins` and so on were given; (count,) of models by name and from files.
    dims : tuple of str
        Names of the axes of `shape`. Those that have none are NAME_site, of more than one axis NAME_dim_0 and so on.
    coords : dict of array
        The labels along axes, by the name of the axis.
    """

    def __init__(self, info: dict[str, Any], first: int, first_real: int):
        self.name: str = info["name"]
        self.kind: str = info["kind"]
        self.count: int = info["count"]
        self.states: Optional[int] = info.get("states")
        self.levels: Optional[NDArray[np.float64]] = np.array(info["levels"]) if "levels" in info else None
        self.total: Optional[int] = info.get("sum")
        self.occurrences: Optional[NDArray[np.int64]] = np.array(info["labels"]) if "labels" in info else None
        self.letters: Optional[str] = info.get("letters")
        self.variables = slice(first, first + self.count)
        width = self.count * (info["states"] if self.kind == "categorical" else 1)
        self.reals = slice(first_real, first_real + width)
        self.coords: dict[str, NDArray[Any]] = {}
        self._give_shape((self.count,))

    def _give_shape(self, shape: tuple[int, ...], dims: Any = None) -> None:
        """Set the shape and the names of its axes."""
        self.shape = shape
        if dims is None:
            dims = [f"{self.name}_site"] if len(shape) == 1 else [f"{self.name}_dim_{k}" for k in range(len(shape))]
        self.dims: tuple[str, ...] = (dims,) if isinstance(dims, str) else tuple(dims)
        if len(self.dims) != len(shape) or len(set(self.dims)) != len(shape):
            raise ArgumentError(f"block {self.name!r}: dims {self.dims}; expected {len(shape)} different names, for the "
                                f"axes of the shape {shape}")

    def __repr__(self) -> str:
        states = f", {self.states} states" if self.states else ""
        fixed = (f", total {self.total}" if self.total is not None
                 else f", occurrences {self.occurrences.tolist()}" if self.occurrences is not None else "")
        size = " x ".join(map(str, self.shape))
        return f"<saltus block {self.name!r}: {size} x {self.kind}{states}{fixed}>"

    def values(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Values of codes, of the same shape: -1 and 1 of spins, levels of ordinals, else the codes."""
        if self.kind == "spin":
            return 2 * codes.astype(np.int64) - 1
        return self.levels[codes] if self.levels is not None else codes

    def codes(self, values: NDArray[Any]) -> NDArray[np.int32]:
        """Codes of values, int32, of the same shape. ArgumentError for what is no value of the block."""
        if self.kind == "spin":
            codes = (values > 0).astype(np.int32)
            bad = np.abs(values) != 1
        elif self.levels is not None:
            codes = _nearest(self.levels, values)
            bad = ~(np.abs(self.levels[codes] - values) <= 1e-9 * np.maximum(1, np.abs(values)))
        else:
            most = (self.states or 2 ** 31) - 1
            with np.errstate(invalid="ignore"):
                codes = values.astype(np.int32)
            bad = (codes != values) | (codes < 0) | (codes > most)
        if bad.any():
            raise ArgumentError(f"block {self.name!r} ({self.kind}): {values[bad][0]:g} is not a value of it; expected "
                                + self._expected())
        return codes

    def draws(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Values of the codes (.., count), of the shape (.., *shape); integers unless there are fractional levels."""
        if self.levels is not None:
            whole = (self.levels == np.floor(self.levels)).all() and np.abs(self.levels).max() < 2 ** 31
            levels: NDArray[Any] = self.levels.astype(np.int32) if whole else self.levels
            values = levels[codes]
        else:
            values = codes.astype(np.int8 if self.states and self.states <= 128 else np.int32)
            if self.kind == "spin":
                values = 2 * values - 1
        return values.reshape(codes.shape[:-1] + self.shape)

    def _expected(self) -> str:
        if self.kind == "spin":
            return "-1 or 1"
        if self.levels is not None:
            return f"one of its {len(self.levels)} levels"
        return f"0 to {self.states - 1}" if self.states else "a whole number of 0 or more"


def _nearest(levels: NDArray[np.float64], values: NDArray[Any]) -> NDArray[np.int32]:
    """The codes of the levels that are nearest to values."""
    above = np.clip(np.searchsorted(levels, values), 1, len(levels) - 1)
    return np.where(values - levels[above - 1] < levels[above] - values, above - 1, above).astype(np.int32)


class _Layout:
    """Shapes, names of axes and labels that the blocks of a model were given.

    `shapes`: of blocks by name, each (shape, dims, coords) as :func:`spins` was given them; `dims` by block and
    `coords` by axis are those of the model, which come first.
    """

    def __init__(self, shapes: dict[str, GivenShape], dims: Any = None, coords: Any = None):
        self.shapes, self.dims, self.coords = shapes, dict(dims or {}), dict(coords or {})
        self.partial = False

    def free(self) -> "_Layout":
        """The layout of the same model with some variables clamped: blocks that lost variables have no shape."""
        layout = _Layout(self.shapes, self.dims, self.coords)
        layout.partial = True
        return layout

    def give(self, blocks: list[Block]) -> None:
        """Give the blocks their shapes, names of axes and labels."""
        unknown = set(self.dims) - {block.name for block in blocks}
        if unknown and not self.partial:
            raise ArgumentError(f"dims: there is no block {sorted(unknown)[0]!r}; there are: "
                                + ", ".join(block.name for block in blocks))
        labels = dict(self.coords)
        for block in blocks:
            shape, dims, coords = self.shapes.get(block.name, ((block.count,), None, None))
            if block.count != np.prod(shape, dtype=np.int64):
                continue  # some of its variables are clamped
            dims = self.dims.get(block.name, dims)
            if self.partial and block.name not in self.shapes and len(_names(dims)) != 1:
                dims = None
            block._give_shape(shape, dims)
            for dim, own in (coords or {}).items():
                if dim not in block.dims:
                    raise ArgumentError(f"block {block.name!r}: coords of {dim!r}; its dims are {block.dims}")
                if dim in labels and not np.array_equal(labels[dim], own):
                    raise ArgumentError(f"coords: {dim!r} has other labels in block {block.name!r} than before")
                labels[dim] = own
        self._label(blocks, labels)

    def _label(self, blocks: list[Block], labels: dict[str, Any]) -> None:
        """Give the blocks their labels, and check that axes of one name are alike."""
        sizes: dict[str, int] = {}
        for block in blocks:
            for dim, size in zip(block.dims, block.shape):
                if dim in ("chain", "draw") or any(dim == other.name for other in blocks):
                    raise ArgumentError(f"block {block.name!r}: dims {dim!r} is the name of a block or of an axis of "
                                        "draws; name it otherwise")
                if sizes.setdefault(dim, size) != size:
                    raise ArgumentError(f"dims: {dim!r} is an axis of {sizes[dim]} and of {size}")
                if dim in labels:
                    given = np.asarray(labels[dim])
                    if given.shape == (size,):
                        block.coords[dim] = given
                    elif not self.partial:
                        raise ArgumentError(f"coords: {dim!r} has {given.shape} labels; expected ({size},)")
        unknown = set(labels) - set(sizes)
        if unknown and not self.partial:
            raise ArgumentError(f"coords: there is no axis {sorted(unknown)[0]!r}; there are: {', '.join(sizes)}")


def _names(dims: Any) -> tuple[str, ...]:
    return () if dims is None else (dims,) if isinstance(dims, str) else tuple(dims)


class Model:
    """An unnormalised log-probability f over discrete variables: p(s) = exp(f(s)) / Z.

    f is in nats (natural logarithms); a larger f is more probable. It may be -inf, at a forbidden state, never NaN
    or +inf.

    Parameters
    ----------
    f : Expr, str or path
        A formula; or a ready-made model or file, as the program takes it ("ising:side=10,theta=0.2",
        "net.uai", a directory that a training wrote).
    dtype : {'f64', 'f32'}, optional
        Type of the numbers that the model computes with; formulas: 'f64'; else as the program does.
    name : str, optional
        Name in messages and summaries.
    dims : dict, optional
        Names of the axes of blocks, for xarray and pandas: {"spin": ("row", "column")}.
    coords : dict, optional
        Labels along these axes: {"row": ["a", "b"]}. Blocks may have both themselves (:func:`spins`).

    Attributes
    ----------
    variables, width : int
        Number of variables V, and of reals N in the embedding.
    shape : tuple of int
        The shape of one state: that of its only block, else (V,).
    blocks : list of Block
    params : Params
    multilinear : bool
        Whether f is known to be multilinear: its gradient then gives exact differences.
    info : dict
        What the library knows of the model: "dtype", "operations", "parameters", ...; "remark", if reading the
        file found something to report, such as the size of an alignment and what was dropped.

    Raises
    ------
    ShapeError
        The expression is not one number.
    NotFoundError
        No ready-made model or file has that name.
    ArgumentError
        A setting of a ready-made model, an unknown kind of file, or a formula without variables.
    DataError, FileError
        The content of the file is not acceptable; reading it failed.

    Warns
    -----
    SaltusWarning
        Something in the file was dropped, or read in a way that may be meant otherwise.

    Examples
    --------
    >>> import saltus as sal
    >>> model = sal.Model("ising:side=3,theta=0.5")
    >>> model.variables
    9
    >>> model.value([[1] * 9, [-1] * 9])
    array([18., 18.])
    """

    def __init__(self, f: Union[Expr, Path], dtype: Any = None, name: Optional[str] = None, *,
                 dims: Optional[Mapping[str, Sequence[str]]] = None, coords: Optional[Mapping[str, Any]] = None):
        values: dict[str, NDArray[np.float64]] = {}
        shapes: dict[str, GivenShape] = {}
        if isinstance(f, Expr):
            pointer, values, shapes = _formula.model_of(f, _dtype(dtype) != 1)
        else:
            if not isinstance(f, (str, os.PathLike)):
                torch = " (a PyTorch module becomes a model by saltus.from_torch)" if hasattr(f, "state_dict") else ""
                raise ArgumentError(f"Model: expected an expression or a text; found {type(f).__name__}{torch}")
            pointer = make("sal_model_open", encode(f), _dtype(dtype))
        self._set(Handle(pointer, "sal_model_destroy"), opened=None if isinstance(f, Expr) else f,
                  layout=_Layout(shapes, dims, coords))
        for parameter, value in values.items():
            self.params[parameter] = value
        if name is not None:
            self.name = name
        warn_of(self.info.get("remark"), self.info.get("warns"))

    def _set(self, handle: Handle, caught: Optional[Caught] = None,
             opened: Optional[Path] = None, layout: Optional["_Layout"] = None) -> None:
        self._layout = _Layout({}) if layout is None else layout
        self._handle, self._caught = handle, caught or Caught(stops=False)
        self._is_function = caught is not None  # a Python function, perhaps
        self._opened = opened  # the specification, file or directory that it was made from
        self._trained = opened is not None  # whether its parameters are still those of that
        self._describe()
        self._params = Params(self)

    def _describe(self) -> None:
        """Ask the library what the model is."""
        self.info: dict[str, Any] = ask("sal_flat_model_info", self._handle)
        if "remark" in self.info:
            self.info["remark"] = own_names(self.info["remark"])
        self.variables: int = self.info["variables"]
        self.width: int = self.info["width"]
        self.multilinear: bool = self.info["multilinear"]
        first = real = 0
        self.blocks: list[Block] = []
        for item in self.info["blocks"]:
            block = Block(item, first, real)
            self.blocks.append(block)
            first, real = block.variables.stop, block.reals.stop
        self._layout.give(self.blocks)
        self.shape: tuple[int, ...] = self.blocks[0].shape if len(self.blocks) == 1 else (self.variables,)

    @classmethod
    def _of(cls, handle: Handle, caught: Optional[Caught] = None, layout: Optional["_Layout"] = None) -> "Model":
        model = cls.__new__(cls)
        model._set(handle, caught, layout=layout)
        return model

    @classmethod
    def from_function(cls, f: Callable[[NDArray[np.float64]], Any], *blocks: Expr,
                      gradient: Optional[Callable[[NDArray[np.float64]], Any]] = None,
                      name: Optional[str] = None) -> "Model":
        """A model that is a Python function of many states at once.

        Parameters
        ----------
        f : callable
            From states x (states, N), the embedding in real numbers, to values (states,).
        *blocks : Expr
            The variables: what :func:`spins` and so on gave. x has their columns, in this order.
        gradient : callable, optional
            From x to the gradients (states, N). Without it only samplers that need no gradient work.
        name : str, optional

        Returns
        -------
        Model
            It computes in double precision, has no parameters, and cannot be saved.

        Raises
        ------
        ArgumentError
            A block is no block of variables, or there is none.

        Notes
        -----
        The functions are called with the interpreter's lock, so threads do not make them faster. What
        they raise ends the run, and is raised by the call that started it.

        Examples
        --------
        >>> import numpy as np, saltus as sal
        >>> model = sal.Model.from_function(lambda x: -x.sum(axis=1), sal.binary(4))
        >>> model.value([1, 1, 0, 0])
        -2.0
        """
        leaves = []
        for block in blocks:
            while block.op == "reshape":
                block = block.inputs[0]
            if block.op != "block":
                raise ArgumentError("from_function: expected blocks of variables, as saltus.spins(10)")
            leaves.append(block)
        if not leaves:
            raise ArgumentError("from_function: expected a block of variables, as saltus.spins(10)")
        orders = [block.order for block in leaves]
        if sorted(orders) != orders:
            leaves = [_formula.renewed(block) for block in leaves]
        space = _formula.space_of(leaves)
        caught = Caught(stops=False)
        width = lib.sal_space_width(space)

        def energy(states: int, x: Any, values: Any, slopes: Any, _: Any) -> None:
            try:
                inputs = np.array(np.ctypeslib.as_array(x, (states, width)))  # the user may keep it
                np.ctypeslib.as_array(values, (states,))[:] = _result(f(inputs), (states,), "f")
                if slopes:
                    assert gradient is not None  # without one the library asks for no slopes
                    np.ctypeslib.as_array(slopes, (states, width))[:] = _result(gradient(inputs), (states, width),
                                                                                "gradient")
            except BaseException as exception:  # it cannot pass through C
                caught.note(exception)
                np.ctypeslib.as_array(values, (states,))[:] = np.nan

        function = _library.ENERGY(energy)
        pointer = make("sal_flat_model_from_function", space, function, None, gradient is not None)
        model = cls._of(Handle(pointer, "sal_model_destroy", keep=function), caught,
                        _Layout(_formula.shapes_of(leaves)))
        if name is not None:
            model.name = name
        return model

    @classmethod
    def from_factors(cls, states: ArrayLike, factors: Iterable[tuple[Iterable[int], Any]], dtype: Any = None,
                     name: Optional[str] = None) -> "Model":
        """A factor graph: f is the sum of tables over few variables each.

        Parameters
        ----------
        states : sequence of int
            Number of states of each variable.
        factors : sequence of (scope, table)
            The factor's variables, and an array of its log-potentials with an axis for each of them; -inf
            forbids its states. Natural logarithms.

        Returns
        -------
        Model

        Raises
        ------
        ArgumentError
            A factor's variable does not exist, or its table has NaN or +inf.
        ShapeError
            A table has other sizes than its variables have states, or a scope has a variable twice.

        Examples
        --------
        >>> import numpy as np, saltus as sal
        >>> model = sal.Model.from_factors([2, 3], [((0, 1), np.arange(6.0).reshape(2, 3))])
        >>> model.value([1, 2])
        5.0
        """
        sizes = np.ascontiguousarray(states, dtype=np.int32)
        scopes, tables = [], []
        for number, (variables, values) in enumerate(factors):
            scope, table = [int(v) for v in variables], reals(values, f"factor {number}")
            if any(not 0 <= v < len(sizes) for v in scope):
                raise ArgumentError(f"factor {number}: variables {scope}; there are {len(sizes)}")
            if table.shape != tuple(sizes[scope]):
                raise ShapeError(f"factor {number}: expected a table of shape {tuple(int(n) for n in sizes[scope])}; "
                                 f"found {table.shape}")
            if np.isnan(table).any() or (table == np.inf).any():
                raise ArgumentError(f"factor {number}: its table has NaN or +inf; log-potentials are finite or -inf")
            scopes.append(scope)
            tables.append(table.ravel())
        begin = np.concatenate([[0], np.cumsum([len(scope) for scope in scopes])]).astype(np.int64)
        members = np.array([v for part in scopes for v in part], dtype=np.int64)
        numbers = np.ascontiguousarray(np.concatenate(tables)) if tables else np.empty(0)
        pointer = make("sal_model_from_factors", len(sizes), address(sizes), len(scopes), address(begin),
                       address(members), address(numbers), _dtype(dtype) or 2)
        model = cls._of(Handle(pointer, "sal_model_destroy"))
        if name is not None:
            model.name = name
        return model

    @property
    def _as_parameter_(self) -> int:
        return self._handle._as_parameter_

    def _calls(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """A call that may evaluate a Python function, whose exceptions pass."""
        interrupts = _library.Interrupts()
        try:
            with interrupts, self._caught:
                result = function(*arguments)
        except _library.SaltusError:
            self._caught.reraise()
            raise
        if interrupts.seen:
            raise KeyboardInterrupt
        return result

    def _call(self, name: str, *arguments: Any) -> None:
        if self._handle.keep is None:  # no Python function
            call(name, *arguments)
        else:
            self._calls(call, name, *arguments)

    def __repr__(self) -> str:
        blocks = ", ".join(f"{b.name}: {b.count} x {b.kind}" for b in self.blocks)
        return f"<saltus Model {self.name + ' ' if self.name else ''}({blocks}; {self.info['dtype']})>"

    @property
    def name(self) -> str:
        """The name in messages and summaries."""
        return lib.sal_model_name(self).decode("utf-8", "replace")

    @name.setter
    def name(self, name: str) -> None:
        call("sal_model_set_name", self, name.encode())

    @property
    def params(self) -> Params:
        """The parameters by name."""
        return self._params

    @params.setter
    def params(self, values: Any) -> None:
        raise AttributeError("model.params is not to be replaced; model.params.update(values) sets parameters")

    @property
    def samplers(self) -> list[str]:
        """Names of the samplers that can sample this model."""
        return list(self.info["samplers"])

    def label(self, variable: int, code: Optional[int] = None) -> Optional[str]:
        """The name of a variable, or of one of its states, in the file that the model was made from; None: no name.

        Raises
        ------
        OutOfRangeError
            There is no such variable or state.
        """
        v, k = operator.index(variable), -1 if code is None else operator.index(code)
        if not 0 <= v < self.variables:
            raise OutOfRangeError(f"label: there is no variable {v}; there are {self.variables}")
        states = lib.sal_space_states(lib.sal_model_space(self), v)
        if code is not None and not 0 <= k < (states or 2 ** 31):
            raise OutOfRangeError(f"label: variable {v} has no state {k}")
        name = lib.sal_model_label(self, v, k)
        return None if name is None else name.decode("utf-8", "replace")

    # ---- states

    def codes(self, x: Any) -> NDArray[np.int32]:
        """Codes of states that are given by value.

        Parameters
        ----------
        x : array, shape (.., V) or (.., *shape); or dict
            Values: -1 and 1 of spins, 0 and 1 of binary variables, levels of ordinals, labels of
            categorical variables, counts. A dict has an array (.., *shape) for each block, by name.

        Returns
        -------
        array of int32, of the same shape; of a dict (.., V)

        Raises
        ------
        ShapeError
            The last axes are neither V long nor those of `shape`.
        ArgumentError
            A number is no value of its variable.

        Examples
        --------
        >>> import saltus as sal
        >>> sal.Model(sal.spins(3).sum()).codes([-1, 1, 1])
        array([0, 1, 1], dtype=int32)
        """
        values, shape = self._flat(x, "states")
        if values.dtype.kind not in "iufb":
            raise ArgumentError(f"states: expected numbers; found {values.dtype}")
        if values.dtype.kind in "ub":  # their differences and signs would be others
            values = values.astype(np.int64)
        if len(self.blocks) == 1:
            return self.blocks[0].codes(values).reshape(shape)
        codes = np.empty(values.shape, dtype=np.int32)
        for block in self.blocks:
            codes[..., block.variables] = block.codes(values[..., block.variables])
        return codes

    def _flat(self, x: Any, what: str) -> tuple[NDArray[Any], tuple[int, ...]]:
        """States as (.., V), and the shape that they were given in."""
        if isinstance(x, Mapping):
            x = self._joined(x, what)
        array = plain(x, what)
        axes = len(self.shape)
        if axes > 1 and array.shape[-axes:] == self.shape:
            return array.reshape(array.shape[:-axes] + (self.variables,)), array.shape
        if array.ndim < 1 or array.shape[-1] != self.variables:
            shaped = f"(.., {', '.join(map(str, self.shape))}) or " if axes > 1 else ""
            raise ShapeError(f"{what}: expected the shape {shaped}(.., {self.variables}); found {array.shape}")
        return array, array.shape

    def _joined(self, x: Any, what: str) -> NDArray[Any]:
        """States (.., V) of arrays by block."""
        names = [block.name for block in self.blocks]
        if set(x) != set(names):
            raise ArgumentError(f"{what}: expected an array for each block, of {', '.join(names)}; found those of "
                                + (", ".join(map(str, x)) or "none"))
        parts = []
        for block in self.blocks:
            part, axes = plain(x[block.name], what), len(block.shape)
            if part.shape[-axes:] != block.shape:
                raise ShapeError(f"{what}: block {block.name!r}: expected the shape (.., "
                                 f"{', '.join(map(str, block.shape))}); found {part.shape}")
            parts.append(part.reshape(part.shape[:-axes] + (block.count,)))
        if len({part.shape[:-1] for part in parts}) > 1:
            raise ShapeError(f"{what}: the blocks have different numbers of states: "
                             + ", ".join(str(part.shape[:-1]) for part in parts))
        return np.concatenate(parts, axis=-1)

    def _shaped(self, states: NDArray[Any]) -> NDArray[Any]:
        """States (.., V) as (.., *shape)."""
        return states.reshape(states.shape[:-1] + self.shape)

    def values(self, codes: Any) -> NDArray[Any]:
        """Values of states that are given by code: the inverse of :meth:`codes`.

        Parameters
        ----------
        codes : array of int, shape (.., V) or (.., *shape); or dict
            As the states of :meth:`codes`.

        Returns
        -------
        array, of the same shape; of a dict (.., V)
            int8 of spins, binary and categorical variables; float64 if there are real levels; else int32.

        Raises
        ------
        ShapeError, ArgumentError
            As :meth:`codes`.
        """
        codes, shape = self._flat(codes, "codes")
        _check_codes(codes)
        for block in self.blocks:
            own = codes[..., block.variables]
            if block.states and own.size and own.max() >= block.states:
                raise ArgumentError(f"block {block.name!r} ({block.kind}): there is no code {own.max()}; expected 0 to "
                                    f"{block.states - 1}")
        if all(block.kind == "spin" for block in self.blocks):
            return (2 * codes.astype(np.int8) - 1).reshape(shape)
        if all(block.kind in ("spin", "binary", "categorical") and (block.states or 0) <= 128 for block in self.blocks):
            values = codes.astype(np.int8)
            for block in self.blocks:
                if block.kind == "spin":
                    values[..., block.variables] = 2 * values[..., block.variables] - 1
            return values.reshape(shape)
        real = any(block.levels is not None for block in self.blocks)
        values = np.empty(codes.shape, dtype=np.float64 if real else np.int32)
        for block in self.blocks:
            values[..., block.variables] = block.values(codes[..., block.variables])
        return values.reshape(shape)

    def _states(self, x: Any, codes: bool) -> tuple[NDArray[np.int32], tuple[int, ...]]:
        """Codes (states, V), and the shape of the states."""
        given, _ = self._flat(x if codes else self.codes(x), "codes")
        if codes:
            _check_codes(given)
        return np.ascontiguousarray(given.reshape(-1, self.variables), dtype=np.int32), given.shape[:-1]

    # ---- values

    def value(self, x: Any, codes: bool = False) -> Any:
        """f of states.

        Parameters
        ----------
        x : array, shape (V,) or (.., V)
            States by value (see :meth:`codes`), or with ``codes=True`` by code.

        Returns
        -------
        float, or array of the shape of the states
            In nats; -inf at forbidden states.

        Raises
        ------
        ModelError
            f is NaN or +inf; the message has the state.
        ShapeError, ArgumentError
            As :meth:`codes`.
        """
        states, shape = self._states(x, codes)
        f = np.empty(len(states))
        self._call("sal_model_evaluate", self, len(states), address(states), address(f), None, None)
        return float(f[0]) if shape == () else f.reshape(shape)

    def gradient(self, x: Any, codes: bool = False) -> NDArray[np.float64]:
        """The gradient of f by the embedding x at states.

        Parameters
        ----------
        x, codes
            As in :meth:`value`.

        Returns
        -------
        array, shape (.., N)
            N = :attr:`width`: one real for each variable, but of categorical variables one for each state.

        Raises
        ------
        UnsupportedError
            A Python function without a gradient.
        ModelError, ShapeError, ArgumentError
            As :meth:`value`.
        """
        states, shape = self._states(x, codes)
        f, gradient = np.empty(len(states)), np.empty((len(states), self.width))
        self._call("sal_model_evaluate", self, len(states), address(states), address(f), address(gradient), None)
        return gradient.reshape(shape + (self.width,))

    def differences(self, x: Any, codes: bool = False) -> NDArray[np.float64]:
        """The exact changes of f when one variable moves.

        Parameters
        ----------
        x, codes
            As in :meth:`value`.

        Returns
        -------
        array, shape (.., R)
            f(s with variable v in state k) - f(s), the states of variable 0 first; R is the sum of the
            variables' states. A count without a cap has two entries, for one less and one more; beyond
            the border it is -inf. The entry of the state itself is 0.

        Raises
        ------
        ModelError, ShapeError, ArgumentError
            As :meth:`value`.

        Examples
        --------
        >>> import saltus as sal
        >>> s = sal.spins(2)
        >>> sal.Model(s[0] * s[1]).differences([1, 1])
        array([-2.,  0., -2.,  0.])
        """
        states, shape = self._states(x, codes)
        count = sum(lib.sal_space_states(lib.sal_model_space(self), v) or 2 for v in range(self.variables))
        f, differences = np.empty(len(states)), np.empty((len(states), count))
        self._call("sal_model_evaluate", self, len(states), address(states), address(f), None, address(differences))
        return differences.reshape(shape + (count,))

    def decode(self, x: Any, codes: bool = False) -> tuple[NDArray[Any], float]:
        """A state made feasible by the model's rule, or led up to a state from which no single change leads up.

        Models of independent sets and cliques drop nodes in conflict and then add free ones; all others climb.

        Parameters
        ----------
        x, codes
            As in :meth:`value`, of one state.

        Returns
        -------
        state : array, of the model's `shape`
            Codes with ``codes``, else values.
        f : float

        Raises
        ------
        ModelError, ShapeError, ArgumentError
            As :meth:`value`.

        Examples
        --------
        >>> import saltus as sal
        >>> state, f = sal.Model("independent-set:nodes=10,degree=3").decode([1] * 10)
        >>> bool(f == state.sum())
        True
        """
        states, shape = self._states(x, codes)
        if shape != ():
            raise ShapeError(f"decode: expected one state; found the shape {np.shape(x)}")
        state, f = states[0].copy(), np.empty(1)
        self._call("sal_model_decode", self, address(state), address(f))
        return self._shaped(state if codes else self.values(state)), float(f[0])

    def value_at(self, x: Any) -> Any:
        """f at any real x, shape (.., N), also between the states: what the formula says there.

        Raises
        ------
        ShapeError
            The last axis is not N long.
        ModelError
            f is NaN or +inf there.
        """
        f = self._evaluate_at(self._points(x), None)
        return float(f) if f.shape == () else f

    def gradient_at(self, x: Any) -> NDArray[np.float64]:
        """The gradient of f at any real x, shape (.., N).

        Raises
        ------
        ShapeError, ModelError, UnsupportedError
            As :meth:`value_at` and :meth:`gradient`.
        """
        points = self._points(x)
        gradient = np.empty(points.shape)
        self._evaluate_at(points, gradient)
        return gradient

    def _points(self, x: Any) -> NDArray[np.float64]:
        points = reals(x, "x")
        if points.ndim < 1 or points.shape[-1] != self.width:
            raise ShapeError(f"x: expected the shape (.., {self.width}); found {points.shape}")
        return points

    def _evaluate_at(self, points: NDArray[np.float64], gradient: Optional[NDArray[np.float64]]) -> NDArray[np.float64]:
        """f at points (.., N); `gradient`, of the shape of the points, is filled."""
        f = np.empty(points.shape[:-1])
        self._call("sal_model_evaluate_at", self, f.size, address(points), address(f), address(gradient))
        return f

    def _clamps(self, states: Mapping[Any, Any], codes: bool) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Variables and codes to be fixed."""
        if not all(isinstance(v, (int, np.integer)) for v in states):
            raise ArgumentError("clamp: expected {index of a variable: value}")
        states = {int(v): value for v, value in states.items()}
        variables = np.array(list(states), dtype=np.int64)
        fixed = np.empty(len(variables), dtype=np.int32)
        for k, v in enumerate(variables):
            if not 0 <= v < self.variables:
                raise ArgumentError(f"clamp: there is no variable {v}; there are {self.variables}")
            block = next(b for b in self.blocks if v < b.variables.stop)
            value = np.asarray([states[v]])
            if codes:
                _check_codes(value)
            fixed[k] = int((value if codes else block.codes(value))[0])
        return variables, fixed

    # ---- other models, and files

    def clamp(self, states: Mapping[Any, Any], codes: bool = False) -> "Model":
        """The model over the other variables, with some fixed.

        Parameters
        ----------
        states : dict
            From indices of variables to their values, or with ``codes=True`` to codes.

        Returns
        -------
        Model
            Its variables are the free ones, in order. It shares the parameters with this model: what is set
            in one, or learned, the other has too.

        Raises
        ------
        ArgumentError
            No such variable or value; nothing left free; the model is clamped already.

        Examples
        --------
        >>> import saltus as sal
        >>> s = sal.spins(3)
        >>> model = sal.Model((sal.param("b", value=[1.0, 2.0, 3.0]) * s).sum())
        >>> clamped = model.clamp({0: 1})
        >>> clamped.value([1, 1])
        6.0
        >>> model.params["b"] = [0, 0, 1]
        >>> clamped.value([1, 1])
        1.0
        """
        variables, fixed = self._clamps(states, codes)
        pointer = make("sal_model_clamp", self, len(variables), address(variables), address(fixed))
        return Model._of(Handle(pointer, "sal_model_destroy", keep=self._handle), self._caught, self._layout.free())

    def fix_sum(self, block: Union[str, Block], total: int) -> None:
        """Fix the sum of the values of a block: the states are then those with this sum only.

        Fix sums before the model is clamped or sampled. Blocks of one's own formulas have `total`
        (:func:`binary` and so on); this is for models by name, from files and from Python functions.

        Parameters
        ----------
        block : str or Block
            Of binary variables, spins, or counts with a cap.
        total : int

        Raises
        ------
        NotFoundError
            There is no such block.
        ArgumentError
            No state has the total; the block is of another kind; the model is clamped; runs, chains or clamped
            models use it.

        Examples
        --------
        >>> import saltus as sal
        >>> model = sal.Model("ising:side=4")
        >>> model.fix_sum("spin", 0)
        >>> model.blocks
        [<saltus block 'spin': 16 x spin, 2 states, total 0>]
        """
        name = block.name if isinstance(block, Block) else block
        call("sal_model_fix_sum", self, name.encode(), operator.index(total))
        self._describe()

    def observe(self, path: Path, sample: int = 0) -> "Model":
        """The model with the evidence in a .uai.evid file fixed, as by :meth:`clamp`.

        Parameters
        ----------
        path : path
        sample : int
            Which sample of a file with several, from 1; 0: the only one of the file.

        Raises
        ------
        NotFoundError, FileError
            There is no such file, or reading it failed.
        DataError
            The file is no evidence, or does not fit the model.
        ArgumentError
            The file has no such sample, or several and none is chosen; else as :meth:`clamp`. Evidence on all
            variables leaves nothing to sample: :meth:`exact` takes it.

        Warns
        -----
        SaltusWarning
            The file can be read as one sample or as several, and nothing in it decides.
        """
        variables, codes = self._evidence(path, sample)
        pointer = make("sal_model_clamp", self, len(variables), address(variables), address(codes))
        return Model._of(Handle(pointer, "sal_model_destroy", keep=self._handle), self._caught, self._layout.free())

    def _evidence(self, path: Path, sample: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The observed variables and their codes."""
        n, variables, codes, remark = ctypes.c_int64(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        call("sal_model_evidence", encode(path), self, sample, ctypes.addressof(n), ctypes.byref(variables),
             ctypes.byref(codes), ctypes.byref(remark))
        try:
            if remark.value:
                warn_of(ctypes.string_at(remark.value).decode("utf-8", "replace"), True)
            size = n.value
            return (np.array((ctypes.c_int64 * size).from_address(variables.value or 0), dtype=np.int64),
                    np.array((ctypes.c_int32 * size).from_address(codes.value or 0), dtype=np.int32))
        finally:
            lib.sal_free(variables)
            lib.sal_free(codes)
            lib.sal_free(remark)

    def save(self, path: Path) -> None:
        """Write the formula as NAME.xml, and its parameters beside it as NAME.safetensors.

        Raises
        ------
        UnsupportedError
            The model is a Python function, or clamped: save the original.
        ArgumentError
            The path does not end in .xml.
        FileError
            Writing failed.
        """
        call("sal_model_save", self, encode(path))

    # ---- answers

    def check(self, seed: Any = None) -> dict[str, Any]:
        """Compare gradient and differences with differences of f, at random states, in double precision.

        Parameters
        ----------
        seed
            Of the states, as in :func:`sample`.

        Returns
        -------
        dict
            "gradient_error", "first_order_error" (of first-order differences, against exact ones),
            "against_error" (between ways to find the exact ones): the largest ones, relative to the largest
            entry. "differences_by" and "against": these ways. "states", "slopes", "kinks", "changes": how many
            were looked at. "seed": that of the states.

        Raises
        ------
        ModelError
            No state with finite f was found, f is NaN or +inf, or the gradient is NaN, or infinite where f is finite on both
            sides: the message says where.
        UnsupportedError
            The model has no gradient.

        Notes
        -----
        It cannot be stopped: Ctrl-C takes effect when it has ended.
        """
        number = seed_of(seed)
        return dict(self._calls(ask, "sal_flat_check", self, None, number), seed=number)

    def exact(self, evidence: Optional[Path] = None, sample: int = 0, **options: Any) -> "Exact":
        """log Z and marginals, where they can be computed.

        Parameters
        ----------
        evidence : path, optional
            Answers for the model with this evidence, as of :meth:`observe`. If it fixes every variable, `log_z`
            is the value of f there: of a Bayesian network, the log-probability of that state.
        sample : int
            Which sample of the evidence, from 1; 0: the only one of the file. Without evidence an error.
        **options
            oracle : {'forward-backward', 'closed form', 'enumeration', 'elimination', 'enumeration of hidden units'}
                None: the cheapest one that can serve the model, but one that knows the mean of f if there is one.
            limit : int
                The most states to enumerate, of the model or of an RBM's hidden units, 2^20.
            memory : int
                The most bytes of elimination's tables, 2^30.
            threads : int

        Returns
        -------
        Exact

        Raises
        ------
        UnsupportedError
            No oracle can serve the model; the message has the reason of each. Counts without a cap have none.
        ModelError
            f is NaN or +inf at a state, or -inf at all.
        ArgumentError, NotFoundError
            There is no such oracle; no such option.

        Notes
        -----
        It cannot be stopped: Ctrl-C takes effect when it has ended.

        References
        ----------
        Elimination: Dechter (1999), Bucket elimination. Its orders: Kjaerulff (1990); Gogate & Dechter (2004).
        """
        if evidence is None:
            _refuse_sample(sample)
            return Exact(self, options)
        variables, codes = self._evidence(evidence, sample)
        if len(variables) < self.variables:
            return Exact(self.observe(evidence, sample), options)
        return Exact._of_state(self, codes)

    def exact_draws(self, n: int, seed: Any = None, codes: bool = False, **options: Any) -> NDArray[Any]:
        """Independent draws from p, without a chain, where :meth:`exact` can answer.

        Parameters
        ----------
        n : int
            How many, at least 1.
        seed
            None: another one each time.
        codes : bool
            Whether states are given as codes, and not as values.
        **options
            As those of :meth:`exact`. Chains are drawn by elimination.

        Returns
        -------
        array, shape (n, *shape)
            As of :meth:`values`; codes are int32.

        Raises
        ------
        UnsupportedError, ModelError, NotFoundError
            As :meth:`exact`.
        ArgumentError
            n is less than 1; there is no such oracle.

        Notes
        -----
        Draws of a model with evidence or clamps have its free variables only. With the same seed, more draws begin
        with the same ones. It cannot be stopped: Ctrl-C takes effect when it has ended.

        References
        ----------
        Dawid (1992), Applications of a general propagation algorithm for probabilistic expert systems; Dechter (1999).

        Examples
        --------
        Of two modes that no sampler of single flips crosses between, both are drawn:

        >>> import saltus as sal
        >>> draws = sal.Model("ising:side=4,theta=0.5").exact_draws(2000, seed=1)
        >>> draws.shape
        (2000, 16)
        >>> bool(abs((draws.sum(axis=1) > 0).mean() - 0.5) < 0.05)
        True
        """
        n = operator.index(n)
        drawn = np.empty((max(n, 1), self.variables), dtype=np.int32)
        answer = self._calls(ask, "sal_flat_exact_draws", self, _library.options_text(options), n, seed_of(seed),
                             address(drawn))
        if "warning" in answer:
            warn_of(own_names(answer["warning"]), True)
        return self._shaped(drawn if codes else self.values(drawn))

    def balance(self, sampler: Optional[str] = None, own: OwnSamplers = (), **options: Any) -> dict[str, Any]:
        """Prove a sampler on this model, which must be small, by its exact transition matrix.

        Parameters
        ----------
        sampler : str, optional
            A name with settings; None: the first of `own`.
        own : Sampler or list of them, optional
            Samplers of one's own.
        **options
            Those of a run that matter here: step_size, seed, and draws, the steps from each state (1000).

        Returns
        -------
        dict
            "invariance", the largest change of the distribution by a step, and "normalisation", how far
            the proposals' probabilities are from summing to 1, are 0 but for rounding (1e-12 in double) if the
            sampler is right. "reversibility": by how much detailed balance is missed (with "directions" the
            generalised one, whose way back has the reverse direction), which is not needed.
            "frequency", a standard normal number, is above 5 if it does not draw what it says. "unreached":
            states that it never reaches. "worst": two states, as codes. "directions": 1 without. "seed": that
            of what was drawn.

        Raises
        ------
        UnsupportedError
            More than 4096 states (times directions); a sampler that does not serve the model, or cannot tell probabilities, as
            those with Gaussian auxiliary variables.
        ArgumentError
            There is no such sampler.
        ModelError
            f is NaN or +inf at a state.

        Notes
        -----
        Time and memory grow with the square of the number of states. A model in double shows errors best.

        References
        ----------
        "frequency": Wilson & Hilferty (1931), which turns the chi-square statistic into a normal one.
        """
        from ._run import run_options
        from ._sampler import as_list
        samplers = as_list(own)
        if sampler is None and samplers:
            sampler = samplers[0].name
        seed = seed_of(options.get("seed"))
        made = run_options(self, dict(options, sampler=sampler, seed=seed), own=samplers)
        watch = [self._caught] + [one._caught for one in samplers]
        try:
            with contextlib.ExitStack() as calls:
                for caught in watch:
                    calls.enter_context(caught)
                proof = ask("sal_flat_balance", self, made)
        finally:
            for caught in watch:
                caught.reraise()
        return dict(proof, seed=seed)


class Exact:
    """Exact answers about a model.

    Attributes
    ----------
    log_z : float
        The natural log of the sum of exp f over all states.
    log_prob_mean, entropy : float or None
        The mean of f under p, and log_z less that, in nats. None: a mixture or an RBM too large to enumerate.
    marginals : list of array, each of shape (states,)
        The probabilities of each variable's states, by variable.
    oracle : str
        What answered.
    rounding : float
        By how much rounding to the model's type may have changed f; where that is not small, a warning says so.
    """

    def __init__(self, model: Model, options: dict[str, Any]):
        space = lib.sal_model_space(model)
        states = [lib.sal_space_states(space, v) for v in range(model.variables)]
        flat = np.empty(int(np.sum(states)))
        answer = model._calls(ask, "sal_flat_exact", model, _library.options_text(options), address(flat), None, None)
        if "warning" in answer:
            warn_of(own_names(answer["warning"]), True)
        self.rounding: float = answer["rounding"]
        self.oracle: str = answer["oracle"]
        self.log_z: float = answer["log_z"]
        self.log_prob_mean: Optional[float] = answer["log_prob_mean"]
        self.entropy: Optional[float] = answer["entropy"]
        self.marginals: list[NDArray[np.float64]] = np.split(flat, np.cumsum(states)[:-1])

    @classmethod
    def _of_state(cls, model: Model, codes: NDArray[Any]) -> "Exact":
        """The answers where every variable is fixed."""
        f = float(model.value(codes, codes=True))
        if np.isinf(f):
            raise ModelError(f"{model.name}: every variable is fixed, and f is -inf there: the state has probability 0")
        exact = cls.__new__(cls)
        exact.oracle, exact.log_z, exact.log_prob_mean, exact.entropy = "the value of f", f, f, 0.0
        exact.rounding = 0.0
        space = lib.sal_model_space(model)
        exact.marginals = [np.zeros(lib.sal_space_states(space, v)) for v in range(model.variables)]
        for row, code in zip(exact.marginals, codes):
            if row.size:  # not of counts without a cap
                row[code] = 1
        return exact

    def __repr__(self) -> str:
        return f"<saltus Exact: log Z {self.log_z:.10g}, by {self.oracle}>"


def _refuse_sample(sample: int) -> None:
    """Where no evidence is given, there is none to choose a sample of."""
    if sample != 0:
        raise ArgumentError(f"sample {sample!r} chooses a sample of `evidence`, which is not given")


def _check_codes(codes: NDArray[Any]) -> None:
    """Whether numbers can be codes at all; they become int32."""
    if codes.dtype.kind not in "iub":
        raise ArgumentError(f"codes: expected integers; found {codes.dtype}")
    if codes.size and (int(codes.min()) < 0 or int(codes.max()) >= 2 ** 31):
        wrong = codes.min() if int(codes.min()) < 0 else codes.max()
        raise ArgumentError(f"codes: {int(wrong)} is no code")


def _result(values: Any, shape: tuple[int, ...], what: str) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise ShapeError(f"{what} of {shape[0]} states: expected the shape {shape}; found {array.shape}")
    return array


def read(path: Path, evidence: Optional[Path] = None, dtype: Any = None,
         sample: int = 0) -> Model:
    """Open a model from a file or directory, with evidence if there is some.

    Parameters
    ----------
    path : path
        A file, or the directory of a training.
    evidence : path, optional
        See :meth:`Model.observe`.
    dtype : {'f64', 'f32'}, optional
    sample : int
        Which sample of the evidence, from 1; 0: the only one of the file.

    Returns
    -------
    Model

    Raises
    ------
    NotFoundError, DataError, ArgumentError, FileError
        As :class:`Model` and :meth:`Model.observe`.

    Examples
    --------
    >>> saltus.read("net.uai", evidence="net.uai.evid")  # doctest: +SKIP
    """
    if evidence is None:
        _refuse_sample(sample)
        return Model(path, dtype=dtype)
    return Model(path, dtype=dtype).observe(evidence, sample)


def list_of(what: str) -> list[dict[str, Any]]:
    """What there is to choose from.

    Parameters
    ----------
    what : {'samplers', 'models', 'ops', 'formats', 'options', 'figures'}

    Returns
    -------
    list of dict
        Each has "name"; what else there is depends on `what`.

    Raises
    ------
    NotFoundError
        There is no such list.

    Examples
    --------
    >>> import saltus as sal
    >>> "gwg" in [sampler["name"] for sampler in sal.list_of("samplers")]
    True
    """
    return ask("sal_flat_list", what.encode())


AnyModel = Union[Model, Expr, Path]


def as_model(model: AnyModel, dtype: Any = None) -> Model:
    """A model as it is, or made from an expression, a specification or a file."""
    return model if isinstance(model, Model) else Model(model, dtype=dtype)


def exact(model: AnyModel, **options: Any) -> Exact:
    """log Z and marginals of a model: see :meth:`Model.exact`.

    Examples
    --------
    >>> import saltus as sal
    >>> round(sal.exact("ising:side=3,theta=0").log_z / 9, 4)
    0.6931
    """
    return as_model(model).exact(**options)


def check(model: AnyModel, seed: Any = None) -> dict[str, Any]:
    """Compare gradient and differences of a model with differences of f: see :meth:`Model.check`."""
    return as_model(model).check(seed)

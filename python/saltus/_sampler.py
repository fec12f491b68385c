# SPDX-License-Identifier: MIT
"""Samplers of one's own: two functions that propose states; the library does the rest."""

from __future__ import annotations

import ctypes
import operator
from typing import Any, Callable, Iterable, Optional, Sequence, Union, overload

import numpy as np
from numpy.typing import NDArray

from . import _library
from ._formula import _KINDS
from ._library import ArgumentError, Caught, Handle, ModelError, ShapeError, address, lib, make

_UNBOUNDED = 1 << 6  # counts without a cap
_FIXED = 1 << 7  # within fixed sums and labels
_MOST = 2**63 - 1


def _copied(pointer: int, n: int, dtype: Any) -> NDArray[Any]:
    """A copy of n numbers: the library's own array ends with the call."""
    array = np.empty(n, dtype=dtype)
    if n:
        ctypes.memmove(array.ctypes.data, pointer, array.nbytes)
    return array


class Origin:
    """The state that a proposal starts from. Each array is a copy, which you may change.

    f, gradient and differences are those of the chain's target: at an inverse temperature `beta` they
    are already multiplied by it.
    """

    __slots__ = ("_pointer",)

    def __init__(self, pointer: int):
        self._pointer: Optional[int] = pointer

    def _at(self) -> int:
        if self._pointer is None:
            raise ValueError("an origin is valid only during the call that it was given to")
        return self._pointer

    def _array(self, name: bytes, needs: str) -> NDArray[np.float64]:
        n = ctypes.c_int64()
        pointer = lib.sal_flat_origin_array(self._at(), name, ctypes.addressof(n))
        if not pointer and needs:
            raise ArgumentError(f"origin.{name.decode()}: create the sampler with {needs}=True")
        return _copied(pointer, n.value, np.float64)

    @property
    def codes(self) -> NDArray[np.int32]:
        """The codes, shape (V,), int32."""
        n = ctypes.c_int64()
        pointer = lib.sal_flat_origin_codes(self._at(), ctypes.addressof(n))
        return _copied(pointer, n.value, np.int32)

    @property
    def x(self) -> NDArray[np.float64]:
        """The embedding in real numbers, shape (N,): one-hot for categorical variables, else the values."""
        return self._array(b"x", "")

    @property
    def gradient(self) -> NDArray[np.float64]:
        """The gradient of f by x, shape (N,). ArgumentError unless the sampler has needs_gradient."""
        return self._array(b"gradient", "needs_gradient")

    @property
    def differences(self) -> NDArray[np.float64]:
        """The exact changes of f when one variable moves, shape (R,), as in :meth:`Model.differences`.

        ArgumentError unless the sampler has needs_differences.
        """
        return self._array(b"differences", "needs_differences")

    @property
    def f(self) -> float:
        """f of the state; -inf if it is forbidden, as a chain's start may be."""
        return lib.sal_flat_origin_number(self._at(), b"f")

    @property
    def beta(self) -> float:
        """The inverse temperature of the chain's target."""
        return lib.sal_flat_origin_number(self._at(), b"beta")

    @property
    def step_size(self) -> float:
        """The step size, in squared units of the embedding; NaN unless the sampler has one."""
        return lib.sal_flat_origin_number(self._at(), b"step_size")

    @property
    def direction(self) -> int:
        """The chain's direction, or its reverse in `log_q` of a way back; 0 unless the sampler has directions."""
        return int(lib.sal_flat_origin_number(self._at(), b"direction"))


class Random:
    """The random numbers of one proposal, functions of seed, chain and step: use no others."""

    __slots__ = ("_pointer",)

    def __init__(self, pointer: int):
        self._pointer: Optional[int] = pointer

    def _at(self) -> int:
        if self._pointer is None:
            raise ValueError("random numbers are valid only during the call that they were given to")
        return self._pointer

    def _numbers(self, normal: bool, n: Optional[int]) -> Any:
        numbers = np.empty(1 if n is None else n)
        lib.sal_flat_random(self._at(), normal, len(numbers), address(numbers))
        return float(numbers[0]) if n is None else numbers

    @overload
    def uniform(self, n: None = None) -> float: ...
    @overload
    def uniform(self, n: int) -> NDArray[np.float64]: ...

    def uniform(self, n: Optional[int] = None) -> Any:
        """A number strictly between 0 and 1, or an array of n."""
        return self._numbers(False, n)

    @overload
    def normal(self, n: None = None) -> float: ...
    @overload
    def normal(self, n: int) -> NDArray[np.float64]: ...

    def normal(self, n: Optional[int] = None) -> Any:
        """A standard normal number, or an array of n."""
        return self._numbers(True, n)

    def below(self, bound: int) -> int:
        """A whole number from 0 to bound - 1, all equally likely.

        Raises
        ------
        ArgumentError
            The bound is no whole number from 1 to 2^63 - 1.
        """
        if not hasattr(bound, "__index__") or not 1 <= operator.index(bound) <= _MOST:
            raise ArgumentError(f"random.below({bound!r}): expected a whole number of 1 or more, below 2^63")
        return lib.sal_random_below(self._at(), operator.index(bound))

    def softmax(self, log_weights: Any) -> int:
        """An index k with probability proportional to exp(log_weights[k]).

        Parameters
        ----------
        log_weights : array, shape (n,)
            Natural logarithms; they need not sum to anything.

        Raises
        ------
        ModelError
            All weights are -inf, or one is NaN or +inf.
        ShapeError
            They are no vector.
        """
        weights = np.ascontiguousarray(log_weights, dtype=np.float64)
        if weights.ndim != 1:
            raise ShapeError(f"random.softmax: expected a vector of weights; found the shape {weights.shape}")
        k = lib.sal_random_softmax(self._at(), len(weights), address(weights))
        if k < 0:
            raise ModelError("random.softmax: no weight is above -inf, or one is NaN or +inf")
        return k


def _kinds(names: Optional[Iterable[str]]) -> int:
    kinds = 0
    for name in [names] if isinstance(names, str) else names or []:
        if name == "unbounded":
            kinds |= _UNBOUNDED
        elif name == "fixed-sums":
            kinds |= _FIXED
        elif name in _KINDS:
            kinds |= 1 << _KINDS[name]
        else:
            raise ArgumentError(f"kinds: {name!r}; expected some of: {', '.join(_KINDS)}, unbounded, "
                                f"fixed-sums")
    return kinds


class Sampler:
    """A sampler of one's own, for ``own=`` of :func:`sample`, :meth:`Model.balance` and :func:`train`.

    The library evaluates the proposal and accepts it by Metropolis and Hastings. The sampler is right
    if `log_q` is the log-probability of what `draw` draws; ``model.balance(own=sampler)`` proves that
    on a small model.

    Parameters
    ----------
    name : str
        At most 40 letters, digits, '_' and '-'; not the name of a sampler of the library.
    draw : callable
        ``draw(origin, random)`` gives the codes of a proposal, integers of shape (V,). ``origin`` is an
        :class:`~saltus._sampler.Origin`: codes, x, f, gradient, differences, beta, step_size, direction; ``random``
        a :class:`~saltus._sampler.Random`: uniform, normal, below, softmax. Both end with the call.
    log_q : callable, optional
        ``log_q(origin, to)`` gives the natural log of the probability that `draw` draws the codes `to` from `origin`;
        -inf if it never does. Where several ways lead there, the log of the sum of their probabilities.
        None only for an unadjusted sampler.
    kinds : iterable of str, optional
        The kinds of variables that it moves: 'binary', 'spin', 'ordinal', 'categorical', 'count' (with a
        cap), 'unbounded' (counts without one), 'fixed-sums' (it keeps fixed sums and occurrences of labels); None: all
        but the last two.
    needs_gradient, needs_differences : bool
        Whether origins have these.
    has_step_size : bool
        Whether origins have a step size, which warm-up adapts.
    unadjusted : bool
        Accept all proposals: approximate.
    directions : int, optional
        For irreversible samplers: each chain keeps a direction, 0 to directions - 1 (at most 64), which is turned
        to its reverse when a proposal is rejected; the way back is that of the reverse.
    reverse : sequence of int, optional
        The reverse of each direction; None: directions - 1 - direction.
    refresh_direction : float, optional
        The probability that a chain draws its direction anew before a step.

    Raises
    ------
    ArgumentError
        A function is missing, there is no such kind, or there are more than 64 directions. Whether the name is acceptable is checked when a run
        uses the sampler.

    Notes
    -----
    The functions are called with the interpreter's lock, so threads do not make them faster, and their
    results may depend on their arguments alone. What they raise ends the run, and is raised by the
    call that started it. Instead of functions a subclass may have methods `draw` and `log_q`.

    Examples
    --------
    A variable at random is flipped; the way back is as probable.

    >>> import numpy as np, saltus as sal
    >>> def draw(origin, random):
    ...     to = origin.codes
    ...     to[random.below(len(to))] ^= 1
    ...     return to
    >>> def log_q(origin, to):
    ...     return -np.log(len(to)) if (origin.codes != to).sum() == 1 else -np.inf
    >>> flip = sal.Sampler("flip", draw, log_q, kinds=["binary", "spin"])
    >>> model = sal.Model("ising:side=2,theta=0.1", dtype="f64")
    >>> proof = model.balance(own=flip)
    >>> proof["invariance"] < 1e-12 and proof["normalisation"] < 1e-12 and proof["frequency"] < 5
    True
    >>> sal.sample(model, own=flip, draws=1000, seed=1).draws.shape
    (4, 1000, 4)
    """

    def __init__(self, name: str, draw: Optional[Callable[[Origin, Random], Any]] = None,
                 log_q: Optional[Callable[[Origin, NDArray[np.int32]], float]] = None,
                 kinds: Optional[Iterable[str]] = None,
                 needs_gradient: bool = False, needs_differences: bool = False, has_step_size: bool = False,
                 unadjusted: bool = False, directions: int = 0, reverse: Optional[Iterable[int]] = None,
                 refresh_direction: float = 0):
        self.name = name
        draw = draw or getattr(self, "draw", None)
        log_q = log_q or getattr(self, "log_q", None)
        if draw is None or (log_q is None and not unadjusted):
            raise ArgumentError(f"Sampler {name!r}: expected draw, and log_q unless unadjusted=True")
        self._caught = Caught()
        callbacks = (_draw_of(draw, self._caught), None if log_q is None else _log_q_of(log_q, self._caught))
        pointer = make("sal_flat_sampler_create", name.encode(), _kinds(kinds), needs_gradient, needs_differences,
                       has_step_size, unadjusted, *callbacks, None)
        self._handle = Handle(pointer, "sal_flat_sampler_destroy", keep=callbacks)
        turned = None if reverse is None else np.array(list(reverse), dtype=np.int32)
        if turned is not None and len(turned) != directions:
            raise ArgumentError(f"Sampler {name!r}: reverse has {len(turned)} entries for {directions} directions")
        _library.call("sal_flat_sampler_set_directions", self._handle, directions,
                      None if turned is None else address(turned), refresh_direction)

    def __repr__(self) -> str:
        return f"<saltus Sampler {self.name!r}>"


def _proposal(codes: Any, variables: int) -> NDArray[np.int32]:
    array = np.asarray(codes)
    if array.shape != (variables,):
        raise ShapeError(f"draw: expected codes of the shape ({variables},); found {array.shape}")
    if array.dtype.kind not in "iub":
        raise ArgumentError(f"draw: expected codes, which are integers; found {array.dtype}")
    proposal = array.astype(np.int32)
    if (proposal != array).any():
        raise ArgumentError(f"draw: the code {array[proposal != array][0]} is out of range")
    return proposal


def _size(origin: Origin) -> int:
    n = ctypes.c_int64()
    lib.sal_flat_origin_codes(origin._at(), ctypes.addressof(n))
    return n.value


def _draw_of(draw: Callable[[Origin, Random], Any], caught: Caught) -> Any:
    def call_draw(origin_at: int, random_at: int, to: Any, _: Any) -> None:
        origin, random = Origin(origin_at), Random(random_at)
        try:
            variables = _size(origin)
            np.ctypeslib.as_array(to, (variables,))[:] = _proposal(draw(origin, random), variables)
        except BaseException as exception:  # it cannot pass through C; `to` stays the origin
            caught.note(exception)
        finally:
            origin._pointer = random._pointer = None

    return _library.DRAW(call_draw)


def _log_q_of(log_q: Callable[[Origin, NDArray[np.int32]], float], caught: Caught) -> Any:
    def call_log_q(origin_at: int, to: Any, _: Any) -> float:
        origin = Origin(origin_at)
        try:
            if caught.any:  # of draw: this proposal is none
                return np.nan
            return float(log_q(origin, np.ctypeslib.as_array(to, (_size(origin),)).copy()))
        except BaseException as exception:  # it cannot pass through C
            caught.note(exception)
            return np.nan
        finally:
            origin._pointer = None

    return _library.LOG_Q(call_log_q)


OwnSamplers = Union[None, Sampler, Sequence[Sampler]]


def as_list(own: Any) -> list[Sampler]:
    """Samplers of one's own, whether one, several or none are given."""
    samplers = [] if own is None else list(own) if isinstance(own, (list, tuple)) else [own]
    for sampler in samplers:
        if not isinstance(sampler, Sampler):
            raise ArgumentError(f"own: expected a saltus.Sampler, or a list of them; found {type(sampler).__name__} "
                                f"(of functions, saltus.Sampler(name, draw, log_q) makes one)")
    return samplers

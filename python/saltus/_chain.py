# SPDX-License-Identifier: MIT
"""Chains that go on for as long as the caller makes steps."""

from __future__ import annotations

import operator
import time
from contextlib import ExitStack
from ctypes import byref
from typing import Any, Callable, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _library
from ._arrays import Copy
from ._library import (ArgumentError, Caught, Failure, Handle, Path, ShapeError, address, ask, call, encode, lib, make,
                       raise_failure)
from ._model import AnyModel, Model, as_model
from ._run import Tuning, run_options
from ._sampler import OwnSamplers, as_list

_SLICE = 0.05
"""Seconds of a long call of :meth:`Chain.step` between two looks for Ctrl-C, about."""


class Chain:
    """Chains of a sampler whose steps you make: a sampler inside a larger one.

    Between steps states may be read and set, and parameters of the model changed. Random numbers go on: no step
    repeats those of another. Steps have the same bits in one call as in many, and as the draws of :func:`sample`
    with the same options, as long as nobody sets states or parameters in between.

    Parameters
    ----------
    model : Model, Expr, str or path
    sampler : str, optional
        As in :func:`sample`.
    chains : int, optional
        How many (4).
    warmup : int, optional
        The first steps, which adapt step sizes and what else the sampler adapts (None: as in :func:`sample`,
        1000 or more; 0: none).
    apart : bool
        Whether each chain moves by itself, so that ``step(before=..)`` can show each one parameters of its own.
    seed, step_size, tempering, temperatures, init, codes, clamp, preconditioner, tuning, own, threads
        As in :func:`sample`.
    **options
        swap_every.

    Attributes
    ----------
    model : Model
    seed : int
        The seed that the chains had.

    Raises
    ------
    ArgumentError, NotFoundError, ShapeError, UnsupportedError, DataError, ModelError
        As :func:`sample`.

    Notes
    -----
    One thread at a time may use a Chain. While it makes steps, the parameters of its model cannot be set. pavg
    keeps the matrix that it made of the first parameters.

    Examples
    --------
    >>> import numpy as np, saltus as sal
    >>> s, mu = sal.spins(20), sal.param("mu", value=0.0)
    >>> chain = sal.Chain(sal.Model(mu * s.sum()), "gibbs", chains=4, warmup=0, seed=1)
    >>> rng = np.random.default_rng(1)
    >>> for sweep in range(10):  # a prior of mu that is normal, and Metropolis steps of it
    ...     state = chain.step(20).state
    ...     chain.model.params["mu"] = rng.normal()
    >>> state.shape
    (4, 20)
    >>> chain.steps
    200
    """

    def __init__(self, model: AnyModel, sampler: Optional[str] = None, *, chains: Optional[int] = None,
                 warmup: Optional[int] = None, apart: bool = False, seed: Any = None,
                 step_size: Union[None, float, str] = None, tempering: Optional[int] = None,
                 temperatures: Optional[ArrayLike] = None, init: Any = None, codes: bool = False,
                 clamp: Optional[dict[int, Any]] = None, preconditioner: Optional[ArrayLike] = None,
                 tuning: Optional[Tuning] = None, own: OwnSamplers = (), threads: Optional[int] = None, **options: Any):
        made = as_model(model)
        if sampler is None and own:
            sampler = as_list(own)[0].name
        given = dict(options, sampler=sampler, chains=chains, warmup=warmup, seed=_library.seed_of(seed),
                     step_size=step_size, tempering=tempering, threads=threads)
        self._begin(made, run_options(made, given, own=own, init=init, codes=codes, clamp=clamp, tuning=tuning,
                                      temperatures=temperatures, preconditioner=preconditioner), apart, own)

    def _begin(self, model: Model, options: Handle, apart: bool, own: Any) -> None:
        self.model = model
        self._watch: list[Caught] = [model._caught] if model._is_function else []
        self._watch += [sampler._caught for sampler in as_list(own)]
        self._failure = Failure()
        self._place = byref(self._failure)
        self._handle = self._watched(lambda: Handle(make("sal_flat_chains_create", model, options, apart),
                                                    "sal_chains_destroy", keep=(model, options)))
        self._versions = self._versions_now()
        info = self.info
        self._shape, self.seed = (info["chains"], info["variables"]), int(info["seed"])

    def _watched(self, work: Callable[[], Any]) -> Any:
        """What `work` returns; or what Python functions of the model or the samplers raised, as itself."""
        if not self._watch:
            return work()
        with ExitStack() as stack:
            for caught in self._watch:
                stack.enter_context(caught)
            try:
                result = work()
            finally:
                for caught in self._watch:
                    caught.reraise()
        return result

    def _versions_now(self) -> list[int]:
        """The versions of Python functions that can change between steps."""
        return [caught.version() for caught in self._watch if caught.version is not None]

    def _see_changes(self) -> None:
        """Evaluate f of the present states anew if a Python function of the model has changed."""
        versions = self._versions_now()
        if versions != self._versions:
            self._set(self._present(), True)
            self._versions = versions

    def __repr__(self) -> str:
        return f"<saltus Chain: {self._shape[0]} chains of {self._shape[1]} variables, {self.steps} steps>"

    # ---- steps

    def step(self, n: int = 1, before: Optional[Callable[[int], Any]] = None) -> "Chain":
        """Make n steps of all chains, with the parameters that the model has now.

        Parameters
        ----------
        n : int
        before : callable, optional
            Of chains that are `apart`: called with the number of each chain before its steps, to set the
            parameters that this chain sees. It may be called more than once for a chain. If it raises an
            exception when some chains have made their steps, the chains can no longer be used.

        Returns
        -------
        Chain
            This one.

        Raises
        ------
        ModelError
            f is NaN or +inf, with chain and step; or a parameter was set that makes f of a present state -inf.
            Set states or parameters, and go on.
        ArgumentError
            n is below 0; `before` for chains that are not apart.
        KeyboardInterrupt
            Ctrl-C; fewer steps are made then (:attr:`steps`).
        Exception
            Whatever `before`, or a Python function of the model or a sampler, raises, as itself.
        """
        n = operator.index(n)
        self._see_changes()
        if before is not None:
            return self._step_each(n, before)
        if self._watch:
            self._watched(lambda: self._make_steps(n))
        else:
            self._make_steps(n)
        return self

    def _make_steps(self, n: int) -> None:
        """Make steps in slices, between which Python sees Ctrl-C."""
        size = 256
        while True:
            part = min(n, size)
            begun = time.perf_counter() if part < n else 0.0
            status = lib.sal_chains_step(self._handle, part, self._place)
            if status != 0:
                self._failure.status = status
                raise_failure(self._failure)
            n -= part
            if n <= 0 or any(caught.any for caught in self._watch):
                return
            if time.perf_counter() - begun < _SLICE:
                size *= 2

    def _step_each(self, n: int, before: Callable[[int], Any]) -> "Chain":
        caught = Caught()

        def tell(chain: int, _data: Any, _failure: Any) -> int:
            try:
                before(chain)
                return 0
            except BaseException as exception:  # it cannot pass through C
                caught.note(exception)
                return -2
        callback = _library.BEFORE(tell)
        with caught:
            try:
                self._watched(lambda: call("sal_chains_step_each", self._handle, n, callback, None))
            finally:
                caught.reraise()
        return self

    def adapt(self, steps: int) -> "Chain":
        """Adapt anew over the next `steps` steps, from the present states; 0: stop adapting.

        What was found before is forgotten, but not by ``adapt(0)``, which keeps it; then the next step is the
        last one that adapts at the latest. A step size that was given is not adapted.

        Raises
        ------
        ArgumentError
            `steps` is below 0.
        """
        self._watched(lambda: call("sal_chains_adapt", self._handle, operator.index(steps)))
        return self

    # ---- states

    def _present(self) -> NDArray[np.int32]:
        codes = np.empty(self._shape, dtype=np.int32)
        lib.sal_chains_codes(self._handle, codes.ctypes.data)
        return self.model._shaped(codes)

    @property
    def codes(self) -> NDArray[np.int32]:
        """The present states by code, int32, shape (chains, *model.shape), as :attr:`state`."""
        return Copy.of(self._present(), "set all states, by chain.codes = codes")

    @codes.setter
    def codes(self, codes: Any) -> None:
        self._set(codes, True)

    @property
    def state(self) -> NDArray[Any]:
        """The present states by value, shape (chains, *model.shape); a copy, which cannot be written. May be set, also
        to one state for all.

        Setting raises ShapeError or ArgumentError for what is no state, or moves a clamped variable, and
        ModelError if f is NaN or infinite there; the states are then what they were.
        """
        return Copy.of(self.model.values(self._present()), "set all states, by chain.state = states")

    @state.setter
    def state(self, state: Any) -> None:
        self._set(state, False)

    def _set(self, states: Any, codes: bool) -> None:
        given, shape = self.model._states(states, codes)
        if shape not in ((), self._shape[:1]):
            raise ShapeError(f"state: expected the shape {self._shape} or {self._shape[1:]}; found "
                             f"{shape + self._shape[1:]}")
        array = np.ascontiguousarray(np.broadcast_to(given, self._shape))
        self._watched(lambda: call("sal_chains_set_codes", self._handle, address(array)))

    @property
    def log_prob(self) -> NDArray[np.float64]:
        """f of the present states with the parameters that the model has now, shape (chains,)."""
        self._see_changes()
        f = np.empty(self._shape[0])
        self._watched(lambda: call("sal_chains_log_prob", self._handle, address(f)))
        return f

    # ---- what is known of them

    @property
    def info(self) -> dict[str, Any]:
        """Numbers: "chains", "variables", "seed", "steps" made by each chain, "adapting" (how many of the next steps
        adapt), "step_size" (in squared units of the embedding; None without one), and of the steps that did not
        adapt "acceptance_rate" and "mean_jump" (mean L1 distance in the embedding)."""
        return ask("sal_flat_chains_describe", self._handle)

    @property
    def steps(self) -> int:
        """Steps made by each chain."""
        return self.info["steps"]

    def tuning(self) -> Tuning:
        """What adaptation found, for other chains or runs. ArgumentError while steps adapt."""
        return Tuning(Handle(make("sal_chains_tuning", self._handle), "sal_tuning_destroy"))

    # ---- saving

    def save(self, path: Path) -> None:
        """Write the state of the chains to NAME.safetensors, for :meth:`load`.

        It has all that they need to go on with the same bits, but not the parameters of the model
        (``model.params.save``).

        Raises
        ------
        ArgumentError
            Another kind of file.
        FileError
            Writing failed.
        """
        state = self._watched(lambda: make("sal_chains_state", self._handle))
        call("sal_run_state_save", state, encode(path))

    @classmethod
    def load(cls, path: Path, model: AnyModel, *, apart: bool = False, own: OwnSamplers = (),
             threads: Optional[int] = None) -> "Chain":
        """Chains that go on from a file of :meth:`save`, with the same bits.

        Parameters
        ----------
        path : path
        model : Model, Expr, str or path
            That of the chains, with the parameters that it had when they were saved.
        apart, own, threads
            As they were.

        Raises
        ------
        NotFoundError, FileError, DataError
            There is no such file, reading it failed, or it has no state of chains.
        ArgumentError
            The model is another one, or has other parameters.

        Examples
        --------
        >>> import os, tempfile, saltus as sal
        >>> chain = sal.Chain("ising:side=3,theta=0.2", "gibbs", warmup=0, seed=1).step(30)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     chain.save(os.path.join(folder, "chain.safetensors"))
        ...     other = sal.Chain.load(os.path.join(folder, "chain.safetensors"), chain.model)
        >>> bool((chain.step(5).state == other.step(5).state).all())
        True
        """
        made = as_model(model)
        state = Handle(make("sal_run_state_open", encode(path)), "sal_run_state_destroy")
        self = cls.__new__(cls)
        options = run_options(made, {"threads": threads}, own=own, state=state)
        self._begin(made, options, apart, own)
        return self

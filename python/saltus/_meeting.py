# SPDX-License-Identifier: MIT
"""Meeting times of coupled chains: whether a warm-up is long enough."""

from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _library
from ._library import ArgumentError
from ._model import AnyModel, as_model
from ._progress import ask_shown
from ._run import Tuning, run_options
from ._sampler import OwnSamplers, as_list


class MeetingTimes:
    """When pairs of coupled chains met: the result of :func:`meeting_times`.

    Attributes
    ----------
    times : array of int64, shape (pairs,)
        The step of the first chain of each pair at which it met the second one; -1 if it did not.
    lag : int
        How many steps the first chain made alone.
    not_met : int
        Number of pairs that did not meet in `most_steps`. If there are any, all bounds are NaN.
    median : float
        Of the steps that pairs made together until they met.
    warmup : int
        Steps of the warm-up of such a run.
    most_steps, seed : int
        As they were given, or chosen.
    """

    def __init__(self, answer: dict[str, Any], seed: int):
        self._answer, self.seed = answer, seed
        self.times: NDArray[np.int64] = np.array([-1 if t is None else t for t in answer["times"]], dtype=np.int64)
        self.lag: int = answer["lag"]
        self.not_met: int = answer["not_met"]
        self.median: float = np.nan if answer["median"] is None else answer["median"]
        self.warmup: int = answer["warmup"]
        self.most_steps: int = answer["most_steps"]

    def bound(self, t: int) -> float:
        """The bound on the total variation between the model and the law of a chain after t steps.

        Biswas, Jacob & Vanetti 2019, theorem 2.5. NaN if a pair did not meet: a bound by the others could be
        too small.
        """
        if t < 0:
            raise ArgumentError(f"t is {t}; expected 0 or more")
        if self.not_met:
            return float("nan")
        return min(1.0, float(np.maximum(0, -((self.lag + t - self.times) // self.lag)).mean()))

    def steps_to(self, level: float) -> float:
        """The least number of steps after which the bound is `level` or less; NaN if a pair did not meet."""
        if not level >= 0:
            raise ArgumentError(f"level is {level}; expected 0 or more")
        if self.not_met:
            return float("nan")
        below, above = -1, int(self.times.max()) - self.lag
        while above - below > 1:
            middle = (below + above) // 2
            below, above = (below, middle) if self.bound(middle) <= level else (middle, above)
        return float(above)

    def __repr__(self) -> str:
        pairs = f"<saltus MeetingTimes: {len(self.times)} pairs, lag {self.lag}, "
        if self.not_met:
            return pairs + f"{self.not_met} of them not met in {self.most_steps} steps: no bound>"
        return pairs + f"median {self.median:g}; TV <= .01 after {self.steps_to(.01):g} steps>"


def meeting_times(model: AnyModel, sampler: Optional[str] = None, *, pairs: int = 100,
                  lag: Optional[int] = None, most_steps: Optional[int] = None, warmup: Optional[int] = None,
                  seed: Any = None, step_size: Union[None, float, str] = None, clamp: Optional[dict[int, Any]] = None,
                  codes: bool = False, preconditioner: Optional[ArrayLike] = None, tuning: Optional[Tuning] = None,
                  own: OwnSamplers = (), progress: Any = None, threads: Optional[int] = None) -> MeetingTimes:
    """Measure after how many steps pairs of coupled chains meet, which bounds how far chains are from the model.

    R-hat compares chains with each other, and so does not see states that none of them has found. This bound holds
    whatever the chains agree on.

    Parameters
    ----------
    model : Model, Expr, str or path
    sampler : str, optional
        As in :func:`sample`.
    pairs : int
        How many.
    lag : int, optional
        Steps that the first chain of a pair makes alone, rounded up to whole sweeps (None: chosen by other pairs).
    most_steps : int, optional
        Of the first chain of a pair (None: 20000, or 200 sweeps if these are more).
    warmup : int, optional
        Steps of the run that finds step sizes first (0: none); and of the warm-up that is judged.
    seed, step_size, clamp, codes, preconditioner, tuning, own, progress, threads
        As in :func:`sample`.

    Returns
    -------
    MeetingTimes

    Raises
    ------
    UnsupportedError
        A sampler that is approximate, or couples its chains.
    KeyboardInterrupt
        Ctrl-C.
    ArgumentError, ModelError
        As :func:`sample`.

    References
    ----------
    Biswas, Jacob & Vanetti (2019), Estimating convergence of Markov chains with L-lag couplings.

    Examples
    --------
    >>> import saltus as sal
    >>> times = sal.meeting_times("ising:side=4,theta=0.1", "gibbs", lag=64, seed=1)
    >>> times.not_met
    0
    >>> times.bound(200)
    0.0
    >>> times.steps_to(0.25) < times.steps_to(0.01)
    True
    """
    made = as_model(model)
    if sampler is None and own:
        sampler = as_list(own)[0].name
    if pairs < 1:
        raise ArgumentError(f"pairs is {pairs}; expected 1 or more")
    number = _library.seed_of(seed)
    given = {"sampler": sampler, "warmup": warmup, "seed": number, "step_size": step_size, "threads": threads}
    options = run_options(made, given, own=own, clamp=clamp, codes=codes, tuning=tuning,
                          preconditioner=preconditioner)
    answer, interrupted = ask_shown("coupling", progress, as_list(own), "sal_flat_meeting_times", made, options, pairs,
                                    lag or 0, most_steps or 0)
    if interrupted:
        raise KeyboardInterrupt
    return MeetingTimes(answer, number)

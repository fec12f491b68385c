# SPDX-License-Identifier: MIT
"""log Z of any model, by ladders of levels between independent variables and the model."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from numpy.typing import ArrayLike

from . import _library
from ._library import Handle, Path, make, options_text, own_names
from ._model import AnyModel, as_model
from ._progress import ask_shown, raises
from ._run import LOG_Z, give_reals, give_samplers
from ._sampler import OwnSamplers, as_list
from ._train import warn


class LogZ:
    """An estimate of log Z: the result of :func:`log_z`.

    Attributes
    ----------
    log_z, error : float
        The estimate, and its standard error.
    entropy, entropy_error : float
        The entropy of the model, log Z - mean f in nats, and its standard error.
    trusted : bool
        Whether no reason for doubt was found; `warning` says which one was.
    warning : str or None
        Why it is not to be trusted, and what would help.
    forward, reverse : float
        Estimates from the independent variables up, and from the model down.
    rhat, least_swaps, arrivals, allowed : float
        Figures of mixing: see ``<saltus/log_z.h>``.
    levels, chains, sweeps, steps, seed : int
        As they were given, or chosen.
    sampler : str
        That moved the states.
    softened, stopped : bool
        Whether forbidden states had a price on the way; whether it ended before its aim.
    """

    def __init__(self, answer: dict[str, Any], seed: int):
        def real(key: str) -> float:
            return float("nan") if answer[key] is None else float(answer[key])

        self.log_z, self.error = real("log_z"), real("log_z_error")
        self.entropy, self.entropy_error = real("entropy"), real("entropy_error")
        self.forward, self.reverse, self.rhat = real("forward"), real("reverse"), real("rhat")
        self.least_swaps, self.arrivals, self.allowed = real("least_swaps"), real("arrivals"), real("allowed")
        self.levels: int = answer["levels"]
        self.chains: int = answer["chains"]
        self.sweeps: int = answer["sweeps"]
        self.steps: int = answer["steps"]
        self.sampler: str = answer["sampler"]
        self.softened: bool = answer["softened"]
        self.stopped: bool = answer["stopped"]
        self.trusted: bool = answer["trusted"]
        self.warning: Optional[str] = answer["warning"] and own_names(answer["warning"])
        self.seed = seed

    def __float__(self) -> float:
        return self.log_z

    def __repr__(self) -> str:
        doubt = "" if self.trusted else ", not to be trusted"
        return (f"<saltus LogZ: {self.log_z:.6g} +- {self.error:.2g}{doubt}; {self.chains} ladders of {self.levels} "
                f"levels, {self.sweeps} sweeps>")


def log_z(model: AnyModel, *, error: Optional[float] = None, sampler: Optional[str] = None,
          chains: Optional[int] = None, sweeps: Optional[int] = None, warmup: Optional[int] = None,
          steps: Optional[int] = None, step_size: Optional[float] = None, seconds: Optional[float] = None,
          evidence: Optional[Path] = None, sample: int = 0, log_base: Optional[ArrayLike] = None,
          seed: Any = None, own: OwnSamplers = (), progress: Any = None, threads: Optional[int] = None,
          interrupt: str = "raise") -> LogZ:
    """Estimate log Z, the log of the sum of exp f over all states, of a model of any size.

    Where :meth:`Model.exact` can answer, take that.

    Parameters
    ----------
    model : Model, Expr, str or path
        Of a clamped model log Z is that of its free variables.
    error : float, optional
        End when the standard error is at most that (None: make all sweeps).
    sampler : str, optional
        An exact sampler (None: one that suits the model).
    chains : int, optional
        Independent ladders, which give the error (None: 16).
    sweeps : int, optional
        Over each ladder after warm-up (None: 1000; with `error` at most 102400).
    warmup : int, optional
        Sweeps before, which place the levels (None: 512).
    steps : int, optional
        Of the sampler at each level in a sweep.
    step_size : float, optional
        Of samplers that have one.
    seconds : float, optional
        Stop after so much time.
    evidence, sample
        As of :meth:`Model.exact`.
    log_base : array, optional
        log-probabilities of all variables' states at the hot end (None: uniform).
    seed, own, progress, threads
        As in :func:`sample`.
    interrupt : {'raise', 'return'}
        What Ctrl-C does: raise KeyboardInterrupt, or return the estimate so far, if there is one.

    Returns
    -------
    LogZ

    Raises
    ------
    UnsupportedError
        A sampler that is approximate, couples its chains or cannot serve the model.
    ModelError
        f is NaN or +inf at a state, or no state was met that the model allows.
    ArgumentError, KeyboardInterrupt

    Warns
    -----
    SaltusWarning
        What is in :attr:`LogZ.warning`.

    References
    ----------
    Bennett (1976), Efficient estimation of free energy differences from Monte Carlo data.
    Geyer (1991), Markov chain Monte Carlo maximum likelihood.
    Syed, Bouchard-Cote, Deligiannidis & Doucet (2022), Non-reversible parallel tempering.

    Examples
    --------
    >>> import saltus as sal
    >>> model = sal.Model("ising:side=4,theta=0.3", dtype="f64")
    >>> z = sal.log_z(model, seed=1)
    >>> z.trusted and abs(z.log_z - model.exact().log_z) < 4 * z.error
    True
    """
    made = as_model(model)
    if evidence is not None:
        made = made.observe(evidence, sample)
    elif sample:
        raise _library.ArgumentError("sample chooses one of the evidence's, which is not given")
    samplers = as_list(own)
    raising = raises(interrupt)
    number = _library.seed_of(seed)
    given = {"sampler": samplers[0].name if sampler is None and samplers else sampler, "chains": chains,
             "sweeps": sweeps, "warmup": warmup, "steps": steps, "step_size": step_size, "time": seconds,
             "until": None if error is None else f"error={float(error)!r}", "seed": number,
             "threads": threads}
    options = Handle(make("sal_flat_options_create", LOG_Z, options_text(given)), "sal_flat_options_destroy",
                     keep=samplers)
    give_samplers(options, samplers)
    give_reals(options, "log-base", log_base)
    answer, interrupted = ask_shown("sweeps", progress, samplers, "sal_flat_log_z", made, options)
    result = LogZ(answer, number)
    if interrupted and (raising or np.isnan(result.log_z)):
        raise KeyboardInterrupt
    if result.warning:
        warn(result.warning)
    return result

# SPDX-License-Identifier: MIT
"""Evaluation of trained models: log Z, the log-likelihood of held-out rows, and a verdict on samples."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

from . import _library
from ._data import Data, fitting
from ._library import (ArgumentError, Caught, Handle, Interrupts, MaybeNone, Path, address, ask, call, encode, lib,
                       make, options_text, own_names, view)
from ._model import AnyModel, Model, as_model
from ._progress import Progress, raises
from ._run import AIS, Run, communicator, give_comm, give_reals, give_samplers
from ._sampler import OwnSamplers, Sampler, as_list
from ._train import Training, warn


class Evaluation:
    """How well a model explains held-out rows: the result of :func:`evaluate`. Prints as a table.

    All logarithms are natural; log-likelihoods are means over rows, in nats.

    Attributes
    ----------
    forward, reverse : dict, or None where it was interrupted before
        Annealed importance sampling in both directions: "sampler", "chains", "log_z", "log_z_error" (standard
        error), "log_z_jackknife", "effective_chains", "acceptance_rate", "log_likelihood",
        "log_likelihood_error" (of rows and of log Z together), "mean_f", "data_error". Forward
        underestimates log Z on average, reverse overestimates it if it starts at draws of the model.
    both_ways : dict or None
        From the weights of both directions together, by Bennett's acceptance ratio: "log_z", "log_z_error",
        "log_likelihood", "log_likelihood_error". None without `samples`, and where the two do not overlap.
    independent : dict or None
        "log_likelihood" and "log_likelihood_error" of independent variables with the frequencies of the
        training rows: what a model should exceed.
    verdict : dict or None
        Whether samples drawn from scratch are like the data: "verdict" ('like', 'close', 'unlike',
        'unknown'), "sentence", and the figures.
    samples : array of uint8, shape (chains, draws, V), or None
        The draws that the verdict is about.
    mmd : float or None
        Maximum mean discrepancy of the given samples to the held-out rows, the root of the unbiased
        U-statistic; 0: below noise. The kernel is exp(-d/V) for states that differ in d of V variables.
    mmd2_v : float or None
        The square of the same as a V-statistic, which counts pairs of a state with itself: always
        positive. Some papers print its decimal logarithm.
    seed : int
        The seed that it had.
    warnings : list of str

    References
    ----------
    MMD: Gretton, Borgwardt, Rasch, Schoelkopf & Smola (2012), A kernel two-sample test, eq. 3. What the
    verdict is for: Nijkamp, Hill, Han, Zhu & Wu (2020); Decelle, Furtlehner & Seoane (2021).
    """

    def __init__(self, model: Model, test: Data, seed: int):
        self.model, self.test, self.seed = model, test, seed
        self.forward: Union[dict[str, Any], MaybeNone] = None
        self.reverse: Union[dict[str, Any], MaybeNone] = None
        self.both_ways: Union[dict[str, Any], MaybeNone] = None
        self.independent: Union[dict[str, Any], MaybeNone] = None
        self.verdict: Union[dict[str, Any], MaybeNone] = None
        self.samples: Union[NDArray[np.uint8], MaybeNone] = None
        self.mmd: Optional[float] = None
        self.mmd2_v: Optional[float] = None
        self.warnings: list[str] = []

    @property
    def log_z(self) -> float:
        """The forward estimate of log Z. KeyError if there is none, after an interrupt."""
        return (self.forward or {})["log_z"]

    @property
    def log_likelihood(self) -> float:
        """The mean log-likelihood of the held-out rows by the forward log Z, in nats a row.

        It overestimates on average, as that log Z underestimates. KeyError if there is none.
        """
        return (self.forward or {})["log_likelihood"]

    def _rows(self) -> list[tuple[str, str]]:
        row = "picture" if self.test.picture else "row"
        rows = [("model", f"{self.model.name or '(a formula)'}, {self.model.variables} variables"),
                ("held-out rows", str(self.test.rows)), ("seed", str(self.seed))]
        ways = [(name, way) for name, way in (("forward", self.forward), ("reverse", self.reverse)) if way]
        for name, way in ways:
            rows.append((f"log Z {name}", f"{_number(way['log_z'])}, standard error {_number(way['log_z_error'])}, "
                                          f"effective chains {way['effective_chains']:.1f} of {way['chains']}"))
        named = [("log-likelihood", way, f" (log Z {name})") for name, way in ways]
        if self.both_ways:
            rows.append(("log Z both ways", f"{_number(self.both_ways['log_z'])}, standard error "
                                            f"{_number(self.both_ways['log_z_error'])}"))
            named.append(("log-likelihood", self.both_ways, " (log Z both ways)"))
        if self.independent:
            named.append(("independent", self.independent, ""))
        for title, value, note in named:
            rows.append((title, f"{_number(value['log_likelihood'])} nats a {row}, standard error "
                                f"{_number(value['log_likelihood_error'])}{note}"))
        if self.mmd is not None:
            rows.append(("MMD", ("below noise" if self.mmd == 0 else f"{self.mmd:.4f}") + " (root of the U-statistic)"))
            rows.append(("MMD^2", f"{self.mmd2_v:.4g} as a V-statistic"))
        if self.verdict:
            rows.append(("verdict", self.verdict["sentence"]))
        return rows

    def __repr__(self) -> str:
        lines = [f"{name:<16} {value}" for name, value in self._rows()]
        return "\n".join(lines + [f"warning: {text}" for text in self.warnings])

    def _repr_html_(self) -> str:
        from html import escape
        rows = "".join(f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(value)}</td></tr>"
                       for name, value in self._rows())
        return f"<table>{rows}</table>" + "".join(f"<p>warning: {escape(text)}</p>" for text in self.warnings)


def _number(value: Optional[float]) -> str:
    return "-" if value is None else f"{value:.3f}"


class _Bar(Progress):
    """Progress that knows whether it has stopped the call."""

    stopped = False

    def _tell(self, done: int, total: int, _: Any) -> int:
        answer = super()._tell(done, total, _)
        self.stopped = self.stopped or answer != 0
        return answer


class _Session:
    """What all parts of an evaluation share."""

    def __init__(self, model: Model, options: dict[str, Any], own: list[Sampler], progress: Any,
                 directory: Optional[Path], comm: Any):
        self.model, self.options, self.own, self.directory = model, options, own, directory
        self.comm, self.ranks, self.first = comm, communicator(comm), comm is None or comm.rank == 0
        self.show = progress if self.first else False
        self.interrupts = Interrupts()
        self.interrupted = self.ended = False

    def bar(self, what: str) -> _Bar:
        """A new one; :meth:`ask` ends it."""
        watch: list[Caught] = [self.model._caught] + [sampler._caught for sampler in self.own]
        return _Bar(self.interrupts, self.show, what, watch)

    def ask(self, bar: _Bar, name: str, *arguments: Any) -> Any:
        """A call that may call Python functions."""
        try:
            with bar:
                answer = ask(name, *arguments)
        finally:
            self.ended = self.ended or bar.stopped
            self.note()
            bar.reraise()  # in place of what the library makes of it
        return answer

    def note(self) -> None:
        """Ctrl-C ends what is left."""
        self.interrupted = self.interrupted or self.interrupts.seen
        self.ended = self.ended or self.interrupted

    def agree(self) -> None:
        """Whether it has ended is for the first rank to say."""
        self.note()
        if self.comm is not None:
            self.interrupted, self.ended = self.comm.bcast((self.interrupted, self.ended), 0)


def _fit_base(model: Model, data: Data) -> NDArray[np.float64]:
    """Log-probabilities of independent variables, the states of variable 0 first."""
    space = lib.sal_model_space(model)
    log_base = np.empty(sum(lib.sal_space_states(space, v) for v in range(model.variables)))
    call("sal_base_fit", space, data, address(log_base))
    return log_base


def _anneal(s: _Session, result: Evaluation, test: Data, log_base: NDArray[np.float64], drawn: Optional[Data]) -> None:
    """Both directions, until the call is stopped."""
    options = Handle(make("sal_flat_options_create", AIS, options_text(s.options)), "sal_flat_options_destroy",
                     keep=s.own)
    give_samplers(options, s.own)
    give_comm(options, s.ranks)
    give_reals(options, "log-base", log_base)
    bar = s.bar("annealing")
    call("sal_flat_options_progress", options, bar.callback, None)

    def report(direction: bytes, _: Any) -> None:
        try:
            setattr(result, "forward" if result.forward is None else "reverse", _library.answer_of(direction))
        except BaseException as exception:  # it cannot pass through C
            bar.caught.note(exception)

    answer = s.ask(bar, "sal_flat_evaluate", s.model, options, encode(s.directory), test, drawn,
                   _library.DIRECTION(report), None)
    result.both_ways = answer["both_ways"]
    result.warnings += map(own_names, answer["warnings"])


def _judge(s: _Session, result: Evaluation, train: Data, test: Data, fresh: int) -> None:
    """The verdict, which some models cannot have."""
    log_z = np.array([np.nan if way is None or way[key] is None else way[key]
                      for way in (result.forward, result.reverse) for key in ("log_z", "log_z_error")])
    samples = ctypes.c_void_p()
    bar = s.bar("fresh samples")
    try:
        answer = s.ask(bar, "sal_flat_verdict", s.model, train, test, encode(s.directory), fresh,
                       s.options["seed"], s.options["threads"] or 0, address(log_z), bar.callback, None,
                       ctypes.byref(samples))
    except (_library.UnsupportedError, _library.ModelError, ArgumentError) as failure:
        result.warnings.append("stopped; there is no verdict" if s.ended else f"no verdict: {failure}")
        return
    if answer is None:
        result.warnings.append("stopped; there is no verdict")
        return
    result.verdict = answer
    shape = answer["chains"], answer["draws"], s.model.variables
    result.samples = view(samples.value, ctypes.c_uint8, shape, Handle(samples.value or 0, "sal_free"))


def _sample_rows(samples: Any, variables: int) -> Data:
    """Draws as a data set of codes."""
    array = np.asarray(samples.draws if isinstance(samples, Run) else samples)
    for axes in range(2, array.ndim):  # states that have a shape
        if np.prod(array.shape[-axes:], dtype=np.int64) == variables != array.shape[-1]:
            array = array.reshape(array.shape[:-axes] + (variables,))
            break
    if array.ndim < 2 or array.shape[-1] != variables or array.dtype.kind not in "iub":
        raise ArgumentError(f"samples: expected codes, integers of the shape (.., {variables}); found {array.dtype} "
                            f"{array.shape}")
    return Data(array.reshape(-1, variables))


_U_STATISTIC, _V_STATISTIC = 0, 1  # sal_mmd_estimator


def _mmd2(samples: Data, test: Data, estimator: int) -> float:
    squared = np.empty(1)
    call("sal_stats_mmd", test.variables, samples.rows, address(samples.codes), test.rows, address(test.codes),
         estimator, address(squared))
    return float(squared[0])


def evaluate(model: Union[AnyModel, Training], test: Any, train: Any = None, *, chains: Optional[int] = None,
             temperatures: Optional[int] = None, steps: Optional[int] = None, sampler: Optional[str] = None,
             samples: Any = None, fresh: int = 1000, directory: Optional[Path] = None, seed: Any = None,
             threads: Optional[int] = None, own: OwnSamplers = (), progress: Any = None, interrupt: str = "raise",
             comm: Any = None, **options: Any) -> Evaluation:
    """Estimate the log-likelihood of held-out rows, and judge the model's own samples.

    Parameters
    ----------
    model : Model, Training, Expr, str or path
        A Training brings its training rows, its directory, and its model with the parameters that that
        has now; a path is a saved model or the directory of a training.
    test : Data or array
        Held-out rows.
    train : Data or array, optional
        The rows that the model was trained on: for the independent variables that annealing starts
        from and that are the baseline, and for the verdict. Without them annealing starts from
        variables fitted to `test`, and there is neither baseline nor verdict.
    chains, temperatures, steps : int, optional
        Of annealed importance sampling: 100 chains, 1000 intervals, and 1 step of the sampler at each.
    sampler : str, optional
        An exact one; None: one that suits the model.
    samples : Run or array of codes, shape (.., V), optional
        Draws of the model, where reverse paths start; None: at held-out rows, which is right only as
        far as the model is right about the data.
    fresh : int
        Draws for the verdict; 0: none.
    directory : path, optional
        Of the training, whose ladder and chains the verdict uses. A net on top of an RBM is annealed by draws
        of layers if its ladder was made by them.
    seed, threads, own, progress
        As in :func:`sample`. The seed is in :attr:`Evaluation.seed`.
    interrupt : {'raise', 'return'}
        What Ctrl-C does: raise KeyboardInterrupt, whose attribute `evaluation` has what was found; or return that,
        with a warning, if there is an estimate already.
    comm : mpi4py.MPI.Comm, optional
        Annealing is shared by its ranks, which all make this call with the same arguments; the rest is
        rank 0's.
    **options
        schedule, step_size: as the options of ``saltus evaluate``.

    Returns
    -------
    Evaluation
        With `comm` at rank 0; None at the others.

    Raises
    ------
    ArgumentError
        An option, or samples that are no codes of this model.
    ShapeError
        Rows with another number of variables.
    ModelError
        f is NaN or +inf at a state, or all chains started at forbidden states.
    UnsupportedError
        Counts without a cap; a sampler that is approximate, couples its chains or cannot serve the model; a
        denoising chain, which has no log Z.
    KeyboardInterrupt
        Ctrl-C, unless ``interrupt="return"`` and there is an estimate. The exception's attribute `evaluation` is the
        Evaluation with what was found (with `comm` at rank 0, else None).

    Warns
    -----
    SaltusWarning
        What is in :attr:`Evaluation.warnings`, such as estimates of log Z the wrong way round.

    Notes
    -----
    Forward chains go from independent variables to the model; the mean of their weights is Z. So log Z is
    underestimated on average, and reverse chains overestimate it, if they start at draws of the model. The
    truth is between the two with high probability if both errors are small. Do not trust an estimate whose
    effective number of chains is only a few. If the model forbids states, reverse overestimates by more.

    References
    ----------
    Neal (2001), Annealed importance sampling.
    Burda, Grosse & Salakhutdinov (2015), Accurate and conservative estimates of MRF log-likelihood using
    reverse annealing.
    Grathwohl, Swersky, Hashemi, Duvenaud & Maddison (2021), Oops I took a gradient, section 7: for deep models.

    Examples
    --------
    >>> import saltus as sal
    >>> model = sal.Model("ising:side=3,theta=0.1")
    >>> draws = sal.sample(model, draws=1000, seed=1)
    >>> result = sal.evaluate(model, draws.draws[0], seed=1)
    >>> abs(result.log_z - model.exact().log_z) < 5 * result.forward["log_z_error"]
    True
    """
    if fresh < 0:
        raise ArgumentError(f"fresh={fresh}; expected 0 or more")
    if isinstance(model, Training):
        train = model.data if train is None else train
        directory = model.directory if directory is None else directory
    elif isinstance(model, (str, os.PathLike)) and os.path.exists(os.path.join(model, "model.xml")):
        directory = model if directory is None else directory
    raising = raises(interrupt)
    made = model.model if isinstance(model, Training) else as_model(model)
    levels = lib.sal_model_levels(made)
    given_rows = fitting(test, made.variables, "test", levels)
    if given_rows.variables != made.variables or lib.sal_model_is_conditional(made):
        raise _library.UnsupportedError(
            f"{made.name} is a denoising chain of conditional energies: it has no log Z; the command "
            "'saltus evaluate' bounds its log-likelihood, from its training's directory")
    rows = given_rows._drawn()
    known = None if train is None else fitting(train, made.variables, "train")._drawn()
    drawn = None if samples is None else _sample_rows(samples, made.variables)
    given = dict(options, chains=100 if chains is None else chains, temperatures=temperatures, steps=steps,
                 sampler=sampler, seed=_library.seed_of(seed, comm), threads=threads)
    samplers = as_list(own)
    if sampler is None and samplers:
        given["sampler"] = samplers[0].name
    s = _Session(made, given, samplers, progress, directory, comm)
    result = Evaluation(made, rows, given["seed"])
    try:
        with s.interrupts:
            _measure(s, result, rows, known, drawn, fresh)
            s.agree()
        if s.interrupted and (raising or result.forward is None):
            raise KeyboardInterrupt("what was found is the attribute `evaluation` of this exception")
    except KeyboardInterrupt as stop:  # also Ctrl-C again, or where it is not noted
        stop.evaluation = result if s.first else None  # type: ignore[attr-defined]
        if raising or result.forward is None:
            raise
        result.warnings.append("interrupted; what is missing was not computed")
    if not s.first:
        return None  # type: ignore[return-value]
    for text in result.warnings:
        warn(text)
    return result


def _measure(s: _Session, result: Evaluation, test: Data, train: Optional[Data], drawn: Optional[Data],
             fresh: int) -> None:
    log_base = _fit_base(s.model, test if train is None else train)
    if train is not None:
        result.independent = ask("sal_flat_base_likelihood", s.model, address(log_base), test)
    if s.first and drawn is not None and drawn.rows > 1 and test.rows > 1:
        result.mmd = max(_mmd2(drawn, test, _U_STATISTIC), 0) ** 0.5
        result.mmd2_v = _mmd2(drawn, test, _V_STATISTIC)
    _anneal(s, result, test, log_base, drawn)
    s.agree()
    if not s.first:
        return
    if result.reverse is None:
        result.warnings.append("stopped; there is " + ("the forward estimate only" if result.forward else
                                                       "no estimate of log Z yet"))
        return
    if train is not None and fresh > 0 and s.ended:
        result.warnings.append("stopped; there is no verdict")
    elif train is not None and fresh > 0:
        _judge(s, result, train, test, fresh)

# SPDX-License-Identifier: MIT
"""Training of models."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import json
import os
import pathlib
import shutil
import sys
import tempfile
import threading
import warnings
from typing import Any, Callable, Iterator, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _library
from ._data import Data, as_data, fitting
from ._library import (ArgumentError, Caught, Handle, Interrupts, MaybeNone, Path, SaltusError, ShapeError,
                       UnsupportedError, address, ask, call, encode, lib, make, options_text, text_at, view)
from ._model import AnyModel, Model
from ._progress import Progress, raises
from ._run import TRAIN, SaltusWarning, communicator, give_comm, give_reals, give_samplers
from ._sampler import OwnSamplers, as_list

_HERE = os.path.dirname(os.path.abspath(__file__))

# What a training leaves in its directory: an earlier one is not replaced unasked.
_FILES = ("checkpoint.json", "checkpoint-a.safetensors", "checkpoint-b.safetensors", "model.xml", "model.safetensors",
          "ema.safetensors", "ladder/ladder.json", "denoising.json", "log.csv", "verdict.json", "samples.png",
          "persistent.png")
_FIRST = 10  # updates after which units that started equal must differ


def warn(text: str) -> None:
    """Warn at the line of the user's code that called the package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back and os.path.dirname(os.path.abspath(frame.f_code.co_filename)) == _HERE:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, SaltusWarning, stacklevel=level)


# ---- what a trainer calls


class _Hooks:
    """Functions that a trainer calls. They do not know the Training, which they would keep alive."""

    def __init__(self, model: Model):
        self.model = model
        self.directory: Optional[Path] = None
        self.reports: list[dict[str, Any]] = []
        self.best: Optional[NDArray[np.float64]] = None
        self.caught = Caught()
        self.bar: Optional[Progress] = None
        self.told: Optional[Callable[[dict[str, Any]], Any]] = None
        self.looks = not model.params.flat.any()
        self.progress = _library.PROGRESS(self._tell)
        self.report = _library.REPORT(self._report)

    def _tell(self, done: int, total: int, data: Any) -> int:
        try:
            if self.looks and done >= _FIRST:
                self.looks = False
                _check_symmetry(self.model)
        except BaseException as exception:  # a warning that is an error
            self.caught.note(exception)
        return 0 if self.bar is None else self.bar._tell(done, total, data)

    def _report(self, report: int, _: Any) -> int:
        try:
            if self.directory is not None:
                call("sal_train_save", report, self.model, encode(self.directory))
            return int(_library.says_no(self._take(_report_of("sal_flat_report", report))))
        except BaseException as exception:  # it cannot pass through C
            self.caught.note(exception)
            return -1

    def _take(self, report: dict[str, Any]) -> Any:
        if report["best"] and report["log_likelihood"] is not None:
            self.best = self.model.params.flat
        self.reports.append(report)
        return self.told(report) if self.told else None


def _report_of(name: str, where: Any) -> dict[str, Any]:
    report = ask(name, where)
    data, samples = report["log_prob_data"], report["log_prob_samples"]
    report["difference"] = None if data is None or samples is None else data - samples
    return report


# ---- the start


def _is_saved(text: Path) -> bool:
    """Whether it is a file, or the directory of a training, and no specification."""
    return os.path.isfile(text) or os.path.isfile(os.path.join(text, "model.xml"))


def _specification(text: str, data: Data, suggested: bool) -> str:
    """A specification with what training adds to it."""
    return text_at(make("sal_train_specification", text.encode(), data, suggested))


def _suggested(text: str, data: Data, options: dict[str, Any]) -> Optional[str]:
    """The specification of a ready-made model, if what is suggested for it goes with the options given; or None."""
    pointer = make("sal_flat_options_suggested", text.encode(), data.rows, options_text(options))
    if not pointer:
        return None
    Handle(pointer, "sal_flat_options_destroy").close()
    return text


def _earlier_seed(directory: Optional[Path], overwrite: bool, comm: Any) -> Optional[int]:
    """The seed of the training in a directory, which goes on with it; None where there is none, or it is replaced."""
    seed = None
    if directory is not None and not overwrite and (comm is None or comm.rank == 0):
        seed = _seed_in(directory)
        seed = _seed_in(os.path.join(directory, "first")) if seed is None else seed
    return seed if comm is None else comm.bcast(seed, 0)


def _seed_in(directory: Path) -> Optional[int]:
    try:
        with open(os.path.join(directory, "checkpoint.json"), encoding="utf-8") as file:
            return _library.whole(int(json.load(file)["options"]["seed"]), 2**64 - 1, "seed")
    except (OSError, ValueError, LookupError, TypeError):
        return None  # no checkpoint, or a damaged one, which the trainer refuses


def _new_model(text: str, data: Data, suggested: bool, seed: int, dtype: Any) -> Model:
    """A ready-made model with parameters to start from."""
    whole = _specification(text, data, suggested)
    model = Model(whole, dtype=dtype)
    fitting(data, model.variables, "data", lib.sal_model_levels(model))
    call("sal_model_train_start", model, whole.encode(), data, seed)
    return model


def _is_symmetric(value: NDArray[np.float64], tolerance: float) -> bool:
    """Whether all rows of a matrix, or all columns, are the same but for rounding."""
    if value.ndim != 2 or min(value.shape) < 2 or not value.any():
        return False
    spread = min(np.ptp(value, axis=0).max(), np.ptp(value, axis=1).max())
    return bool(spread <= tolerance * np.abs(value).max())


def _check_symmetry(model: Model) -> None:
    """Say so if hidden units that start equal stay equal: then they never learn different things."""
    params = model.params
    if not params.flat.any():
        warn("training starts with all parameters 0, where the gradient is 0: nothing is learned; start with small "
             "random values, as param(.., value=rng.normal(0, 0.01, shape))")
    for name in params:
        if _is_symmetric(params[name], 1e-12 if model.info["dtype"] == "f64" else 1e-6):
            warn(f"training starts with all parameters 0, and all units of {name} learn the same; start with small "
                 f"random values, as param({name!r}, value=rng.normal(0, 0.01, {params[name].shape}))")


def _make_directory(directory: Path, overwrite: bool) -> None:
    """Make a directory ready. Only after everything else was found right: `overwrite` deletes."""
    there = [name for name in _FILES if os.path.exists(os.path.join(directory, name))]
    if overwrite:
        for name in there:
            os.unlink(os.path.join(directory, name))
    elif there and "checkpoint.json" not in there:
        raise ArgumentError(f"train: {os.fspath(directory)} holds {', '.join(there)}, but no checkpoint to go on from; "
                            f"give overwrite=True to replace them, or another directory")
    os.makedirs(directory, exist_ok=True)


def _preconditioner(given: Any, model: Model, data: Data) -> Optional[NDArray[Any]]:
    if isinstance(given, str):
        if given != "data":
            raise ArgumentError(f"preconditioner {given!r}; expected an array, or 'data'")
        matrix = np.empty((model.width, model.width))
        call("sal_data_preconditioner", data, model, address(matrix))
        return matrix
    if given is not None and np.shape(given) != (model.width, model.width):
        raise ShapeError(f"preconditioner: expected the shape ({model.width}, {model.width}); found {np.shape(given)}")
    return given


def _ladder_of(directory: Path) -> tuple[Model, Handle]:
    """The model in the directory of a training by 'ptt', and its ladder."""
    model = Model(directory)
    pointer = make("sal_trajectory_open", encode(_absolute(directory)), model)
    return model, Handle(pointer, "sal_trajectory_destroy", keep=model._handle)


# ---- trainings


class Training:
    """A training, and what it has learned: the result of :func:`train`.

    Attributes
    ----------
    model : Model
        With the parameters that were learned; with held-out rows of `ptt` those of the best report.
    data : Data
    reports : list of dict
        What the training told every `report_every` iterations since it was started or resumed. Keys:
        "iteration", "seconds", "log_prob_data" and "log_prob_samples" (mean f in nats; "difference" should
        be small), "acceptance_rate", "gradient_norm", "learning_rate", "log_likelihood" (of `ptt`: the mean
        over held-out rows, in nats), ... With the pseudo-likelihood "log_prob_data" is the mean log
        pseudo-likelihood. What is not known is None.
    seed : int
        The seed that the training has; ``train(.., seed=training.seed)`` makes the same again.
    directory : path or None
    """

    def __init__(self, model: Model, data: Data, test: Optional[Data], options: dict[str, Any],
                 suggested: Optional[str], directory: Optional[Path], preconditioner: Any, own: Any,
                 overwrite: bool = False, drawn: bool = False, comm: Any = None, first: Any = None):
        self._comm, self._ranks = comm, communicator(comm)
        self._first: Optional[tuple[Model, Handle]] = None
        self.model, self.data, self.test, self.directory = model, data, test, directory
        self._options, self._suggested, self._own = options, suggested, as_list(own)
        self.seed: int = options["seed"]
        model._trained = False  # its parameters become others than those of its file
        self._preconditioner = _preconditioner(preconditioner, model, data)
        self._hooks = _Hooks(model)
        self._hooks.directory = directory
        if data.variables != model.variables:  # a denoising chain shows its parameters at reports only
            self._hooks.looks = False
        self._last: Optional[NDArray[np.float64]] = None  # where training goes on, if the model has the best parameters
        self._running = threading.Lock()
        self._trainer = self._create(None)  # which finds what is wrong before any file is touched
        if directory is not None:
            self._at_first(functools.partial(_make_directory, directory, overwrite))
        if first is not None:
            self._first = self._open_first(first() if callable(first) else first)
            self._trainer.close()
            self._trainer = self._create(None)
        if directory is not None:
            self._open(directory, drawn)

    def _at_first(self, work: Callable[[], Any]) -> Any:
        """What rank 0 makes, or raises, at all ranks."""
        made, failure = None, None
        if self._comm is None or self._comm.rank == 0:
            try:
                made = work()
            except Exception as error:
                failure = error
        if self._comm is not None:
            made, failure = self._comm.bcast((made, failure), 0)
        if failure is not None:
            raise failure
        return made

    @contextlib.contextmanager
    def _scratch(self) -> Iterator[str]:
        """A directory of all ranks, until all are through."""
        place = self._at_first(tempfile.mkdtemp)
        try:
            yield place
        finally:
            if self._comm is not None:
                self._comm.barrier()
            self._at_first(lambda: shutil.rmtree(place, ignore_errors=True))

    def _open_first(self, first: Any) -> Optional[tuple[Model, Handle]]:
        """The model and the ladder of a training, or of its directory."""
        if first is None:
            return None
        if isinstance(first, (str, os.PathLike)):
            return _ladder_of(first)
        if not isinstance(first, Training):
            raise ArgumentError(f"first: expected a Training or the directory of one; found {type(first).__name__}")
        if first.directory is not None:
            return _ladder_of(first.directory)
        with self._scratch() as place:
            call("sal_flat_trainer_save", first._trainer, first.model, place.encode())
            return _ladder_of(place)

    def _open(self, directory: Path, drawn: bool) -> None:
        """Go on from the checkpoint of a directory, if it has one. `drawn`: parameters that seed and data give."""
        before = self.model.params.flat
        self._trainer.close()
        self._trainer = self._create(directory)
        report = self.report
        done, total, changed = report["iteration"], report["iterations"], report["resumed_with"]
        if done > total:
            self.model.params.flat = before
            raise ArgumentError(f"train: the training in {os.fspath(directory)} has already made {done} iterations; "
                                f"{total} were asked for; give {done} or more, or overwrite=True to begin anew")
        replaced = not drawn and before.any() and (before != self.model.params.flat).any()
        if done == 0 or not (changed or done == total or replaced):
            return
        where = os.fspath(directory)
        parts = [f"{where} has already made all {done} iterations; more iterations go on" if done == total else
                 f"goes on from iteration {done} of {where}"]
        parts += [changed] if changed else []
        parts += ["the parameters are now those of the checkpoint, not those that the model had"] if replaced else []
        warn("; ".join(parts + ["overwrite=True begins anew"]))

    def _create(self, directory: Optional[Path]) -> Handle:
        text = options_text(self._options)
        pointer = (make("sal_flat_options_create", TRAIN, text) if self._suggested is None else
                   make("sal_flat_options_suggested", self._suggested.encode(), self.data.rows, text))
        keep = (self.model._handle, self.data._handle, self.test and self.test._handle, self._own, self._hooks,
                self._ranks, self._first)
        made = Handle(pointer, "sal_flat_options_destroy", keep=keep)
        give_samplers(made, self._own)
        give_comm(made, self._ranks)
        give_reals(made, "preconditioner", self._preconditioner)
        if self.test is not None:
            call("sal_flat_options_handle", made, b"test", self.test._handle)
        if self._first is not None:
            call("sal_flat_options_handle", made, b"first_model", self._first[0]._handle)
            call("sal_flat_options_handle", made, b"first", self._first[1])
        call("sal_flat_options_progress", made, self._hooks.progress, None)
        call("sal_flat_options_report", made, self._hooks.report, None)
        pointer = make("sal_flat_trainer_create", self.model, self.data, made, encode(_absolute(directory)))
        return Handle(pointer, "sal_trainer_destroy", keep=made)

    @property
    def reports(self) -> list[dict[str, Any]]:
        """The reports since the start, or since the training was resumed."""
        return self._hooks.reports

    @property
    def report(self) -> dict[str, Any]:
        """The last report; of a training without one, what is known now."""
        return self.reports[-1] if self.reports else _report_of("sal_flat_trainer_report", self._trainer)

    @property
    def iteration(self) -> int:
        """The number of updates made."""
        return ask("sal_flat_trainer_report", self._trainer)["iteration"]

    @property
    def iterations(self) -> int:
        """The number of updates to be made."""
        return ask("sal_flat_trainer_report", self._trainer)["iterations"]

    @property
    def samples(self) -> Union[NDArray[np.int32], MaybeNone]:
        """Codes of the persistent chains, shape (chains, V), int32; a copy. None: pseudo-likelihood has none."""
        n = ctypes.c_int64()
        pointer = lib.sal_flat_trainer_samples(self._trainer, ctypes.addressof(n))
        return np.array(view(pointer, ctypes.c_int32, (n.value, self.model.variables), self._trainer)) \
            if pointer else None

    @property
    def averages(self) -> Union[dict[str, NDArray[np.float64]], MaybeNone]:
        """Moving averages of the parameters by name, with the option `averaging`; else None."""
        pointer = lib.sal_flat_trainer_averages(self._trainer)
        if not pointer:
            return None
        shapes = {p["name"]: tuple(p["shape"]) for p in self.model.info["parameters"]}
        sizes = [int(np.prod(shape, dtype=np.int64)) for shape in shapes.values()]
        flat = np.array(view(pointer, ctypes.c_double, (sum(sizes),), self._trainer))
        parts = np.split(flat, np.cumsum(sizes)[:-1])
        return {name: part.reshape(shape) for (name, shape), part in zip(shapes.items(), parts)}

    # ---- going on

    def run(self, iterations: Optional[int] = None, *, progress: Any = None,
            report: Optional[Callable[[dict[str, Any]], Any]] = None, interrupt: str = "raise") -> "Training":
        """Go on.

        Parameters
        ----------
        iterations : int, optional
            Updates more, also past those that were asked for at first: schedules of the learning rate
            then stretch. None: those that are left.
        progress, report, interrupt
            As in :func:`train`.

        Returns
        -------
        Training
            Itself.

        Raises
        ------
        SaltusError
            It runs already: in another thread, or in the `report` or `progress` that calls this.
        ArgumentError
            Less than 0 iterations.
        ModelError, FileError, KeyboardInterrupt
            As :func:`train`.
        """
        raising = raises(interrupt)
        if not self._running.acquire(blocking=False):
            raise SaltusError("run: this training runs already: in another thread, or it is what called this function")
        interrupts = Interrupts()
        try:
            try:
                with interrupts:
                    self._go_on(iterations, interrupts, progress, report)
            finally:
                self._running.release()
            if interrupts.seen and raising:
                raise KeyboardInterrupt("the training so far is the attribute `training` of this exception")
        except KeyboardInterrupt as stop:  # also Ctrl-C again, or where it is not noted
            stop.training = self  # type: ignore[attr-defined]
            if raising:
                raise
            interrupts.seen = True
        if interrupts.seen:
            warn(f"interrupted after {self.iteration} of {self.iterations} iterations; run() goes on")
        return self

    def _go_on(self, iterations: Optional[int], interrupts: Interrupts, progress: Any, report: Any) -> None:
        """Train until the end or Ctrl-C."""
        done, total = self.iteration, self.iterations
        end = total if iterations is None else done + iterations
        if end < done:
            raise ArgumentError(f"run: {iterations} iterations; expected 0 or more")
        if end > total:
            self._extend(end)
        if self._last is not None:
            self.model.params.flat, self._last = self._last, None
        bar = Progress(interrupts, progress, "training", self._watched())
        try:
            self._advance(end, bar, report)
        except _library.ModelError as failure:
            failure.training = self
            if self.directory is not None and (self._comm is None or self._comm.rank == 0):
                self.model.save(os.path.join(self.directory, "model.xml"))
            raise
        self._take_best()

    def _watched(self) -> list[Caught]:
        return [self._hooks.caught, self.model._caught] + [sampler._caught for sampler in self._own]

    def _advance(self, end: int, bar: Progress, report: Any) -> None:
        self._hooks.bar, self._hooks.told = bar, report
        try:
            with bar:
                call("sal_trainer_run", self._trainer, end - self.iteration)
        except SaltusError:
            bar.reraise()
            raise
        finally:
            self._hooks.bar = self._hooks.told = None
        bar.agree(self._comm)
        bar.reraise(failed=False)

    def _extend(self, iterations: int) -> None:
        """The same training with more iterations."""
        self._options = dict(self._options, iterations=iterations)
        if self.directory is not None:
            call("sal_trainer_save", self._trainer, encode(_absolute(self.directory)))
            self._trainer = self._create(self.directory)
            return
        with self._scratch() as place:
            call("sal_trainer_save", self._trainer, place.encode())
            self._trainer = self._create(None)
            call("sal_trainer_load", self._trainer, place.encode())

    def _take_best(self) -> None:
        """The parameters of the best report, where there are held-out rows."""
        if self.test is None or self.report["log_likelihood"] is None:
            return
        last = self.model.params.flat
        best = self._at_first(lambda: self._hooks.best)
        if best is not None:
            self.model.params.flat = best
        elif self.directory is not None and os.path.exists(os.path.join(self.directory, "model.safetensors")):
            self.model.params.load(os.path.join(self.directory, "model.safetensors"))
        self._last = last

    # ---- files

    def save(self, directory: Path) -> None:
        """Write the model and a checkpoint: for :func:`read`, ``saltus evaluate``, and ``train(.., directory=..)``.

        The directory then has model.xml, model.safetensors, checkpoint.json and, with the option
        `averaging`, ema.safetensors, which :func:`read` prefers.

        Raises
        ------
        FileError, OSError
            The directory cannot be made, or writing failed.
        UnsupportedError
            The model is clamped.
        """
        os.makedirs(directory, exist_ok=True)
        call("sal_flat_trainer_save", self._trainer, self.model, encode(_absolute(directory)))

    # ---- display

    def _rows(self) -> list[list[str]]:
        keys = ["iteration", "seconds", "difference", "acceptance_rate", "gradient_norm"]
        names = ["iteration", "seconds", "f(data) - f(samples)", "acceptance", "gradient"]
        if self.report["difference"] is None:
            keys[2:4], names[2:4] = ["log_prob_data"], ["log pseudo-likelihood"]
        if self.report["log_likelihood"] is not None:
            keys.append("log_likelihood")
            names.append("log-likelihood")
        shown = self.reports if len(self.reports) <= 12 else self.reports[:3] + [{}] + self.reports[-8:]
        return [names] + [[_cell(key, report.get(key, ...)) for key in keys] for report in shown]

    def __repr__(self) -> str:
        rows = self._rows()
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        head = f"<saltus Training: {self.iteration} of {self.iterations} iterations on {self.data.rows} rows>"
        return "\n".join([head] + ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows])

    def _repr_html_(self) -> str:
        from html import escape
        head, *rows = self._rows()
        lines = ["".join(f"<th>{escape(cell)}</th>" for cell in head)]
        lines += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
        return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


def _cell(key: str, value: Any) -> str:
    if value is ...:
        return ".."
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.1f}" if key == "seconds" else f"{value:.4g}"


def _absolute(directory: Optional[Path]) -> Optional[Path]:
    """A directory is the same after the program has gone to another one."""
    return None if directory is None else pathlib.Path(directory).absolute()


class _Stopped(Exception):
    """The training that is to come first was stopped."""

    def __init__(self, training: Training):
        super().__init__()
        self.training = training


def _is_begun(directory: Path) -> bool:
    return os.path.exists(os.path.join(directory, "checkpoint.json"))


def _train_first(text: str, data: Data, directory: Optional[Path], *, overwrite: bool, comm: Any,
                 **options: Any) -> Optional[Training]:
    """The training that a ready-made model's goes on from; None: there is none, or its own has begun."""
    pointer = make("sal_train_first", text.encode())
    if not pointer:
        return None
    specification, place = text_at(pointer), None
    if directory is not None:
        begun = _is_begun(directory) if comm is None or comm.rank == 0 else None
        if begun if comm is None else comm.bcast(begun, 0):
            return None
        place = os.path.join(directory, "first")
    first = train(specification, data, directory=place, overwrite=overwrite, comm=comm, **options)
    if first.iteration < first.iterations:
        raise _Stopped(first)
    return first


def train(model: AnyModel, data: Any, *, test: Any = None, iterations: Optional[int] = None,
          batch: Optional[int] = None, learning_rate: Optional[float] = None, objective: Optional[str] = None,
          sampler: Optional[str] = None, steps: Optional[int] = None, report_every: Optional[int] = None,
          averaging: Optional[float] = None, seed: Any = None, threads: Optional[int] = None,
          preconditioner: Union[None, str, ArrayLike] = None, own: OwnSamplers = (),
          first: Union[None, Training, Path] = None,
          directory: Optional[Path] = None, overwrite: bool = False, dtype: Any = None, progress: Any = None,
          report: Optional[Callable[[dict[str, Any]], Any]] = None,
          interrupt: str = "raise", comm: Any = None, **options: Any) -> Training:
    """Fit the parameters of a model to data.

    Parameters
    ----------
    model : Model, Expr, str or path
        A Model goes on from the parameters that it has, a formula from the values of its parameters (0
        where there are none), a saved model from those in its file. A ready-made model by name,
        "rbm:hidden=64", starts from small random weights and biases that suit the data, gets as many
        visible variables as the data have, and trains with the options that suit it and what you give;
        with none of them if you give another objective or a preconditioner, or, without an objective, options of
        persistent chains (`buffer`, `buffer_start`, `buffer_order`, `restart`, `magnitude_penalty`) where
        another objective than 'pcd' is suggested.
    data : Data or array
        Rows of codes, or intensities; see :class:`Data`.
    test : Data or array, optional
        Held-out rows, for the objective 'ptt': reports have their log-likelihood, and the model ends
        with the parameters for which it was largest.
    iterations, batch : int, optional
        Updates of the parameters (2000); rows and chains in each (50).
    learning_rate : float, optional
        Of the optimiser, 1e-3; of plain ascent on an alignment .04 (states / 5)^2, less for more than 136 sites.
    objective : {'pcd', 'cd', 'pseudo-likelihood', 'ptt', 'denoising'}, optional
        Persistent chains (Tieleman, 2008), contrastive divergence (Hinton, 2002), pseudo-likelihood
        (Besag, 1975), parallel trajectory tempering (Bereux et al., 2026), a denoising chain of conditional
        energies (Gao et al., 2021): f(x, t) with one more variable than the rows, the level t, which is the
        last block and categorical.
    sampler, steps : str, int, optional
        The sampler ("gwg") and its steps of each chain in each iteration (20; -1: the number of variables).
    report_every : int, optional
        Iterations between reports, 100.
    averaging : float, optional
        Decay of moving averages of the parameters; see :attr:`Training.averages`.
    seed : int, numpy.random.Generator, RandomState or SeedSequence, optional
        As in :func:`sample`: the same number gives the same bits. None is a fresh seed, or that of the training in
        `directory` which goes on. The number is in :attr:`Training.seed`.
    threads : int, optional
        As in :func:`sample`.
    preconditioner : array, shape (N, N), or 'data', optional
        M of pavg; 'data': from the covariance of the data.
    own : Sampler or list of them, optional
        Samplers of one's own, which `sampler` may name.
    first : Training or path, optional
        Of 'ptt': a training that this one goes on from, or its directory, of a model whose f is part of this one's,
        such as an RBM that a net is added to. Parameters of the same name start as they were trained. None: a net of
        bits that is trained as suggested, "usps-conv", trains its RBM first, in `directory`/first if there is one; if
        that is stopped, its Training is what is returned, and the same call goes on if it had a directory.
    directory : path, optional
        For the model, for :func:`read` and ``saltus evaluate``, and a checkpoint, at each report. An
        earlier training in it, of the same model and data, goes on where it stopped: the model gets the
        parameters of its checkpoint, whatever it had. With the same options the bits are the same as if
        it had not stopped; sampler, steps, learning rate and iterations may be others. What it has
        already made counts among `iterations`.
    overwrite : bool
        Delete an earlier training in the directory, and begin anew. An error in the arguments deletes
        nothing.
    dtype : {'f32', 'f64'}, optional
        Of a model that is made here.
    progress : bool or callable, optional
        As in :func:`sample`; called after each iteration, and with 0 iterations after each level of the ladder
        of `first`.
    report : callable, optional
        A function of each report, a dict (see :class:`Training`). It stops the training by returning False.
    interrupt : {'raise', 'return'}
        What Ctrl-C does after the iteration: raise KeyboardInterrupt, whose attribute `training` is the Training so
        far; or return that, with a warning.
    comm : mpi4py.MPI.Comm, optional
        Processes that share the chains and the gradient; all of them make the same call, and all have the trained
        model, with the same bits for any number of them. Reports, and files of `directory`, are rank 0's.
    **options
        buffer, restart, optimiser, rate_schedule, rate_cooldown, weight_decay, fixed, l1, centring, ...:
        the other options of ``saltus train``; ``saltus.list_of("options")`` describes them.

    Returns
    -------
    Training

    Raises
    ------
    KeyboardInterrupt
        Ctrl-C, unless ``interrupt="return"``. The exception's attribute `training` is the Training with what was
        learned, and its ``run()`` goes on.
    ModelError
        Training diverged. The model has the parameters of the last good report; the exception's
        attribute `training` is the Training.
    DataError
        The directory has a training of another model, of other data, or with another seed or batch.
    UnsupportedError
        A model without parameters, such as a function or module that is called back; a sampler that cannot
        serve the model.
    ArgumentError, NotFoundError
        An option, data that do not fit, or a directory with files but no checkpoint; no such model or option.
    ShapeError
        Rows with another number of variables; a preconditioner of another shape.
    FileError
        Writing a checkpoint failed.

    Warns
    -----
    SaltusWarning
        All parameters started at 0 and hidden units stay equal; an interrupt, with ``interrupt="return"``; an earlier
        training of the directory goes on with other options, in place of parameters that the model had, or has nothing
        left to do.

    Notes
    -----
    The gradient of the mean log-likelihood is the mean of df/dtheta over the data less that over the
    model, whose samples are made by steps of the sampler. Contrastive divergence, whose chains start at the
    data in each iteration, is biased.

    Ctrl-C is noted while C runs, and takes effect after the iteration.

    References
    ----------
    'pcd': Tieleman (2008), Training restricted Boltzmann machines using approximations to the likelihood
    gradient; Rhodes & Gutmann (2022), algorithm L.6. 'cd': Hinton (2002), Training products of experts by
    minimizing contrastive divergence. 'pseudo-likelihood': Besag (1975), Statistical analysis of non-lattice
    data. 'ptt': Bereux, Decelle, Furtlehner & Seoane (2026).
    Optimisers: Kingma & Ba (2015), Adam; Loshchilov & Hutter (2019), AdamW. Centring: Cho, Raiko & Ilin (2013);
    Melchior, Fischer & Wiskott (2016). preconditioner='data': Rhodes & Gutmann (2022), appendix F.1.

    Examples
    --------
    Independent variables: the parameters become the log-odds, exactly where a batch is all data.

    >>> import numpy as np, saltus as sal
    >>> rng = np.random.default_rng(1)
    >>> data = (rng.random((1000, 2)) < [0.2, 0.7]).astype(int)
    >>> s = sal.binary(2)
    >>> model = sal.Model((sal.param("b", 2) * s).sum())
    >>> training = sal.train(model, data, objective="pseudo-likelihood", iterations=500, batch=1000,
    ...                      learning_rate=0.03)
    >>> log_odds = np.log(data.mean(axis=0) / (1 - data.mean(axis=0)))
    >>> bool(np.abs(model.params["b"] - log_odds).max() < 1e-6)
    True
    """
    raises(interrupt)
    earlier = _earlier_seed(directory, overwrite, comm) if seed is None else None
    number = _library.seed_of(seed if earlier is None else earlier, comm)
    given = dict(options, iterations=iterations, batch=batch, learning_rate=learning_rate, objective=objective,
                 sampler=sampler, steps=steps, report=report_every, averaging=averaging, seed=number, threads=threads)
    rows, samplers = as_data(data)._shared(), as_list(own)
    if sampler is None and samplers and objective != "pseudo-likelihood":
        given["sampler"] = samplers[0].name
    suggested, drawn = None, False
    if isinstance(model, (str, os.PathLike)) and not _is_saved(model):
        suggested = _suggested(os.fspath(model), rows, given) if preconditioner is None else None
        drawn = True
        made = _new_model(os.fspath(model), rows, suggested is not None, number, dtype)
    else:
        made = model if isinstance(model, Model) else Model(model, dtype=dtype)
        fitting(rows, made.variables, "data", lib.sal_model_levels(made))
    held = None if test is None else fitting(test, made.variables, "test", lib.sal_model_levels(made))._shared()
    if not made.info["parameters"]:
        raise UnsupportedError(f"train: {made.name or 'the model'} has no parameters; functions and modules that are "
                               f"called back have none and cannot be trained: write f as a formula, with saltus.param")
    before: Any = first
    if suggested is not None and first is None:
        before = functools.partial(_train_first, suggested, rows, directory, overwrite=overwrite, seed=number,
                                   threads=threads, dtype=dtype, test=held, progress=progress, interrupt=interrupt,
                                   comm=comm)
    try:
        training = Training(made, rows, held, given, suggested, directory, preconditioner, samplers, overwrite,
                            drawn, comm, before)
    except _Stopped as stopped:
        return stopped.training
    return training.run(progress=progress, report=report, interrupt=interrupt)

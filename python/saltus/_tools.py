# SPDX-License-Identifier: MIT
"""What commands of the program do beside runs and trainings: in-painting, reports, conversion, diagnostics."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import tempfile
from ctypes import c_bool, c_char_p, c_double, c_int, c_int64, c_uint64, c_void_p
from typing import Any, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _library, _train
from ._arrays import plain, reals
from ._library import (ArgumentError, Interrupts, Path, SaltusError, ShapeError, UnsupportedError, address, call, encode,
                       lib, own_names, warn_of)
from ._model import AnyModel, Model, as_model
from ._progress import Progress
from ._run import Run

# ---- structs of the library, by the names and types of their fields


class InpaintOptions(ctypes.Structure):
    """sal_inpaint_options."""

    _fields_ = [("sampler", c_char_p), ("step_size", c_double), ("samples", c_int64), ("steps", c_int64),
                ("mask_by_row", c_bool), ("seed", c_uint64), ("threads", c_int), ("progress", _library.PROGRESS),
                ("progress_data", c_void_p), ("own_samplers", c_void_p)]


class Diagnostics(ctypes.Structure):
    """sal_diagnostics."""

    _fields_ = [(name, c_double) for name in
                ("mean", "sd", "rhat", "rhat_bulk", "rhat_folded", "rhat_basic", "ess_bulk", "ess_tail", "ess_basic",
                 "ess_tfp", "autocorrelation_time", "mcse_mean", "mcse_sd")]


class TrajectoryLevel(ctypes.Structure):
    """sal_trajectory_level."""

    _fields_ = [("iteration", c_int64), ("beta", c_double), ("log_z", c_double), ("log_z_error", c_double),
                ("acceptance", c_double), ("visits", c_int64), ("relaxation", c_double)]


class ConvertOptions(ctypes.Structure):
    """sal_convert_options."""

    _fields_ = [("from_format", c_char_p), ("to_format", c_char_p), ("columns_from", c_int), ("gauge", c_int),
                ("alphabet", c_char_p)]


class ReportOptions(ctypes.Structure):
    """sal_report_options."""

    _fields_ = [("exact", c_char_p), ("model", c_char_p)]


class Images(ctypes.Structure):
    """sal_images."""

    _fields_ = [("n", c_int64), ("height", c_int64), ("width", c_int64), ("values", c_void_p), ("columns", c_int64)]


def _require_own_version(what: str) -> None:
    """Functions of <saltus/program.h> may change in any version: only the library of this very version will do."""
    version = lib.sal_version().decode()
    if version != _library.VERSION:
        raise UnsupportedError(f"{what}: the library is version {version}, and this package {_library.VERSION}; "
                               "install both in the same version")


# ---- in-painting


def inpaint(model: AnyModel, x: Any, unknown: Any = None, *, samples: int = 8, steps: int = 1000,
            sampler: Optional[str] = None, step_size: Optional[float] = None, seed: Any = None, codes: bool = False,
            threads: Optional[int] = None, progress: Any = None) -> NDArray[Any]:
    """Draw unknown variables of states from their distribution given the known ones.

    Parameters
    ----------
    model : Model, Expr, str or path
    x : array, shape (V,) or (.., V)
        States by value, or with ``codes=True`` by code. What it has at unknown variables does not matter.
    unknown : array of bool, shape (V,) or that of x, optional
        Which variables are to be drawn. None: those where x is NaN.
    samples, steps : int
        Samples of each state, each from a chain of its own; steps of each chain, at least 2.
    sampler : str, optional
        As in :func:`sample`. For RBMs :meth:`saltus.rbm.RBM.sample` has block Gibbs.
    step_size : float, optional
        Of samplers that have one (None: found over the first half of the steps).
    seed, threads, progress
        As in :func:`sample`. If `progress` returns False, SaltusError is raised.

    Returns
    -------
    array, shape (samples, V) or (.., samples, V)
        The last states of the chains, as of :meth:`Model.values`, or int32 codes.

    Raises
    ------
    ArgumentError, ShapeError
        A state without an unknown variable; known values that are none; another shape.
    UnsupportedError
        A sampler that cannot serve the model; codes above 255.
    ModelError
        f is NaN or +inf, or no state with finite f has the known values.
    KeyboardInterrupt

    Examples
    --------
    >>> import numpy as np, saltus as sal
    >>> s = sal.spins(5)
    >>> drawn = sal.inpaint(sal.Model(3 * (s[:-1] * s[1:]).sum()), [1, np.nan, np.nan, np.nan, 1], samples=100, seed=1)
    >>> drawn.shape
    (100, 5)
    >>> bool((drawn[:, 0] == 1).all() and drawn.mean() > 0.9)
    True
    """
    made = as_model(model)
    shape, states, mask = _split_unknown(made, x, unknown, codes)
    rows = states.reshape(-1, made.variables).astype(np.uint8)
    mask = np.ascontiguousarray(mask.reshape(-1, made.variables), dtype=np.uint8)
    out = np.empty((len(rows), max(samples, 1), made.variables), dtype=np.int32)
    interrupts = Interrupts()
    bar = Progress(interrupts, progress, "in-painting", [made._caught])
    most = 2 ** 31 - 1
    options = InpaintOptions(encode(sampler), step_size or 0.0, _library.whole(samples, most, "samples"),
                             _library.whole(steps, most, "steps"), True, _library.seed_of(seed),
                             _library.whole(threads or 0, most, "threads"), bar.callback, None, None)
    if samples < 1 or steps < 2:
        raise ArgumentError(f"inpaint: samples={samples}, steps={steps}; expected 1 or more, and 2 or more")
    with interrupts:
        try:
            with bar:
                call("sal_inpaint", made, len(rows), address(rows), address(mask), ctypes.addressof(options),
                     address(out))
        except SaltusError:
            bar.reraise()
            raise
        bar.reraise(failed=False)
    if interrupts.seen:
        raise KeyboardInterrupt
    if (out < 0).any():
        raise SaltusError("inpaint: progress stopped it")
    drawn = out if codes else made.values(out)
    return drawn.reshape(shape + drawn.shape[1:])


def _split_unknown(model: Model, x: Any, unknown: Any,
                   codes: bool) -> tuple[tuple[int, ...], NDArray[Any], NDArray[Any]]:
    """The shape of states, their codes with 0 at unknown variables, and where these are."""
    given = plain(x, "x")
    if given.ndim < 1 or given.shape[-1] != model.variables or given.size == 0:
        raise ShapeError(f"x: expected the shape (.., {model.variables}); found {given.shape}")
    if unknown is None:
        mask = np.isnan(given) if given.dtype.kind == "f" else np.zeros(given.shape, dtype=bool)
    else:
        mask = plain(unknown, "unknown")
        if mask.dtype.kind != "b" and not (mask.dtype.kind in "iu" and np.isin(mask, (0, 1)).all()):
            raise ArgumentError(f"unknown: expected booleans; found {mask.dtype}")
        mask = mask.astype(bool)
        if mask.shape not in (given.shape, given.shape[-1:]):
            raise ShapeError(f"unknown: expected the shape {given.shape[-1:]} or {given.shape}; found {mask.shape}")
        mask = np.broadcast_to(mask, given.shape)
    none = ~mask.any(axis=-1)
    if none.any():
        raise ArgumentError("inpaint: nothing is unknown of " +
                            ("the state" if given.ndim == 1 else f"state {np.flatnonzero(none)[0]}") +
                            "; give unknown=, or NaN where x is unknown")
    zeros = np.zeros(model.variables, dtype=np.int32)
    filled = np.where(mask, zeros if codes else model.values(zeros), given)
    if codes and filled.dtype.kind == "f" and (filled == np.floor(filled)).all():  # whole numbers beside NaN
        filled = filled.astype(np.int64)
    states, _ = model._states(filled, codes)
    if states.max() > 255:
        raise UnsupportedError("inpaint: codes above 255 are not served")
    return given.shape[:-1], states, mask


# ---- diagnostics of arrays


def diagnose(draws: Any) -> dict[str, Any]:
    """Means, effective sample sizes, R-hat and errors of draws, also of those of other programs.

    Parameters
    ----------
    draws : array, shape (chains, draws) or (chains, draws, ..)
        Real numbers. Labels of categorical variables have no mean: give indicators, ``draws == label``.

    Returns
    -------
    dict
        "mean", "sd"; "rhat", the larger of "rhat_bulk" and "rhat_folded", and "rhat_basic"; "ess_bulk",
        "ess_tail", "ess_basic", "ess_tfp", of all chains together; "autocorrelation_time"; "mcse_mean", "mcse_sd".
        Floats, or arrays of the shape of the last axes. NaN: not defined, as R-hat of a constant.

    Raises
    ------
    ShapeError, ArgumentError

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter & Buerkner (2021), Rank-normalization, folding, and localization.

    Examples
    --------
    >>> import numpy as np, saltus as sal
    >>> figures = sal.diagnose(np.random.default_rng(1).normal(size=(4, 1000, 3)))
    >>> figures["rhat"].shape, bool(figures["rhat"].max() < 1.01)
    ((3,), True)
    """
    array = reals(draws, "draws")
    if array.ndim < 2 or array.size == 0:
        raise ShapeError(f"draws: expected the shape (chains, draws) or (chains, draws, ..); found {array.shape}")
    chains, length = array.shape[:2]
    series = np.moveaxis(array.reshape(chains, length, -1), 2, 0)
    names = [field[0] for field in Diagnostics._fields_]
    found = np.empty((len(names), len(series)))
    figures = Diagnostics()
    for k in range(len(series)):
        one = np.ascontiguousarray(series[k])
        call("sal_stats_diagnose", chains, length, address(one), ctypes.addressof(figures))
        found[:, k] = [getattr(figures, name) for name in names]
    if array.ndim == 2:
        return {name: float(row[0]) for name, row in zip(names, found)}
    return {name: row.reshape(array.shape[2:]) for name, row in zip(names, found)}


# ---- the ladder of a training


class Ladder(list[dict[str, Any]]):
    """The levels of a training by 'ptt', from independent variables to the model: the result of :func:`ladder`.

    A list of dicts with "iteration" (when the level was frozen), "beta", "log_z" and "log_z_error" (from level 0,
    whose log Z is 0), "acceptance" (mean probability of a swap with the level before), "visits" and "relaxation"
    (above 3: its states were not at equilibrium).

    Attributes
    ----------
    log_z, error : float
        log Z of the model, and its standard error.
    """

    def __init__(self, levels: Sequence[dict[str, Any]], log_z: float, error: float):
        super().__init__(levels)
        self.log_z, self.error = log_z, error

    def __repr__(self) -> str:
        return f"<saltus Ladder: {len(self)} levels; log Z {self.log_z:.6g} +- {self.error:.2g}>"


def ladder(training: Union[_train.Training, Path]) -> Ladder:
    """The levels that a training by 'ptt' found, and log Z of its model by them.

    Parameters
    ----------
    training : Training or path
        A training, or the directory of one. ``saltus.sample(training)`` samples along the ladder.

    Returns
    -------
    Ladder

    Raises
    ------
    NotFoundError
        The training has no ladder.
    DataError, FileError
        Its files do not fit each other; reading them failed.
    UnsupportedError
        A denoising chain, which has no log Z.

    Examples
    --------
    >>> import saltus as sal
    >>> data = sal.Data.digits(100, 8, seed=1)
    >>> training = sal.train("rbm:hidden=4", data, objective="ptt", sampler="block-gibbs", steps=1, iterations=20, seed=1)
    >>> levels = sal.ladder(training)
    >>> levels[0]["log_z"], bool(abs(levels.log_z - training.model.exact().log_z) < 5 * levels.error + 1e-3)
    (0.0, True)
    """
    with contextlib.ExitStack() as stack:
        place: Optional[Path]
        if isinstance(training, _train.Training):
            place = training.directory
            if place is None:
                place = stack.enter_context(training._scratch())
                call("sal_flat_trainer_save", training._trainer, training.model, encode(place))
        elif isinstance(training, (str, os.PathLike)):
            place = training
        else:
            raise ArgumentError(f"ladder: expected a Training or the directory of one; found {type(training).__name__}")
        model, trajectory = _train._ladder_of(place)
    log_z, error, level = c_double(), c_double(), TrajectoryLevel()
    levels: list[dict[str, Any]] = []
    call("sal_trajectory_log_z", trajectory, model, ctypes.addressof(log_z), ctypes.addressof(error))
    while lib.sal_trajectory_level_at(trajectory, len(levels), ctypes.addressof(level)):
        levels.append({field[0]: getattr(level, field[0]) for field in TrajectoryLevel._fields_})
    return Ladder(levels, log_z.value, error.value)


# ---- files

GAUGES = (None, "zero-sum", "lattice-gas")


def convert(source: Path, target: Path, from_format: Optional[str] = None, to_format: Optional[str] = None,
            columns_from: Optional[int] = None, gauge: Optional[str] = None, alphabet: Optional[str] = None) -> None:
    """Write what a file holds in another format: a network, a graph, an alignment, parameters of a Potts model, an array
    or a saved model.

    Parameters
    ----------
    source, target : path
        Files; the source may be the directory of a training, or say what the numbers of a graph's file are:
        ``"ising:file=G1,vartype=spin"``.
    from_format, to_format : str, optional
        Names from ``saltus.list_of("formats")`` (None: what names and content tell).
    columns_from : {0, 1}, optional
        The index of the first column of a libsvm file (None: found).
    gauge : {'zero-sum', 'lattice-gas'}, optional
        Of parameters of a Potts model (None: of a file, its own; of a model, zero-sum).
    alphabet : str, optional
        Of sequences, draws, or parameters that do not say it: 'protein', 'rna', 'dna' or the letters in order, the
        gap first, such as '-ABCD' (None: found).

    Raises
    ------
    ArgumentError
        No such format, or one that cannot express what the file holds.
    DataError, NotFoundError, FileError
        The content is not acceptable; there is no such file; reading or writing failed. The target is then as before.

    Warns
    -----
    SaltusWarning
        Something was dropped, or read in a way that may be meant otherwise.

    Examples
    --------
    >>> sal.convert("alarm.bif.xml", "alarm.uai")  # doctest: +SKIP
    """
    _require_own_version("convert")
    if columns_from not in (None, 0, 1):
        raise ArgumentError(f"columns_from={columns_from!r}; expected 0 or 1")
    if gauge not in GAUGES:
        raise ArgumentError(f"gauge={gauge!r}; expected 'zero-sum' or 'lattice-gas'")
    remark = c_void_p()
    options = ConvertOptions(encode(from_format), encode(to_format), 0 if columns_from is None else int(columns_from) + 1,
                             GAUGES.index(gauge), encode(alphabet))
    call("sal_convert", encode(source), encode(target), ctypes.addressof(options), ctypes.byref(remark))
    if remark.value:
        warn_of(own_names(_library.text_at(remark.value)), True)


def report(out: Path, *sources: Union[Run, _train.Training, Path], exact: Optional[Path] = None,
           model: Optional[Path] = None) -> None:
    """Write one page of HTML about runs and trainings, with charts, which needs no other file.

    Parameters
    ----------
    out : path
        The page, replaced at once.
    *sources : Run, Training or path
        Runs that kept their draws; trainings; files of runs (.nc, .npy), directories that ``saltus train`` wrote, and
        the output of ``saltus compare --json``.
    exact : path, optional
        A file of exact marginals, for all runs (:func:`save_marginals`). None: they are computed where that is cheap.
    model : str or path, optional
        The model of the runs, for exact marginals (None: the one that the files name).

    Raises
    ------
    ArgumentError
        No sources, or something else; a run that did not keep its draws.
    DataError, NotFoundError, FileError, UnsupportedError

    Examples
    --------
    >>> sal.report("page.html", run, training)  # doctest: +SKIP
    """
    _require_own_version("report")
    if not sources:
        raise ArgumentError("report: expected runs, trainings or files")
    with tempfile.TemporaryDirectory() as folder:
        paths = [encode(_place_of(source, folder, k)) for k, source in enumerate(sources)]
        buffers = [ctypes.create_string_buffer(path) for path in paths]
        places = (c_void_p * len(buffers))(*(ctypes.addressof(buffer) for buffer in buffers))
        options = ReportOptions(encode(exact), encode(model))
        call("sal_report_write", len(buffers), places, ctypes.addressof(options), encode(out))


def _place_of(source: Any, folder: str, number: int) -> Path:
    """Where a source of a report lies; runs are written to the folder first."""
    if isinstance(source, (str, os.PathLike)):
        return source
    if isinstance(source, _train.Training):
        place = os.path.join(folder, f"training{number + 1}")
        source.save(place)
        _write_log(source, os.path.join(place, "log.csv"))
        return place
    if not isinstance(source, Run):
        raise ArgumentError(f"report: expected a Run, a Training or a path; found {type(source).__name__}")
    place = os.path.join(folder, f"run{number + 1}")
    try:
        source.save(place + ".nc")
        return place + ".nc"
    except UnsupportedError:  # without libnetcdf
        source.save(place + ".npy")
        return place + ".npy"


def _write_log(training: _train.Training, path: Path) -> None:
    """Write the reports of a training as the program writes log.csv."""
    reports = training.reports or [training.report]
    names = [name for name in reports[0] if name not in ("best", "reached", "resumed_with")]
    with open(path, "w", encoding="utf-8") as file:
        for row in [names] + [[report[name] for name in names] for report in reports]:
            file.write(",".join("nan" if value is None else str(value) for value in row) + "\n")


def save_marginals(path: Path, model: AnyModel, marginals: Sequence[Any], log_z: Optional[float] = None) -> None:
    """Write marginals: NAME.MAR in the format of the UAI competitions, any other name as JSON.

    Parameters
    ----------
    path : path
    model : Model, Expr, str or path
    marginals : list of array, by variable
        As :attr:`Exact.marginals` and :meth:`Run.marginals` give them.
    log_z : float, optional

    Raises
    ------
    ShapeError
        Not one number for each state of each variable.
    UnsupportedError
        NAME.MAR with a count without a cap.
    FileError
        Writing failed.
    """
    _require_own_version("save_marginals")
    made = as_model(model)
    states = [lib.sal_space_states(lib.sal_model_space(made), v) or 64 for v in range(made.variables)]
    rows = [reals(row, "marginals") for row in marginals]
    if [row.shape for row in rows] != [(n,) for n in states]:
        raise ShapeError(f"marginals: expected an array for each of {made.variables} variables, with a number for each "
                         "of its states")
    flat = np.ascontiguousarray(np.concatenate(rows))
    call("sal_marginals_write", encode(path), made, address(flat), math.nan if log_z is None else float(log_z))


def load_marginals(path: Path, model: AnyModel) -> tuple[list[NDArray[np.float64]], Optional[float]]:
    """Read marginals that :func:`save_marginals`, or the program, wrote for a model.

    Returns
    -------
    marginals : list of array, by variable
    log_z : float or None
        In nats; None: the file has none.

    Raises
    ------
    NotFoundError, FileError
        There is no such file, or reading it failed.
    DataError, ArgumentError
        It is of another kind, or for another model or other evidence.
    UnsupportedError
        Counts without a cap.

    Examples
    --------
    >>> import os, tempfile, saltus as sal
    >>> model = sal.Model("ising:side=3,theta=0.2")
    >>> exact = model.exact()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "ising.json")
    ...     sal.save_marginals(path, model, exact.marginals, exact.log_z)
    ...     marginals, log_z = sal.load_marginals(path, model)
    >>> bool(abs(log_z - exact.log_z) < 1e-9), len(marginals)
    (True, 9)
    """
    _require_own_version("load_marginals")
    made = as_model(model)
    states = [lib.sal_space_states(lib.sal_model_space(made), v) for v in range(made.variables)]
    flat, log_z = np.empty(max(int(np.sum(states)), 1)), c_double()
    call("sal_marginals_read", encode(path), made, address(flat), ctypes.addressof(log_z))
    return np.split(flat, np.cumsum(states)[:-1]), None if math.isnan(log_z.value) else log_z.value


def save_pictures(path: Path, pictures: Any, columns: Optional[int] = None, zoom: int = 1) -> None:
    """Write grey pictures in a grid as a PNG file.

    Parameters
    ----------
    path : path
    pictures : array, shape (H, W), (n, H, W) or (rows, columns, H, W)
        From 0 (black) to 1 (white); numbers beyond are cut.
    columns : int, optional
        Pictures in a row of the grid (None: those of the array's shape, else about as many as rows).
    zoom : int
        Pixels of the sheet for the side of one pixel of a picture.

    Raises
    ------
    ShapeError, ArgumentError
    UnsupportedError
        The library was built without libpng.
    FileError
        Writing failed.
    """
    _require_own_version("save_pictures")
    values = reals(pictures, "pictures")
    if values.ndim not in (2, 3, 4) or values.size == 0:
        raise ShapeError(f"pictures: expected the shape (H, W), (n, H, W) or (rows, columns, H, W); found {values.shape}")
    if values.ndim == 4 and columns is None:
        columns = values.shape[1]
    flat = values.reshape((-1,) + values.shape[-2:])
    images = Images(*flat.shape, address(flat), _library.whole(columns or 0, 2 ** 31 - 1, "columns"))
    call("sal_sheet_write", encode(path), ctypes.addressof(images), _library.whole(zoom, 2 ** 31 - 1, "zoom"))

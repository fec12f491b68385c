# SPDX-License-Identifier: MIT
"""Runs of samplers, and what they give."""

from __future__ import annotations

import ctypes
import datetime
import importlib
import importlib.util
import itertools
import os
import warnings
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _library
from ._arrays import reals
from ._library import (ArgumentError, Handle, Interrupts, MaybeNone, Path, SaltusError, address, ask, call, encode, lib,
                       make, options_text, view)
from ._model import AnyModel, Model, as_model
from ._progress import Progress, raises, seconds_of
from ._sampler import OwnSamplers, as_list

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.figure import Figure

    from ._train import Training

RUN, TRAIN, AIS, LOG_Z = 0, 1, 2, 6


class SaltusWarning(UserWarning):
    """A result that should not be trusted, why, and what would help."""


# ---- options


def give_samplers(options: Handle, own: Any) -> None:
    """Offer samplers of one's own to a run or training."""
    for sampler in as_list(own):
        call("sal_flat_options_handle", options, b"sampler", sampler._handle)


def communicator(comm: Any) -> Optional[Handle]:
    """A communicator of mpi4py, for the library."""
    return None if comm is None else Handle(make("sal_comm_open", comm.py2f()), "sal_comm_destroy")


def give_comm(options: Handle, comm: Optional[Handle]) -> None:
    """Let a run or training be shared by the ranks of a communicator."""
    if comm is not None:
        call("sal_flat_options_handle", options, b"comm", comm)


def give_reals(options: Handle, name: str, values: Any) -> None:
    """Give an array of reals, if there is one."""
    if values is not None:
        array = reals(values, name)
        call("sal_flat_options_reals", options, name.encode(), array.size, address(array))


def run_options(model: Model, options: dict[str, Any], *, own: Any = (), init: Any = None, temperatures: Any = None,
                preconditioner: Any = None, clamp: Optional[dict[int, Any]] = None, tuning: Any = None,
                codes: bool = False, state: Any = None, comm: Optional[Handle] = None,
                opened: Optional[Path] = None, ladder: Optional[bool] = None, trajectory: Any = None) -> Handle:
    """Options of a run as the library has them."""
    text = options_text(options)
    pointer = (make("sal_flat_options_resumed", state, text) if state is not None
               else make("sal_flat_options_create", RUN, text))
    trainer = getattr(trajectory, "_trainer", None)  # of a Training
    made = Handle(pointer, "sal_flat_options_destroy", keep=(state, tuning and tuning._handle, own, comm, trainer))
    give_samplers(made, own)
    give_comm(made, comm)
    _give_ladder(made, model, opened, ladder, trajectory)
    give_reals(made, "temperatures", temperatures)
    give_reals(made, "preconditioner", preconditioner)
    if init is not None:
        start, _ = model._states(init, codes)
        call("sal_flat_options_codes", made, b"init", start.size, address(start))
    if clamp:
        variables, fixed = model._clamps(clamp, codes)
        call("sal_flat_options_clamp", made, len(variables), address(variables), address(fixed))
    if tuning is not None:
        call("sal_flat_options_handle", made, b"tuning", tuning._handle)
    return made


def _give_ladder(options: Handle, model: Model, opened: Optional[Path], ladder: Optional[bool],
                 trajectory: Any) -> None:
    """Say where a run finds the ladder of its model's training, and whether it should use it.

    `trajectory`: a Training or its directory; None: what the model was opened by, as long as it has the
    parameters that it had then.
    """
    trainer = getattr(trajectory, "_trainer", None)
    if ladder is None and trajectory is None and not model._trained:
        ladder = False
    if trainer is not None:
        call("sal_flat_options_handle", options, b"trainer", trainer)
    elif trajectory is not None:
        if not isinstance(trajectory, (str, os.PathLike)):
            raise ArgumentError(f"trajectory: expected a Training or the directory of one; found "
                                f"{type(trajectory).__name__}")
        call("sal_flat_options_text", options, b"training", encode(trajectory))
    call("sal_flat_options_text", options, b"model", encode(opened))
    if ladder is not None:
        if not isinstance(ladder, (bool, np.bool_)):
            raise ArgumentError(f"ladder: expected True, False or None; found {ladder!r}")
        call("sal_flat_options_text", options, b"ladder", b"yes" if ladder else b"no")


class Tuning:
    """What the warm-up of a run found: step sizes, temperatures, values of the sampler.

    ``sample(.., tuning=run.tuning())`` uses it instead of adapting again.

    Attributes
    ----------
    values : dict
        "sampler", with its settings; where there are such, "step_size" (in squared units of the embedding)
        and "temperatures", one for each replica, the coldest first; "sampler.NAME" of what the sampler adapts.
    """

    def __init__(self, handle: Handle):
        self._handle = handle
        self.values: dict[str, Any] = ask("sal_flat_tuning", handle)

    def __repr__(self) -> str:
        return f"<saltus Tuning {self.values}>"

    @classmethod
    def load(cls, path: Path) -> "Tuning":
        """Read a tuning that :meth:`save`, or the program, wrote.

        Raises
        ------
        NotFoundError, FileError
            There is no such file, or reading it failed.
        DataError
            It holds no tuning. Whether the tuning fits a run, :func:`sample` checks.
        """
        return cls(Handle(make("sal_tuning_open", encode(path)), "sal_tuning_destroy"))

    def save(self, path: Path) -> None:
        """Write it as JSON; FileError if that fails."""
        call("sal_tuning_save", self._handle, encode(path))


# ---- results


class Summary(dict[str, Any]):
    """The figures of a run by name, as ``saltus sample --json`` has them; prints as a verdict and a table.

    Attributes
    ----------
    verdict : str
        Whether the draws can be trusted, in one sentence: not, if there is a warning.

    ``saltus.list_of("figures")`` has the name, unit and meaning of each; the figure "ess.min" is
    ``summary["ess"]["min"]``. What is not known is None. "unreached_states" is known for up to 256 states, with
    gibbs, lb and lsb up to 4096.

    References
    ----------
    ESS: of the L1 distance to one random state, Rhodes & Gutmann (2022), appendix J. R-hat: Vehtari, Gelman,
    Simpson, Carpenter & Buerkner (2021), Rank-normalization, folding, and localization.
    """

    def __init__(self, figures: dict[str, Any]):
        super().__init__(figures)
        self["warnings"] = [_library.own_names(text) for text in figures["warnings"]]
        self["seed"] = int(figures["seed"])

    @property
    def verdict(self) -> str:
        found = len(self["warnings"])
        if found:
            return f"These draws are NOT to be trusted, for {found} reason{'s' if found > 1 else ''}:"
        if not self["draws"]:
            return "There are no draws to judge."
        ess, rhat = (self.get("ess") or {}).get("min"), self.get("rhat_max")
        if ess is None or rhat is None:
            return "Whether these draws can be trusted is not known: there is no ESS or R-hat of so few."
        return (f"Nothing speaks against these draws: R-hat is at most {rhat:.4g}, and each chain has an ESS of "
                f"{ess:.4g} or more.")

    def _rows(self) -> list[tuple[str, str]]:
        def number(value: Any) -> str:
            return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)

        ess = self.get("ess") or {}
        rows = [("model", self.get("model") or "(a formula)"), ("sampler", self["sampler"]),
                ("chains x draws", f"{self['chains']} x {self['draws']}" + (" (stopped)" if self["stopped"] else "")),
                ("seed", str(self["seed"])),
                ("step size", number(self.get("step_size"))),
                ("acceptance rate", number(self.get("acceptance_rate"))),
                ("mean jump", number(self.get("mean_jump"))),
                ("ESS of a chain", " to ".join(number(ess.get(k)) for k in ("min", "max"))),
                ("ESS per second", number(self.get("ess_per_second"))),
                ("largest R-hat", number(self.get("rhat_max"))),
                ("mean f", number(self.get("log_prob_mean")))]
        if "until" in self:
            aim = self["until"]
            rows.insert(3, ("until", f"{aim['aim']}: {'' if aim['reached'] else 'NOT '}reached"))
        if "ladder" in self:
            ladder = self["ladder"]
            rows.append(("ladder", f"{ladder['levels']} levels, {number(ladder['arrivals'])} arrivals a chain"))
        if self.get("unchanged_variables"):
            first = self["first_unchanged"]
            rows.append(("never changed", f"{self['unchanged_variables']} variables in any chain: "
                         + ", ".join(map(str, first)) + (", .." if self["unchanged_variables"] > len(first) else "")))
        if "best_log_prob" in self:
            rows.append(("best f", number(self["best_log_prob"])))
        if "decoded" in self:
            rows.append((self["decoded"]["name"], f"f {number(self['decoded']['log_prob'])}"))
        return rows

    def __repr__(self) -> str:
        return "\n".join([self.verdict] + [f"warning: {text}" for text in self["warnings"]] +
                         [f"{name:<16} {value}" for name, value in self._rows()])

    def _repr_html_(self) -> str:
        from html import escape
        rows = "".join(f"<tr><th style='text-align:left'>{escape(name)}</th>"
                       f"<td style='text-align:left'>{escape(value)}</td></tr>" for name, value in self._rows())
        reasons = "".join(f"<li>{escape(text)}</li>" for text in self["warnings"])
        return (f"<p><b>{escape(self.verdict)}</b></p>" + (f"<ul>{reasons}</ul>" if reasons else "")
                + f"<table>{rows}</table>")


class Run:
    """The result of :func:`sample`.

    ``run["spin"]`` has the draws of one block by value, of the shape (chains, draws, *shape of the block);
    ``list(run)`` the names of the blocks, and ``dict(run)`` all of them.

    Attributes
    ----------
    draws : array of uint8 or int32, shape (chains, draws, *model.shape), or None
        Codes of all draws, in the library's memory: a view that cannot be written. None: not kept.
        int32 if a variable has more than 256 states, or is a count without a cap.
    log_prob : array, shape (chains, draws)
        f of the draws in nats, without log Z; a view.
    seed : int
        The seed that the run had; ``sample(.., seed=run.seed)`` makes the same draws again.
    summary : Summary
    model : Model
    """

    def __init__(self, model: Model, handle: Handle, options: Handle):
        self.model, self._handle, self._options = model, handle, options
        sizes = [ctypes.c_int64() for _ in range(3)]
        lib.sal_run_size(handle, *(ctypes.addressof(size) for size in sizes))
        chains, draws, variables = (size.value for size in sizes)
        if variables != model.variables:  # over x, of a denoising chain
            over = ctypes.c_void_p()
            lib.sal_run_model(handle, ctypes.byref(over))
            self.model = Model._of(Handle(over.value or 0, "sal_model_destroy"))
        width = ctypes.c_int()
        pointer = lib.sal_run_draws(handle, ctypes.addressof(width))
        kind = ctypes.c_uint8 if width.value == 1 else ctypes.c_int32
        self.draws: Union[NDArray[Any], MaybeNone] = (
            self.model._shaped(view(pointer, kind, (chains, draws, variables), handle)) if pointer else None)
        self.log_prob: NDArray[np.float64] = view(lib.sal_run_log_probs(handle), ctypes.c_double, (chains, draws),
                                                  handle)
        self._summary: Optional[Summary] = None

    @property
    def summary(self) -> Summary:
        # Computed when it is first asked for: an interrupt of this computation then loses no draws.
        if self._summary is None:
            self._summary = Summary(ask("sal_flat_run_summary", self._handle))
        return self._summary

    @property
    def seed(self) -> int:
        return self.summary["seed"]

    def __repr__(self) -> str:
        return f"<saltus Run: {self.summary['chains']} chains, {self.summary['draws']} draws, " \
               f"{self.summary['sampler']}>\n{self.summary!r}"

    def _repr_html_(self) -> str:
        return self.summary._repr_html_()

    @property
    def values(self) -> NDArray[Any]:
        """All draws by value (spins -1 and 1, levels of ordinals), shape (chains, draws, *model.shape); a copy.

        V numbers in a row where the model has several blocks; ``run["NAME"]`` has those of one block.

        Raises
        ------
        ArgumentError
            The run did not keep its draws.
        """
        return self.model.values(self._kept())

    def _kept(self) -> NDArray[Any]:
        if self.draws is None:
            raise ArgumentError("the run did not keep its draws; give keep=True")
        return self.draws

    def __getitem__(self, name: str) -> NDArray[Any]:
        for block in self.model.blocks:
            if block.name == name:
                codes = self._kept().reshape(self.log_prob.shape + (self.model.variables,))
                return block.draws(codes[..., block.variables])
        raise KeyError(f"{name!r}; the blocks are: {', '.join(self.keys())}")

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, name: object) -> bool:
        return name in self.keys()

    def keys(self) -> list[str]:
        """The names of the blocks."""
        return [block.name for block in self.model.blocks]

    def marginals(self) -> list[NDArray[np.float64]]:
        """The shares of each variable's states among the draws of all chains.

        Returns
        -------
        list of array, each of shape (states,)
            By variable. A count without a cap has 64 entries, for 0, 1, 2, ..; the last is the share of 63
            or more. A clamped variable has one entry that is 1.

        Raises
        ------
        ArgumentError
            The run was stopped before its first draw.

        Notes
        -----
        The run counts as it goes: the draws need not have been kept.

        Examples
        --------
        >>> import saltus as sal
        >>> run = sal.sample(-sal.counts(2).sum(), draws=100, keep=False, seed=1)
        >>> [shares.shape for shares in run.marginals()]
        [(64,), (64,)]
        """
        space = lib.sal_model_space(self.model)
        states = [lib.sal_space_states(space, v) or 64 for v in range(self.model.variables)]
        flat = np.empty(int(np.sum(states)))
        call("sal_run_marginals", self._handle, address(flat))
        return np.split(flat, np.cumsum(states)[:-1])

    def best(self, codes: bool = False) -> tuple[NDArray[Any], float]:
        """The best state that was met after warm-up, and its f; for runs with ``anneal`` or ``track_best``.

        Parameters
        ----------
        codes : bool
            Give codes instead of values.

        Returns
        -------
        state : array, of the model's `shape`
        f : float

        Raises
        ------
        ArgumentError
            The run had neither option, or was stopped before its first step after warm-up.

        Examples
        --------
        >>> import saltus as sal
        >>> s = sal.spins(4)
        >>> run = sal.sample((s[:-1] * s[1:]).sum(), anneal=True, draws=100, seed=1)
        >>> run.best()[1]
        3.0
        """
        return self._state("sal_run_best", codes)

    def decoded(self, codes: bool = False) -> tuple[NDArray[Any], float]:
        """The best decoded state of a run with ``anneal`` or ``track_best``, and its f.

        Models of independent sets and cliques have a rule that makes any state feasible (:meth:`Model.decode`).
        The run applies it to the states of all draws and to the best ones.

        Parameters
        ----------
        codes : bool
            Give codes instead of values.

        Returns
        -------
        state : array, of the model's `shape`
        f : float

        Raises
        ------
        ArgumentError
            As :meth:`best`; or the model has no such rule.

        Examples
        --------
        >>> import saltus as sal
        >>> run = sal.sample("independent-set:nodes=30", anneal=True, draws=100)
        >>> bool(run.decoded()[1] == run.decoded()[0].sum())
        True
        """
        return self._state("sal_run_decoded", codes)

    def vote(self, by: str = "state", ones: int = 0, codes: bool = False) -> NDArray[Any]:
        """The majority vote of the draws.

        Parameters
        ----------
        by : {'state', 'variable'}
            The state drawn most often (of equally frequent ones that with the largest f); or of each variable the
            value that it has most often.
        ones : int
            By variables with two values: the code 1 goes to so many variables that had it most often, 0 to all others;
            0: no such constraint.
        codes : bool
            Give codes instead of values.

        Returns
        -------
        array, shape (V,)

        Raises
        ------
        ArgumentError
            No draws, or by 'state' none that were kept; `ones` out of range, or by 'state'.
        UnsupportedError
            Counts without a cap, by 'variable'.

        References
        ----------
        Wang et al. (2022), by 'state'.

        Examples
        --------
        >>> import saltus as sal
        >>> s = sal.spins(3)
        >>> sal.sample(2 * s.sum(), draws=500, seed=1).vote()
        array([1, 1, 1], dtype=int8)
        """
        if by not in ("state", "variable") or (by == "state" and ones != 0):
            raise ArgumentError(f"vote: by={by!r}, ones={ones!r}; expected 'state', or 'variable' and perhaps ones")
        state = np.empty(self.model.variables, dtype=np.int32)
        if by == "state":
            call("sal_run_vote", self._handle, address(state), None)
        else:
            call("sal_run_vote_by_dimension", self._handle, _library.whole(ones, 2 ** 63 - 1, "ones"), address(state))
        return state if codes else self.model.values(state)

    def total_variation(self, limit: int = 0, threads: Optional[int] = None) -> tuple[float, float]:
        """How far the draws' distribution over states is from the exact one, which is found by enumeration.

        Parameters
        ----------
        limit : int
            The most states to enumerate; 0: 2^20.

        Returns
        -------
        distance : float
            Half the sum over states of |share of draws - p|.
        ideal : float
            What independent draws, as many as these are worth, have on average.

        Raises
        ------
        UnsupportedError
            There are more states, or counts without a cap.
        ArgumentError
            The run did not keep its draws, or made none.
        ModelError

        Examples
        --------
        >>> import saltus as sal
        >>> distance, ideal = sal.sample("ising:side=2,theta=0.1", draws=2000, seed=1).total_variation()
        >>> distance < 3 * ideal
        True
        """
        figures = np.empty(3)  # sal_run_variation: three doubles
        self.model._call("sal_run_total_variation", self._handle, _library.whole(limit, 2 ** 63 - 1, "limit"),
                         threads or 0, address(figures))
        return float(figures[0]), float(figures[1])

    def _state(self, function: str, codes: bool) -> tuple[NDArray[Any], float]:
        state, f = np.empty(self.model.variables, dtype=np.int32), np.empty(1)
        call(function, self._handle, address(state), address(f))
        return self.model._shaped(state if codes else self.model.values(state)), float(f[0])

    def last(self, codes: bool = False) -> NDArray[Any]:
        """The last states of all chains, shape (chains, *model.shape), by value, or with ``codes=True`` by code."""
        states = np.empty((self.summary["chains"], self.model.variables), dtype=np.int32)
        call("sal_run_last", self._handle, address(states))
        return self.model._shaped(states if codes else self.model.values(states))

    def tuning(self) -> Tuning:
        """What warm-up found, for another run. ArgumentError if the run was stopped in its warm-up."""
        return Tuning(Handle(make("sal_run_tuning", self._handle), "sal_tuning_destroy"))

    def save(self, path: Path, alphabet: Optional[str] = None) -> None:
        """Write the draws: NAME.nc in ArviZ's layout, NAME.npy, or NAME.fasta.

        Such a file cannot be resumed; ``sample(.., out="run.nc")`` writes one that can. NAME.nc has values,
        NAME.npy codes; neither has the acceptance rates, jumps and step sizes of each draw, which a run does
        not keep.

        Parameters
        ----------
        path : path
        alphabet : str, optional
            Of NAME.fasta, 'protein', 'rna', 'dna' or the letters of the states, such as '-ABCD'; otherwise the
            model's, or those of the named alphabet that has as many.

        Raises
        ------
        ArgumentError
            The run kept or made no draws; no such alphabet.
        UnsupportedError
            Another kind of file; .nc without libnetcdf; .fasta of variables that are no letters.
        FileError
            Writing failed.
        """
        call("sal_run_save", self._handle, encode(path), encode(alphabet))

    def to_netcdf(self, path: Path, overwrite: bool = False) -> None:
        """Write draws, f, shapes, dims and coords to a netCDF file that xarray and ArviZ open.

        :meth:`save` writes one too, without xarray, in which blocks have one axis.

        Parameters
        ----------
        path : path
        overwrite : bool
            Whether to replace a file that is there.

        Raises
        ------
        ImportError
            xarray, or its netCDF4 or h5netcdf, is not installed.
        ArgumentError
            The run did not keep its draws.
        FileError
            There is such a file already, which stays as it is; or writing failed.

        Notes
        -----
        A file that is replaced is there, old or new, at every moment.
        """
        path = os.fspath(path)
        groups: dict[str, Any] = {group: self.to_xarray(group) for group in _GROUPS}
        engine = _netcdf_engine()
        part, ours = f"{path}.{os.getpid()}.tmp", False
        try:
            if not overwrite:
                open(path, "xb").close()  # nobody else takes the name while the file is written
                ours = True
            for mode, (group, data) in zip("wa", groups.items()):
                packed = {name: {"zlib": True, "complevel": 4} for name in data.data_vars}
                data.to_netcdf(part, mode=mode, group=group, engine=engine, encoding=packed)
            os.replace(part, path)
            ours = False
        except FileExistsError:
            raise _library.FileError(f"{path}: the file exists; give overwrite=True to replace it, or another "
                                     "name") from None
        except OSError as error:
            raise _library.FileError(f"{path}: writing failed: {error.strerror or error}") from error
        finally:
            for left in [part] + [path] * ours:
                if os.path.exists(left):
                    os.remove(left)

    def to_xarray(self, group: str = "posterior") -> xarray.Dataset:
        """A group of ArviZ's layout as an xarray Dataset: the draws, or f.

        Parameters
        ----------
        group : 'posterior' or 'sample_stats'
            The draws: a variable for each block of the model (chain, draw, and the axes of the block), by value; or
            ``lp``, f (chain, draw).

        Raises
        ------
        ImportError
            xarray is not installed.
        ArgumentError
            Another group; the run did not keep its draws, or a block is named "chain" or "draw".

        Notes
        -----
        :meth:`to_datatree` has both groups, for ArviZ 1. For ArviZ before 1:
        ``arviz.InferenceData(posterior=run.to_xarray(), sample_stats=run.to_xarray("sample_stats"))``.
        """
        xarray = _import("xarray", "to_xarray")
        chains, draws = self.log_prob.shape
        coordinates: dict[str, Any] = {"chain": np.arange(chains), "draw": np.arange(draws)}
        data: dict[str, tuple[tuple[str, ...], NDArray[Any], dict[str, str]]] = {}
        if group == "sample_stats":
            data["lp"] = (("chain", "draw"), np.array(self.log_prob), {"long_name": "f: log p + log Z", "units": "nat"})
        elif group == "posterior":
            taken = [block.name for block in self.model.blocks if block.name in ("chain", "draw")]
            if taken:
                raise ArgumentError(f"to_xarray: a block may not be named {taken[0]!r}; name it otherwise")
            for block in self.model.blocks:
                data[block.name] = (("chain", "draw") + block.dims, self[block.name], {"kind": block.kind})
                coordinates.update((dim, block.coords.get(dim, np.arange(size)))
                                   for dim, size in zip(block.dims, block.shape))
        else:
            raise ArgumentError(f"to_xarray: group {group!r}; expected 'posterior' or 'sample_stats'")
        return xarray.Dataset(data, coordinates, self._attributes())

    def _attributes(self) -> dict[str, str]:
        """What is said of the run in files and data sets, as ArviZ asks for it."""
        made = {"created_at": datetime.datetime.now(datetime.timezone.utc).isoformat(),
                "creation_library": "saltus", "creation_library_version": _library.VERSION,
                "creation_library_language": "Python", "inference_library": "saltus",
                "inference_library_version": _library.VERSION, "sampler": self.summary["sampler"],
                "model": self.summary.get("model") or "", "seed": str(self.seed)}
        if self.summary["warnings"]:
            made["warning"] = " ".join(self.summary["warnings"])
        return made

    def to_datatree(self) -> Any:
        """The groups "posterior" and "sample_stats" of :meth:`to_xarray` as an xarray DataTree, as ArviZ 1 takes it.

        Raises
        ------
        ImportError
            xarray is not installed, or is older than 2024.10.
        ArgumentError
            As :meth:`to_xarray`.
        """
        xarray = _import("xarray", "to_datatree")
        if not hasattr(xarray, "DataTree"):
            raise ImportError(f"to_datatree needs xarray 2024.10 or newer; found {xarray.__version__}. "
                              "run.to_xarray(group) gives each group as a Dataset")
        return xarray.DataTree.from_dict({group: self.to_xarray(group) for group in _GROUPS})

    def to_dataframe(self) -> pandas.DataFrame:
        """All draws by value as a pandas DataFrame, a row for each draw.

        Returns
        -------
        DataFrame
            Its index is (chain, draw). Its columns are ``lp``, f, and the variables, "spin[0]" or "spin[0, 1]", with
            labels instead of numbers where the block has coords.

        Raises
        ------
        ImportError
            pandas is not installed.
        ArgumentError
            The run did not keep its draws.
        """
        pandas = _import("pandas", "to_dataframe")
        index = pandas.MultiIndex.from_product([range(n) for n in self.log_prob.shape], names=["chain", "draw"])
        parts = [pandas.DataFrame({"lp": self.log_prob.reshape(-1)}, index=index)]
        for block in self.model.blocks:
            labels = [list(block.coords.get(dim, range(size))) for dim, size in zip(block.dims, block.shape)]
            columns = [f"{block.name}[{', '.join(map(str, site))}]" for site in itertools.product(*labels)]
            parts.append(pandas.DataFrame(self[block.name].reshape(len(index), -1), index=index, columns=columns))
        return pandas.concat(parts, axis=1)

    def plot(self, kind: Optional[str] = None, block: Optional[str] = None,
             shape: Optional[tuple[int, int]] = None) -> Figure:
        """Draw the run: how its chains move and whether they agree.

        Parameters
        ----------
        kind : {'trace', 'ranks', 'autocorrelation', 'pictures'}, optional
            One kind of panel. None: the first three in a row for f and for the mean of each block, of up to three
            blocks, and pictures of draws where a block is a picture.

            - 'trace': the values over the draws.
            - 'ranks': how the ranks of each chain among the draws of all chains are spread; chains that agree have
              level bars.
            - 'autocorrelation': by lag; the sooner it is within the grey band, the more the draws are worth.
            - 'pictures': draws of up to four chains, the first on the left and the last on the right.
        block : str, optional
            Only this one; None: all.
        shape : (int, int), optional
            Height and width of the pictures of a block that has one axis.

        Returns
        -------
        matplotlib.figure.Figure
            Not shown yet: a notebook shows what a cell returns, elsewhere ``matplotlib.pyplot.show()`` does.

        Raises
        ------
        ImportError
            Matplotlib is not installed.
        ArgumentError
            There is no such kind or block; the run has no draws; pictures of a run that did not keep its draws, or of
            a block that is none. (Of a run that did not keep its draws f is shown only.)

        References
        ----------
        Ranks: Vehtari, Gelman, Simpson, Carpenter & Buerkner (2021), section 4.
        """
        _import("matplotlib", "plot")
        from ._plot import plot
        return plot(self, kind, block, shape)

    def resume(self, draws: int, progress: Any = None, interrupt: str = "raise") -> "Run":
        """Go on to `draws` draws of each chain in all, with the same bits as if it had never stopped.

        Parameters
        ----------
        draws : int
            In all, with those already made.
        progress, interrupt
            As in :func:`sample`.

        Returns
        -------
        Run
            Another one, with all draws; this one stays as it is.

        Raises
        ------
        ArgumentError
            The run did not keep its draws, or has made more than `draws` already.

        Examples
        --------
        >>> import saltus as sal
        >>> run = sal.sample("ising:side=3,theta=0.1", draws=100, seed=1)
        >>> whole = sal.sample("ising:side=3,theta=0.1", draws=200, seed=1)
        >>> bool((run.resume(200).draws == whole.draws).all())
        True
        """
        self._kept()
        state = _Borrowed(lib.sal_run_last_state(self._handle), self)
        return _run(self.model, {"draws": draws}, state=state, progress=progress, interrupt=interrupt, own=self._own,
                    opened=self._opened, ladder="ladder" in self.summary, trajectory=self._trajectory)

    _own: Any = ()
    _opened: Any = None  # what its model was opened by
    _trajectory: Any = None  # as given to :func:`sample`


_GROUPS = ("posterior", "sample_stats")


def _import(name: str, what: str) -> Any:
    """A package that only some methods need."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{what} needs {name}, which is not installed (pip install {name}; Debian: "
                          f"python3-{name})") from error


def _netcdf_engine() -> str:
    """The package by which xarray writes netCDF files with groups."""
    for name, engine in (("netCDF4", "netcdf4"), ("h5netcdf", "h5netcdf")):
        if importlib.util.find_spec(name) is not None:
            return engine
    raise ImportError("to_netcdf needs netCDF4 or h5netcdf, of which none is installed (pip install netCDF4; Debian: "
                      "python3-netcdf4); run.save(\"run.nc\") needs neither")


class _Borrowed:
    """An object that belongs to another one, which it keeps alive."""

    def __init__(self, pointer: Optional[int], owner: Any):
        self.pointer, self.owner = pointer, owner

    @property
    def _as_parameter_(self) -> Optional[int]:
        return self.pointer


def _run(model: Model, options: dict[str, Any], *, out: Optional[Path] = None, keep: bool = True, progress: Any = None,
         interrupt: str = "raise", own: Any = (), comm: Any = None, opened: Optional[Path] = None,
         trajectory: Any = None, **arrays: Any) -> Run:
    raising = raises(interrupt)
    made = run_options(model, options, own=own, comm=communicator(comm), opened=opened, trajectory=trajectory, **arrays)
    interrupts = Interrupts()
    bar = Progress(interrupts, progress, "sampling", [model._caught] + [sampler._caught for sampler in as_list(own)])
    call("sal_flat_options_progress", made, bar.callback, None)
    pointer = ctypes.c_void_p()
    handle: Optional[Handle] = None
    found: Optional[Run] = None

    def result() -> Optional[Run]:
        """The run as far as the library has made it; None at ranks other than 0."""
        nonlocal handle, found
        if handle is None and pointer.value:
            handle = Handle(pointer.value, "sal_run_destroy", keep=(model, made))
        if found is None and handle is not None and (comm is None or comm.rank == 0):
            found = Run(model, handle, made)
            found._own, found._opened, found._trajectory = own, opened, trajectory
        return found

    try:
        with interrupts:
            try:
                with bar:
                    call("sal_flat_sample", model, made, keep, encode(out), ctypes.byref(pointer))
            except SaltusError as failure:
                run = result()
                bar.reraise()
                if run is not None:  # only writing failed
                    failure.run = run  # type: ignore[attr-defined]
                    if bar.interrupted and raising:
                        raise KeyboardInterrupt(str(failure)) from failure
                raise
            try:
                run = result()
                bar.reraise(failed=False)
                if run is not None:
                    run.summary  # computed here, where Ctrl-C is noted
            finally:
                bar.agree(comm)
        if bar.interrupted and raising:
            raise KeyboardInterrupt("the run cut short is the attribute `run` of this exception")
        if run is None:
            return None  # type: ignore[return-value]  # at ranks of `comm` other than 0 only, which types leave out
        for text in run.summary["warnings"]:
            warnings.warn(text, SaltusWarning, stacklevel=3)
        stopped = bar.interrupted
    except KeyboardInterrupt as stop:  # Ctrl-C again, or where it is not noted
        run = stop.run = result()  # type: ignore[attr-defined]
        if raising or run is None:
            raise
        stopped = True
    if stopped:
        warnings.warn(f"interrupted; the run has {run.log_prob.shape[1]} draws of each chain", SaltusWarning,
                      stacklevel=3)
    return run


def _source(model: Any) -> tuple[Model, Optional[Path], Any]:
    """The model of a call, what it was opened by, and the training whose ladder it has."""
    from ._train import Training
    if not isinstance(model, Training):
        made = as_model(model)
        return made, made._opened, None
    place = model.directory
    saved = place is not None and any(os.path.exists(os.path.join(place, name))
                                      for name in ("ladder/ladder.json", "denoising.json"))
    return model.model, place, place if saved else model


def sample(model: Union[AnyModel, Training], sampler: Optional[str] = None, *, chains: Optional[int] = None,
           draws: Optional[int] = None, warmup: Optional[int] = None, thin: Optional[int] = None,
           seed: Any = None, step_size: Union[None, float, str] = None, tempering: Optional[int] = None,
           temperatures: Optional[ArrayLike] = None, ladder: Optional[bool] = None,
           trajectory: Union[None, Training, Path] = None, init: Any = None, codes: bool = False,
           clamp: Optional[dict[int, Any]] = None, preconditioner: Optional[ArrayLike] = None,
           tuning: Optional[Tuning] = None, own: OwnSamplers = (), out: Optional[Path] = None, keep: bool = True,
           time: Union[None, float, str] = None, progress: Any = None, interrupt: str = "raise",
           threads: Optional[int] = None, comm: Any = None, **options: Any) -> Run:
    """Run chains of a sampler on a model.

    Parameters
    ----------
    model : Model, Training, Expr, str or path
        A path is a saved model or the directory of a training.
    sampler : str, optional
        A name with settings if wanted, "gwg:radius=2" (``saltus.list_of("samplers")``); None: one that
        suits the model.
    chains, draws, warmup, thin : int, optional
        Chains (4), draws kept from each (1000), steps of the sampler before the first draw (0: none), steps
        between draws (1; with tempering or annealing more).
    seed : int, numpy.random.Generator, RandomState or SeedSequence, optional
        The same number gives the same bits, for any number of threads. None is a fresh seed from the operating
        system, other draws each time. A generator is advanced by the number that is drawn from it; a
        SeedSequence gives the same number each time. The number is in :attr:`Run.seed`.
    step_size : float or 'adapt' or 'auto', optional
        Of samplers that have one, in squared units of the embedding. 'adapt': warm-up finds the one whose
        acceptance rate is 0.574. 'auto': it searches for the largest mean jump.
    tempering : int, optional
        Replicas of each chain, at temperatures that warm-up finds. The run takes as many times longer; all
        draws and figures are those of temperature 1.
    temperatures : sequence of float, optional
        Those of the replicas, rising from 1.
    ladder : bool, optional
        Whether to sample along the ladder of the training that made the model: each step of a chain is a sweep
        over its levels. None: where the training (by 'ptt') saved one, the model still has the parameters that
        it was opened with, and no other way of sampling is asked for, by a sampler, tempering, annealing, a
        tuning, a preconditioner, a step size or clamped variables.
    trajectory : Training or path, optional
        The training, or its directory, that has the ladder; None: that of `model`. Giving one means
        ``ladder=True``.
    init : array, of the model's `shape` or (chains, *shape), or dict of such by block; optional
        Where chains start, by value, or with ``codes=True`` by code. Random numbers depend on it as on the seed.
    clamp : dict, optional
        Variables that stay fixed: {index: value}.
    preconditioner : array, shape (N, N), optional
        M of pavg, in units of the Hessian of f.
    tuning : Tuning, optional
        From an earlier run, instead of adaptation.
    own : Sampler or list of them, optional
        Samplers of one's own, which `sampler` may name.
    out : path, optional
        NAME.nc: written while the run goes on; see :func:`resume`.
    keep : bool
        Whether to keep the draws in memory.
    time : float or str, optional
        Stop after these seconds, or "90s", "10m", "2h"; the run has what was made. With ``anneal``, and without `out`:
        make as many coolings as fit.
    progress : bool or callable, optional
        Whether to show progress (None: in a terminal or notebook); a function of (done, total), which
        stops the run by returning False.
    interrupt : {'raise', 'return'}
        What Ctrl-C does: raise KeyboardInterrupt, whose attribute `run` is the run cut short; or return
        that run, with a warning.
    threads : int, optional
        None: the number in OMP_NUM_THREADS, or as many as there are processors.
    comm : mpi4py.MPI.Comm, optional
        Processes that share the chains; all of them make the same call. The draws have the same bits for any
        number of them. `out` is written and `progress` called at rank 0.
    **options
        anneal (True, or "linear", "reheat", "rlsa"), anneal_from, anneal_to, anneal_seconds, coolings,
        swap_every, houdayer, track_best, save_warmup: as the options of ``saltus sample``. until ("ess=N",
        "rhat=X"): end when the draws are that good, after `draws` of each chain at most (None: 102400).

    Returns
    -------
    Run
        With `comm` at rank 0; None at the others.

    Raises
    ------
    KeyboardInterrupt
        Ctrl-C, unless ``interrupt="return"``. The exception's attribute `run` is the Run with the draws that were
        made, which can be used and resumed as any other (with `comm` at rank 0, else None). A run interrupted while it
        looks for states to start from has no draws and cannot be resumed.
    ArgumentError, NotFoundError
        An option is out of range; there is no such sampler, model, option or ladder.
    ShapeError
        `init` has another shape.
    UnsupportedError
        The sampler cannot serve the model (the message names some that can), or cannot be tempered or tuned.
    DataError
        The tuning is of another sampler or model.
    ModelError
        f is NaN or +inf, with chain and step; or no state with finite f was found to start from.
    FileError
        Writing `out` failed; the exception's attribute `run` is the Run, if one was made (with `comm` at rank 0).
    Exception
        Whatever a Python function of the model, a sampler or `progress` raises, as itself.

    Warns
    -----
    SaltusWarning
        Chains disagree or never moved, and what would help; an interrupt, with ``interrupt="return"``.

    Notes
    -----
    Ctrl-C is noted while C runs, and stops the run at its next report of progress, at most a few hundred steps
    later. A second Ctrl-C raises KeyboardInterrupt as soon as Python runs again, without a run.

    References
    ----------
    ``saltus.list_of("samplers")`` has the source of each sampler. Tempering: Okabe et al. (2001); Syed et al.
    (2022). 'adapt': Roberts & Rosenthal (1998). 'auto': Rhodes & Gutmann (2022), appendix H.

    Examples
    --------
    >>> import saltus as sal
    >>> run = sal.sample("ising:side=3,theta=0.1", "gwg", draws=2000, seed=1)
    >>> run.draws.shape
    (4, 2000, 9)
    """
    made, opened, training = _source(model)
    if sampler is None and own:
        sampler = as_list(own)[0].name
    if trajectory is not None:
        ladder = True if ladder is None else ladder
        trajectory = _source(trajectory)[2] if hasattr(trajectory, "_trainer") else trajectory
    seconds = seconds_of(time)
    if seconds is not None and options.get("anneal") and out is None:
        if options.get("anneal_seconds") is not None:
            raise ArgumentError("anneal_seconds and time: give one of them")
        options["anneal_seconds"], seconds = seconds, None
    given = dict(options, sampler=sampler, chains=chains, draws=draws, warmup=warmup, thin=thin,
                 seed=_library.seed_of(seed, comm), step_size=step_size, tempering=tempering, threads=threads,
                 time=seconds)
    return _run(made, given, out=out, keep=keep, progress=progress, interrupt=interrupt, own=own, comm=comm,
                init=init, codes=codes, clamp=clamp, temperatures=temperatures, opened=opened,
                ladder=ladder, trajectory=training if trajectory is None else trajectory, preconditioner=preconditioner,
                tuning=tuning)


def resume(path: Path, draws: Optional[int] = None, model: Union[None, AnyModel, Training] = None, *,
           trajectory: Union[None, Training, Path] = None, own: OwnSamplers = (), keep: bool = True,
           time: Union[None, float, str] = None, progress: Any = None, interrupt: str = "raise",
           threads: Optional[int] = None) -> Run:
    """Resume a run from its file, with the same bits as if it had never stopped.

    Parameters
    ----------
    path : path
        What ``sample(.., out=path)`` or the program wrote, whether stopped, killed or complete.
    draws : int, optional
        Draws of each chain in all; None: as many as the run was to make.
    model : Model, Training or Expr, optional
        The model of the run; None: the file names it (runs of ready-made models, files and trainings).
    trajectory, own, keep, time, progress, interrupt, threads
        As in :func:`sample`.

    Returns
    -------
    Run
        With all draws, also the earlier ones.

    Raises
    ------
    NotFoundError, FileError
        There is no such file; reading or writing failed, also while the run is not over.
    DataError
        The file has no state, as those of :meth:`Run.save`, or a damaged one.
    ArgumentError
        It has no name of a model, or of none that is there; `draws` are fewer than it has.
    UnsupportedError
        No .nc file, or no libnetcdf.

    Examples
    --------
    >>> run = saltus.resume("run.nc", draws=5000)  # doctest: +SKIP
    """
    state = Handle(make("sal_run_state_open", encode(path)), "sal_run_state_destroy")
    name = lib.sal_run_state_note(state, b"model")
    if model is None and not name:
        raise ArgumentError(f"{os.fspath(path)}: its model has no name to open it by; give model=")
    dtype = (lib.sal_run_state_note(state, b"dtype") or b"").decode() or None
    given = name.decode() if model is None else model
    try:
        if isinstance(given, (str, os.PathLike)):
            given = Model(given, dtype=dtype)
            for pair in (lib.sal_run_state_note(state, b"fix_sum") or b"").decode().split(","):
                if pair:
                    given.fix_sum(pair.split("=")[0], int(pair.split("=")[1]))
        used, opened, training = _source(given)
    except _library.NotFoundError:
        raise ArgumentError(f"{os.fspath(path)}: its model {name.decode()!r} is no file or ready-made model; give "
                            "model=") from None
    given_anew = {"draws": draws, "threads": threads, "time": seconds_of(time)}
    return _run(used, given_anew, state=state, out=path, keep=keep, progress=progress,
                interrupt=interrupt, own=own, opened=opened,
                ladder=lib.sal_run_state_note(state, b"ladder") == b"yes",
                trajectory=training if trajectory is None else trajectory)


class Comparison(list[Summary]):
    """Summaries of samplers on one model, the best first; prints as a table.

    Attributes
    ----------
    seed : int
        The seed that all samplers had.
    """

    def __init__(self, summaries: Iterable[Summary], seed: int):
        super().__init__(sorted(summaries, key=lambda s: (s["chains_agree"] is False, -(s["ess_per_second"] or 0))))
        self.seed = seed

    def __repr__(self) -> str:
        lines = [f"{'sampler':<24} {'ESS/s':>12} {'ESS/step':>12} {'R-hat':>8} {'accept':>8}"]
        for s in self:
            per_step = _ess_per_step(s)
            lines.append(f"{s['sampler']:<24} {_cell(s['ess_per_second']):>12} {_cell(per_step):>12} "
                         f"{_cell(s['rhat_max']):>8} {_cell(s['acceptance_rate']):>8}")
        return "\n".join(lines)


def _cell(value: Optional[float]) -> str:
    return "-" if value is None else f"{value:.4g}"


def _ess_per_step(s: dict[str, Any]) -> Optional[float]:
    seconds, rate = s["seconds"], s["ess_per_second"]
    return None if rate is None or not seconds else rate * seconds / (s["chains"] * s["draws"] * s["thin"])


def compare(model: Union[AnyModel, Training], samplers: Optional[Iterable[str]] = None, **options: Any) -> Comparison:
    """Run samplers on one model with equal options.

    Parameters
    ----------
    model : Model, Training, Expr, str or path
    samplers : iterable of str, optional
        None: all exact ones that can sample the model.
    **options
        Those of :func:`sample`. A seed that is not a number is drawn once, for all samplers.

    Returns
    -------
    Comparison
        By effective draws a second, the most first; those whose chains disagree last.

    Raises
    ------
    KeyboardInterrupt
        Ctrl-C, unless ``interrupt="return"``, with the samplers before as its attribute `comparison` (and the run cut
        short as `run`).
    ArgumentError, UnsupportedError, ModelError
        As :func:`sample`, for any of the samplers.

    Notes
    -----
    Seconds depend on the machine and on what else it does. Effective draws a step, which do not, are in the
    table too. Warnings of the runs are in the summaries.

    Examples
    --------
    >>> import saltus as sal
    >>> table = sal.compare("ising:side=3,theta=0.1", ["gibbs", "gwg"], draws=200, seed=1)
    >>> len(table)
    2
    """
    made = _source(model)[0]
    samplers = [samplers] if isinstance(samplers, str) else samplers
    if samplers is None:
        exact = {item["name"] for item in ask("sal_flat_list", b"samplers") if item["exact"]}
        samplers = [name for name in made.samplers if name in exact]
    raising = raises(options.pop("interrupt", "raise"))
    options = dict({"keep": False}, **options)
    options["seed"] = _library.seed_of(options.get("seed"), options.get("comm"))
    results: list[Summary] = []
    run = None
    try:
        for name in samplers:
            run = None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SaltusWarning)
                run = sample(made, name, **options)
            if run is not None:  # at rank 0
                results.append(run.summary)
    except KeyboardInterrupt as stop:
        stop.comparison = Comparison(results, options["seed"])  # type: ignore[attr-defined]
        if not hasattr(stop, "run"):
            stop.run = run  # type: ignore[attr-defined]
        if raising:
            raise
        warnings.warn(f"interrupted after {len(results)} samplers", SaltusWarning, stacklevel=2)
    return Comparison(results, options["seed"])

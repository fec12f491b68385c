# SPDX-License-Identifier: MIT
"""The C library: where it is, how it is called, and its failures as exceptions.

Everything else of the package goes through :func:`call`. The functions and their arguments are those
of ``<saltus/flat.h>`` and of the headers beside it; ``SIGNATURES`` repeats them.
"""

from __future__ import annotations

import ctypes
import json
import math
import operator
import os
import pathlib
import re
import secrets
import signal
import threading
import weakref
from ctypes import (CFUNCTYPE, POINTER, byref, c_bool, c_char, c_char_p, c_double, c_float, c_int, c_int32,
                    c_int64, c_uint, c_uint8, c_uint64, c_void_p)
from typing import TYPE_CHECKING, Any, Callable, NoReturn, Optional, Union, overload

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ._run import Run
    from ._train import Training

VERSION = "0.2.0"
"""The version of the package, which is that of the library it works with."""

Path = Union[str, os.PathLike[str]]

MaybeNone = Any
"""Beside a type: None in special cases, in which type checkers shall not demand a test."""

# ---- exceptions


class SaltusError(Exception):
    """What the library says went wrong: what, where, and what to do. The base of all others."""


class ArgumentError(SaltusError, ValueError):
    """An argument or option is not acceptable."""


class OutOfRangeError(ArgumentError, IndexError):
    """An index beyond the end. An :class:`ArgumentError` and an IndexError."""


class ShapeError(SaltusError, ValueError):
    """Shapes of expressions or arrays do not fit."""


class ModelError(SaltusError, ArithmeticError):
    """f is NaN or +inf somewhere, or no state with finite f was found."""

    training: "Training"  # only where :func:`train` raises it


class DataError(SaltusError, ValueError):
    """The content of a file is not acceptable."""


class NotFoundError(SaltusError, LookupError):
    """A file, or a name, does not exist."""


class FileError(SaltusError, OSError):
    """Reading or writing failed."""

    run: "Run"  # only where :func:`sample` raises it, and draws were made


class UnsupportedError(SaltusError, NotImplementedError):
    """This build, model or sampler cannot do that."""


class InternalError(SaltusError, RuntimeError):
    """A defect in Saltus."""


_EXCEPTIONS = {-2: ArgumentError, -3: ShapeError, -4: ModelError, -5: DataError, -6: NotFoundError,
               -7: FileError, -8: UnsupportedError, -9: InternalError}


class Failure(ctypes.Structure):
    """sal_error."""

    _fields_ = [("status", c_int), ("message", c_char * 1024)]


# ---- functions

PROGRESS = CFUNCTYPE(c_int, c_int64, c_int64, c_void_p)
ENERGY = CFUNCTYPE(None, c_int64, POINTER(c_double), POINTER(c_double), POINTER(c_double), c_void_p)
DRAW = CFUNCTYPE(None, c_void_p, c_void_p, POINTER(c_int32), c_void_p)
REPORT = CFUNCTYPE(c_int, c_void_p, c_void_p)
BEFORE = CFUNCTYPE(c_int, c_int64, c_void_p, c_void_p)
DIRECTION = CFUNCTYPE(None, c_char_p, c_void_p)
LOG_Q = CFUNCTYPE(c_double, c_void_p, POINTER(c_int32), c_void_p)

# By letter: p a handle or array, P the place of a handle or text to fill, s a text, i int, j int32, u
# unsigned, l int64, U uint64, d double, b bool, e the place of an error (the last one of functions
# that can fail). The first letter is the result: v none, t a status.
_TYPES = {"p": c_void_p, "P": POINTER(c_void_p), "s": c_char_p, "i": c_int, "j": c_int32, "u": c_uint,
          "l": c_int64, "U": c_uint64, "d": c_double, "b": c_bool, "e": POINTER(Failure), "v": None, "t": c_int}

SIGNATURES = """
sal_version s
sal_flat_version i
sal_free vp
sal_flat_list tsPe
sal_space_create p
sal_space_destroy vp
sal_space_variables lp
sal_space_width lp
sal_space_states lpl
sal_space_fix_sum tpsle
sal_flat_space_add tpsillple
sal_flat_tape_create ppb
sal_tape_destroy vp
sal_tape_check tpe
sal_flat_state jsips
sal_flat_param jsipsjp
sal_flat_constant jsippjp
sal_flat_operation jsipsjplplp
sal_flat_shape jpjp
sal_flat_model tpjPe
sal_flat_model_from_function tpppbPe
sal_flat_model_info tpPe
sal_flat_check tppUPe
sal_flat_exact tpspppPe
sal_flat_exact_draws tpslUpPe
sal_model_open tsiPe
sal_model_from_factors tlplpppiPe
sal_model_save tpse
sal_model_load_params tpse
sal_model_save_params tpse
sal_model_evidence tsplpPPPe
sal_model_clamp tplppPe
sal_model_fix_sum tpsle
sal_model_destroy vp
sal_model_space pp
sal_model_name sp
sal_model_set_name tpse
sal_model_label splj
sal_model_parameters_size lp
sal_model_set_params tpspe
sal_model_get_params tpspe
sal_model_evaluate tplppppe
sal_model_evaluate_at tplpppe
sal_flat_options_create tisPe
sal_flat_options_suggested tslsPe
sal_flat_options_resumed tpsPe
sal_flat_options_destroy vp
sal_flat_options_reals tpslpe
sal_flat_options_codes tpslpe
sal_flat_options_clamp tplppe
sal_flat_options_handle tpspe
sal_flat_options_text tpsse
sal_comm_open tjPe
sal_comm_destroy vp
sal_flat_options_progress tpppe
sal_flat_options_report tpppe
sal_flat_sample tppbsPe
sal_flat_run_summary tpPe
sal_run_destroy vp
sal_run_size vpppp
sal_run_model vpP
sal_model_levels lp
sal_model_is_conditional bp
sal_run_draws ppp
sal_run_log_probs pp
sal_run_marginals tppe
sal_run_best tpppe
sal_run_decoded tpppe
sal_model_decode tpppe
sal_run_last tppe
sal_run_save tpsse
sal_run_tuning tpPe
sal_run_last_state pp
sal_run_state_open tsPe
sal_run_state_note sps
sal_run_state_destroy vp
sal_flat_log_z tppPe
sal_flat_meeting_times tpplllPe
sal_flat_chains_create tppbPe
sal_flat_chains_describe tpPe
sal_chains_destroy vp
sal_chains_step tple
sal_chains_step_each tplppe
sal_chains_adapt tple
sal_chains_codes vpp
sal_chains_set_codes tppe
sal_chains_log_prob tppe
sal_chains_tuning tpPe
sal_chains_state tpPe
sal_run_state_save tpse
sal_flat_tuning tpPe
sal_tuning_save tpse
sal_tuning_open tsPe
sal_tuning_destroy vp
sal_flat_balance tppPe
sal_flat_sampler_create tsubbbbpppPe
sal_flat_sampler_set_directions tplpde
sal_flat_sampler_destroy vp
sal_flat_origin_array ppsp
sal_flat_origin_codes ppp
sal_flat_origin_number dps
sal_flat_random vpblp
sal_random_uniform dp
sal_random_normal dp
sal_random_below lpl
sal_random_softmax lplp
sal_flat_data_create tllpppllPe
sal_flat_data_read tssPe
sal_flat_data_copy tpPe
sal_flat_data_split tplpPe
sal_flat_data_digits tllUPe
sal_flat_data_size vppppp
sal_flat_data_codes pp
sal_flat_data_intensity pp
sal_flat_data_weight pp
sal_flat_data_remark spp
sal_flat_data_destroy vp
sal_data_binarise tpUUe
sal_data_preconditioner tpppe
sal_flat_trainer_create tpppsPe
sal_trainer_destroy vp
sal_trainer_run tple
sal_trainer_save tpse
sal_trainer_load tpse
sal_flat_report tpPe
sal_flat_trainer_report tpPe
sal_flat_trainer_save tppse
sal_flat_trainer_samples ppp
sal_flat_trainer_averages pp
sal_train_save tppse
sal_train_first tsPe
sal_train_specification tspbPe
sal_model_train_start tpspUe
sal_trajectory_open tspPe
sal_trajectory_destroy vp
sal_base_fit tpppe
sal_flat_evaluate tppsppppPe
sal_flat_base_likelihood tpppPe
sal_stats_mmd tllplpipe
sal_stats_diagnose tllppe
sal_inpaint tplppppe
sal_trajectory_level_at bplp
sal_trajectory_log_z tppppe
sal_run_vote tpppe
sal_run_vote_by_dimension tplpe
sal_run_total_variation tplipe
sal_convert tsspPe
sal_marginals_write tsppde
sal_marginals_read tspppe
sal_report_write tlPpse
sal_sheet_write tsple
sal_flat_verdict tpppslUipppPPe
"""


def _candidates() -> list[tuple[str, str]]:
    """Where the library may be, and why there."""
    found = []
    if os.environ.get("SALTUS_LIBRARY"):
        return [(os.environ["SALTUS_LIBRARY"], "the environment variable SALTUS_LIBRARY")]
    try:
        from ._place import LIBRARY  # written by Meson: beside the build, the installed library, or in this package
        found.append((str(pathlib.Path(__file__).parent / LIBRARY), "the place that this package was built for"))
    except ImportError:
        build = pathlib.Path(__file__).resolve().parents[2] / "build" / "src" / "libsaltus.so"
        found.append((str(build), "the build folder of this source tree"))
    found.append(("libsaltus.so.0", "the system's libraries"))
    return found


def _load() -> ctypes.CDLL:
    tried = []
    for path, why in _candidates():
        try:
            library = ctypes.CDLL(path)
        except OSError as failure:
            tried.append(f"  {path} ({why}): {failure}")
            continue
        if not hasattr(library, "sal_flat_version"):
            tried.append(f"  {path} ({why}): a Saltus that is too old, or another library")
            continue
        major, minor = (int(part) for part in VERSION.split(".")[:2])
        if library.sal_flat_version() != 1000 * major + minor:
            library.sal_version.restype = c_char_p
            tried.append(f"  {path} ({why}): version {library.sal_version().decode()}; this package is {VERSION}")
            continue
        return library
    raise ImportError(
        "saltus: the C library was not found. Tried:\n" + "\n".join(tried or ["  nothing: no place is known"]) +
        "\nInstall it (pip install, apt install libsaltus0, or meson install), or set SALTUS_LIBRARY to libsaltus.so")


lib = _load()
for _line in SIGNATURES.split("\n"):
    if _line:
        _name, _letters = _line.split()
        _function = getattr(lib, _name)
        _function.restype = _TYPES[_letters[0]]
        _function.argtypes = [_TYPES[letter] for letter in _letters[1:]]

# ---- calls


def own_names(text: str) -> str:
    """A message of the library in the words of this package."""
    for words, own in ((r"'saltus exact --evidence FILE'", "model.exact(evidence=..)"),
                       (r"'saltus exact'", "model.exact()"),
                       (r"\(--check-exact\)", "(run.total_variation())"),
                       (r"draws independent states \(--draws\)", "model.exact_draws() draws independent states"),
                       (r"saltus sample MODEL --tempering 16 .* --samples draws\.npy\.",
                        "samples=saltus.sample(model, tempering=16)"),
                       (r"--until error=E", "error=E"),
                       (r"let the run keep its draws \(record\.draws\)", "give keep=True"),
                       (r"record\.draws", "keep"), (r"record\.best", "track_best"),
                       (r"anneal-(from|to|seconds)", r"anneal_\1"), ("swap-every", "swap_every"),
                       (r"see 'saltus list (\w+)'", r'see saltus.list_of("\1")')):
        text = re.sub(words, own, text)
    return re.sub(r"--([a-z][a-z-]*)", lambda option: option[1].replace("-", "_"), text)


def raise_failure(failure: Failure) -> NoReturn:
    """Raise the exception of a failure."""
    message = own_names(failure.message.decode("utf-8", "replace"))
    if failure.status == -1:
        raise MemoryError(message or "out of memory")
    raise _EXCEPTIONS.get(failure.status, SaltusError)(message)


def call(name: str, *arguments: Any) -> None:
    """Call a function that can fail. The arguments leave out the error."""
    failure = Failure()
    try:
        status = getattr(lib, name)(*arguments, byref(failure))
    except ctypes.ArgumentError as wrong:  # such as an object that was closed
        raise ArgumentError(f"{name}: {wrong}") from None
    if status != 0:
        failure.status = status
        raise_failure(failure)


def warn_of(remark: Optional[str], warns: Any) -> None:
    """Warn of what reading a file dropped or decided."""
    if remark and warns:
        from ._train import warn
        warn(remark)


def make(name: str, *arguments: Any) -> int:
    """Call a function that makes an object; its address."""
    made = c_void_p()
    call(name, *arguments, byref(made))
    return made.value or 0


def text_at(address: int) -> str:
    """The text at an address that the library gave, which is freed."""
    try:
        return ctypes.string_at(address).decode("utf-8")
    finally:
        lib.sal_free(address)


def ask(name: str, *arguments: Any) -> Any:
    """Call a function that answers in JSON."""
    return answer_of(text_at(make(name, *arguments)))


def answer_of(text: Union[str, bytes]) -> Any:
    """An answer in JSON as an object of Python."""
    return json.loads(text, object_hook=_with_infinities)


def _with_infinities(answer: dict[str, Any]) -> dict[str, Any]:
    """Infinities, which JSON has as texts, as numbers, also in lists; models may be called so."""
    return {key: value if key in ("name", "model") else _number(value) for key, value in answer.items()}


def _number(value: Any) -> Any:
    """A value of an answer, with its infinities as numbers."""
    if isinstance(value, list):
        return [_number(item) for item in value]
    return float(value) if value in ("inf", "-inf") else value


@overload
def encode(text: None) -> None: ...
@overload
def encode(text: Union[bytes, Path]) -> bytes: ...


def encode(text: Union[None, bytes, Path]) -> Optional[bytes]:
    """A text or path as the library takes it."""
    if text is None:
        return None
    encoded = os.fsencode(text) if isinstance(text, (bytes, os.PathLike)) else str(text).encode()
    if b"\0" in encoded:
        raise ArgumentError(f"{text!r}: a text without NUL is expected")
    return encoded


def address(array: Optional[NDArray[Any]]) -> Optional[int]:
    """Where an array's numbers are; it must be contiguous, and stay alive."""
    return None if array is None else array.ctypes.data


_cells = threading.RLock()  # a finalizer may run while another one does


class _Cell:
    """An address, and how many need what is there: its handle, and the cells of objects that use it."""

    def __init__(self, pointer: int, destroy: Callable[[int], Any], uses: list["_Cell"]):
        self.pointer, self.destroy, self.uses, self.count = pointer, destroy, uses, 1
        with _cells:
            for cell in uses:
                cell.count += 1

    def release(self) -> None:
        with _cells:
            self.count -= 1
            last = self.count == 0
        if last:
            self.destroy(self.pointer)
            for cell in self.uses:
                cell.release()


def _cells_in(keep: Any) -> list[_Cell]:
    """The cells of handles, and of objects that have one, in what an object keeps."""
    if isinstance(keep, Handle):
        return [keep._cell]
    if isinstance(keep, (list, tuple)):
        return [cell for item in keep for cell in _cells_in(item)]
    parts = [getattr(keep, name, None) for name in ("_handle", "owner")]
    return [cell for part in parts if part is not None for cell in _cells_in(part)]


class Handle:
    """An object of the library, freed once: when nobody uses it any more, or by :meth:`close`.

    `keep` is what it refers to, such as functions that it calls, and other handles, which are freed
    after it.
    """

    def __init__(self, pointer: int, destroy: str, keep: Any = None):
        self.pointer: Optional[int] = pointer
        self.keep = keep
        self._cell = _Cell(pointer, getattr(lib, destroy), _cells_in(keep))
        self._finalizer = weakref.finalize(self, self._cell.release)  # knows no object of Python
        self._finalizer.atexit = False  # others may use it until the very end

    def close(self) -> None:
        """Free the object now; again does nothing."""
        self.pointer = None
        self._finalizer()

    @property
    def _as_parameter_(self) -> int:
        if self.pointer is None:
            raise ValueError("this object was closed")
        return self.pointer

    def __reduce__(self) -> NoReturn:
        raise TypeError("objects of saltus live in this process only: save them to a file instead (Model.save, "
                        "Tuning.save, out='run.nc'), or make them anew from their specification")

    def __deepcopy__(self, memory: Any) -> NoReturn:
        self.__reduce__()


class _Lease:
    """Keeps an object of the library, and nothing of Python's, which arrays would hide from its collector."""

    def __init__(self, cell: _Cell):
        with _cells:
            cell.count += 1
        weakref.finalize(self, cell.release).atexit = False


def view(pointer: Optional[int], ctype: Any, shape: tuple[int, ...], owner: Any) -> NDArray[Any]:
    """An array of memory that `owner` holds, without a copy; it cannot be written."""
    count = int(np.prod(shape, dtype=np.int64))
    if not pointer or count == 0:
        return np.empty(shape, dtype=np.ctypeslib.as_array((ctype * 1)()).dtype)
    buffer = (ctype * count).from_address(pointer)
    buffer.lease = _Lease(owner._cell)  # the array keeps the buffer, and the buffer the memory
    kind = np.ctypeslib.as_array(buffer).dtype
    return np.frombuffer(memoryview(buffer).cast("B").toreadonly(), dtype=kind).reshape(shape)


class Interrupts:
    """Notes Ctrl-C while C runs, instead of raising KeyboardInterrupt in a callback, where it would be lost.

    The context lasts until what C made is an object, so that Ctrl-C loses no result. Only in the main thread, and
    only where nobody else has asked for the signal.
    """

    def __init__(self) -> None:
        self.seen = False

    def __enter__(self) -> "Interrupts":
        self.seen = False
        self._ours = (threading.current_thread() is threading.main_thread() and
                      signal.getsignal(signal.SIGINT) is signal.default_int_handler)
        if self._ours:
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: Any) -> None:
        if self._ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _note(self, *_: Any) -> None:
        self.seen = True
        signal.signal(signal.SIGINT, signal.default_int_handler)  # once more is the usual exception


class Caught:
    """What callbacks raised, until the calls that this interrupted are over.

    Several calls may be going on at once, in threads of their own; ``with`` counts them. `stops`: an
    exception stops runs at their next report, because nothing else does. `version`: a function that says by another
    number that what is called has changed; None if it never changes.
    """

    def __init__(self, stops: bool = True) -> None:
        self.stops = stops
        self.version: Optional[Callable[[], int]] = None
        self._exceptions: list[BaseException] = []
        self._calls = 0

    def __enter__(self) -> "Caught":
        with _cells:
            if self._calls == 0:
                self._exceptions.clear()
            self._calls += 1
        return self

    def __exit__(self, *_: Any) -> None:
        with _cells:
            self._calls -= 1

    @property
    def any(self) -> bool:
        """Whether something was raised."""
        return bool(self._exceptions)

    def note(self, exception: BaseException) -> None:
        """Keep an exception; of the many of a call the first ones are enough."""
        if len(self._exceptions) < 16:
            self._exceptions.append(exception)

    def reraise(self) -> None:
        """Raise the first one, if there is one, as itself."""
        with _cells:
            exception = self._exceptions.pop(0) if self._exceptions else None
        if exception is not None:
            raise exception from None


def _option(name: str, value: Any) -> Any:
    """The value of an option as JSON has it."""
    if isinstance(value, (np.generic, np.ndarray)) and np.ndim(value) == 0:
        value = value.item()
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, int) and not isinstance(value, bool) and not -2 ** 63 <= value < 2 ** 63:
        return str(value)  # beyond the integers of JSON's readers; seeds are up to 2^64 - 1
    if value is not None and not isinstance(value, (bool, int, float, str)):
        raise ArgumentError(f"{name}: expected a number, a text, True or False; found {type(value).__name__}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ArgumentError(f"{name}: expected a finite number; found {value}")
    return value


def seed_of(seed: Any, comm: Any = None) -> int:
    """The seed of a call as a number from 0 to 2^64 - 1; see :func:`sample` for what may be given.

    None is a fresh one from the operating system, below 2^53 so that every reader of JSON keeps all its digits.
    With an mpi4py communicator all ranks have that of rank 0, except that numbers stay as each rank gave
    them: the library says where they differ.
    """
    given = seed is not None and hasattr(seed, "__index__")
    if given:
        number = whole(seed, 2**64 - 1, "seed")
    elif seed is None:
        number = secrets.randbits(53)
    elif isinstance(seed, np.random.Generator):
        number = int(seed.integers(2**53))
    elif isinstance(seed, np.random.RandomState):
        number = int(seed.randint(2**53, dtype=np.int64))
    elif isinstance(seed, np.random.SeedSequence):
        number = int(seed.generate_state(1, np.uint64)[0])
    else:
        raise ArgumentError(f"seed {seed!r}; expected a whole number from 0 to 2^64 - 1, a numpy.random.Generator, "
                            f"RandomState or SeedSequence, or None")
    if comm is not None:
        drawn = comm.bcast(None if given else number, 0)
        number = number if given or drawn is None else drawn
    return number


def says_no(answer: Any) -> bool:
    """Whether a function asks to stop: by False, Python's or NumPy's, and not by None."""
    return isinstance(answer, (bool, np.bool_)) and not answer


def whole(value: Any, most: int, what: str) -> int:
    """A whole number from 0 to `most`, of any type of integers; ctypes would cut larger ones."""
    try:
        number = -1 if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except TypeError:  # such as an array, which has __index__ whatever its shape
        number = -1
    if not 0 <= number <= most:
        raise ArgumentError(f"{what} {value!r}; expected a whole number from 0 to {most}")
    return number


def options_text(options: dict[str, Any]) -> bytes:
    """Options by keyword as the library reads them; None leaves an option at its default."""
    return json.dumps({name: _option(name, value) for name, value in options.items()}).encode()

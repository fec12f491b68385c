# SPDX-License-Identifier: MIT
"""How far a call is, and what ends it early: Ctrl-C, an exception of a callback, a limit of time."""

from __future__ import annotations

import sys
import time
from typing import Any, Iterable, Optional

import numpy as np

from . import _library
from ._library import ArgumentError, Caught, Interrupts, SaltusError, ask, call


class Progress:
    """Shows how far a call is, and stops it on Ctrl-C or an exception of the user's function.

    `interrupts` note Ctrl-C, from before this context is entered until the caller has made its result.
    `show`: True, False, None (only in a terminal or a notebook), or a function of (done, total).
    `watch`: what else stops the call, when an exception is noted there. `seconds`: after which the call is
    stopped; None: never. Use it as a context: it shows and counts only within.
    """

    def __init__(self, interrupts: Interrupts, show: Any, what: str, watch: Iterable[Caught] = (),
                 seconds: Optional[float] = None):
        self.caught = Caught()
        self._interrupts = interrupts
        self._watch = [self.caught, *watch]
        self.what, self._seconds, self._begun = what, seconds, 0.0
        self._function = show if callable(show) else None
        self._bar: Any = None
        self._shown = 0.0
        self._wanted = self._is_watched() if show is None else bool(show) and not callable(show)
        self.callback = _library.PROGRESS(self._tell)

    def __enter__(self) -> "Progress":
        for caught in self._watch:
            caught.__enter__()
        self._begun = time.monotonic()
        return self

    def __exit__(self, *_: Any) -> None:
        for caught in self._watch:
            caught.__exit__()
        self.end()

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self._interrupts.seen

    def agree(self, comm: Any) -> None:
        """Let all ranks of a communicator know whether Ctrl-C was pressed at rank 0, so that none goes on alone."""
        if comm is not None:
            self._interrupts.seen = comm.bcast(self._interrupts.seen, 0)

    def reraise(self, failed: bool = True) -> None:
        """Raise what a callback raised, if anything, as itself.

        After a call that did not fail, only what stopped it: what else was noted is of another call.
        """
        for caught in self._watch:
            if failed or caught.stops:
                caught.reraise()

    @staticmethod
    def _is_watched() -> bool:
        return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())

    def _tell(self, done: int, total: int, _: Any) -> int:
        try:
            if any(caught.stops and caught.any for caught in self._watch):
                return 1
            if self._function and _library.says_no(self._function(done, total)):
                return 1
            if self._wanted:
                self._draw(done, total)
        except BaseException as exception:  # it cannot pass through C
            self.caught.note(exception)
            return 1
        late = self._seconds is not None and time.monotonic() - self._begun >= self._seconds
        return int(self.interrupted or late)

    def _draw(self, done: int, total: int) -> None:
        if self._bar is None:
            try:
                from tqdm.auto import tqdm
                self._bar = tqdm(total=total, desc=self.what, leave=False)
            except ImportError:
                self._bar = False
        if self._bar:
            self._bar.update(done - self._bar.n)
        elif time.monotonic() - self._shown > 0.2:
            self._shown = time.monotonic()
            print(f"\r{self.what} {100 * done / max(total, 1):3.0f}%", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Take the bar away."""
        if self._bar:
            self._bar.close()
        elif self._shown:
            print("\r" + " " * (len(self.what) + 6) + "\r", end="", file=sys.stderr, flush=True)


def ask_shown(what: str, progress: Any, own: Any, function: str, model: Any, options: Any,
              *arguments: Any) -> tuple[dict[str, Any], bool]:
    """The answer of a function of the library to a model and options, under a bar; and whether Ctrl-C ended it.

    What Python code of the model, of `own` samplers or of `progress` raised comes back.
    """
    interrupts = Interrupts()
    bar = Progress(interrupts, progress, what, [model._caught] + [each._caught for each in own])
    call("sal_flat_options_progress", options, bar.callback, None)
    with interrupts:
        try:
            with bar:
                answer = ask(function, model, options, *arguments)
        except SaltusError:
            bar.reraise()
            if bar.interrupted:
                raise KeyboardInterrupt from None
            raise
        bar.reraise(failed=False)
    return answer, bar.interrupted


def raises(interrupt: Any) -> bool:
    """Whether Ctrl-C is to raise KeyboardInterrupt, by the argument `interrupt` of a call."""
    if interrupt not in ("raise", "return"):
        raise ArgumentError(f"interrupt {interrupt!r}; expected 'raise' or 'return'")
    return interrupt == "raise"


def seconds_of(limit: Any) -> Optional[float]:
    """Seconds of a limit of time: a number of them, or a text such as "90s", "10m", "2h"; None: none."""
    if limit is None:
        return None
    units = {"s": 1, "m": 60, "h": 3600}
    text = limit.strip() if isinstance(limit, str) else limit
    try:
        if isinstance(limit, (bool, np.bool_)):
            raise TypeError
        seconds = float(text[:-1]) * units[text[-1]] if isinstance(text, str) and text[-1:] in units else float(text)
    except (TypeError, ValueError):
        seconds = 0
    if not 0 < seconds < float("inf"):
        raise ArgumentError(f"time {limit!r}: expected seconds above 0, as a number or as in '90s', '10m', '2h'")
    return seconds

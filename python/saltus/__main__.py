# SPDX-License-Identifier: MIT
"""The program ``saltus``, as ``python -m saltus``: the one that belongs to this package."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import signal
import subprocess
import sys

from ._library import VERSION


def _candidates() -> list[tuple[str, str]]:
    """Where the program may be, and why there."""
    found = []
    try:
        from ._place import PROGRAM  # written by Meson
        if PROGRAM:
            found.append((PROGRAM, "the place that this package was built for"))
    except ImportError:
        pass
    try:
        for file in importlib.metadata.files("saltus") or []:
            if file.parts[-2:] == ("bin", "saltus"):
                found.append((os.path.realpath(file.locate()), "what pip installed"))
    except importlib.metadata.PackageNotFoundError:
        pass
    on_path = shutil.which("saltus")
    if on_path:
        found.append((on_path, "found on PATH"))
    return found


def program() -> str:
    """The path of the program of this package's version.

    Raises FileNotFoundError if there is none.
    """
    tried = []
    for path, why in _candidates():
        try:
            said = subprocess.run([path, "--version"], capture_output=True, text=True, errors="replace", check=False,
                                  timeout=30).stdout.strip()
        except (OSError, subprocess.TimeoutExpired) as failure:
            tried.append(f"  {path} ({why}): {getattr(failure, 'strerror', failure)}")
            continue
        if said == f"saltus {VERSION}":
            return path
        tried.append(f"  {path} ({why}): it says '{said[:40]}'; this package is {VERSION}")
    raise FileNotFoundError(
        "the program was not found. Tried:\n" + "\n".join(tried or ["  nothing: no place is known"]) +
        "\nInstall it with this package (pip install, or meson install), or beside it (apt install saltus)")


def main() -> None:
    """Become the program, with the arguments of this process."""
    try:
        path = program()
    except FileNotFoundError as failure:
        print(f"saltus: {failure}", file=sys.stderr)
        sys.exit(66)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and the program would
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()

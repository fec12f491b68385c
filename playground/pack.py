#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One file of the page: pack.py INDEX.HTML STYLE.CSS SCRIPT.JS PAGE.HTML puts style and script into the first."""
import pathlib
import sys

index, style, script = (pathlib.Path(name).read_text(encoding="utf-8") for name in sys.argv[1:4])
if "</script" in script or "</style" in style:
    sys.exit("pack.py: the script or the style would end itself")
page = index.replace("/* STYLE */", style).replace("/* SCRIPT */", script)
pathlib.Path(sys.argv[4]).write_text(page, encoding="utf-8")

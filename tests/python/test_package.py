# SPDX-License-Identifier: MIT
"""The package as a whole: its declarations of C functions, its doctests, and how it finds the library."""

import ast
import ctypes.util
import doctest
import importlib
import os
import pathlib
import pkgutil
import re
import subprocess
import sys
import tempfile
import unittest

import saltus
from saltus import _library, _tools

SOURCE = pathlib.Path(os.environ["SALTUS_SOURCE_DIR"])

# How the letters of _library.SIGNATURES stand for C types.
LETTERS = {"int": "i", "bool": "b", "int32_t": "j", "unsigned": "u", "int64_t": "l", "uint64_t": "U",
           "double": "d", "sal_options": "i", "sal_mmd_estimator": "i", "sal_dtype": "i",
           "sal_columns_from": "i", "void": "v", "sal_status": "t"}


def letter(declaration):
    """The letter of one argument or result as it is declared in C."""
    text = declaration.strip()
    if "(*" in text:
        return "p"
    if "sal_error" in text:
        return "e"
    stars = text.count("*")
    words = re.sub(r"\*|const|struct", " ", text).split()
    kind = words[0]
    if stars == 0:
        return LETTERS.get(kind, "?")
    if stars == 1 and kind == "char":
        return "s"
    return "p" if stars == 1 else "P"


def declared():
    """The declarations of all public functions, as result and letters of arguments."""
    functions = {}
    for header in (SOURCE / "include" / "saltus").glob("*.h"):
        text = re.sub(r"/\*.*?\*/", " ", header.read_text(), flags=re.S)
        for result, name, rest in re.findall(r"SAL_API\s+([^;(]*?)(\bsal_\w+)\((.*?)\);", text, flags=re.S):
            depth, parts, part = 0, [], ""
            for character in rest:
                depth += (character == "(") - (character == ")")
                if character == "," and depth == 0:
                    parts.append(part)
                    part = ""
                else:
                    part += character
            parts.append(part)
            arguments = [] if rest.strip() in ("", "void") else [letter(" ".join(p.split())) for p in parts]
            functions[name] = (letter(result), "".join(arguments))
    return functions


class Declarations(unittest.TestCase):
    def test_signatures_are_those_of_the_headers(self):
        functions = declared()
        self.assertGreater(len(functions), 150)
        seen = 0
        for line in _library.SIGNATURES.split("\n"):
            if line:
                name, letters = line.split()
                result, arguments = functions[name]
                with self.subTest(name):
                    self.assertEqual(letters, result + arguments)
                seen += 1
        self.assertGreater(seen, 80)

    def test_structs_are_those_of_the_headers(self):
        headers = "".join(path.read_text() for path in (SOURCE / "include" / "saltus").glob("*.h"))
        headers = re.sub(r"/\*.*?\*/", " ", headers, flags=re.S)
        types = {"double": ctypes.c_double, "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64, "int": ctypes.c_int,
                 "bool": ctypes.c_bool}
        for struct in (_tools.InpaintOptions, _tools.Diagnostics, _tools.TrajectoryLevel, _tools.ReportOptions,
                       _tools.Images):
            name = struct.__doc__.rstrip(".")
            body = re.search(r"typedef struct " + name + r" \{(.*?)\n\} " + name + ";", headers, flags=re.S)[1]
            fields = []
            for line in filter(None, (" ".join(part.split()) for part in body.split(";"))):
                if "(*" in line:
                    fields.append((re.search(r"\(\*(\w+)\)", line)[1], _library.PROGRESS))
                elif "*" in line:
                    kind = ctypes.c_char_p if re.fullmatch(r"const char \*\w+", line) else ctypes.c_void_p
                    fields.append((re.search(r"(\w+)$", line)[1], kind))
                else:
                    kind, field = line.split()
                    fields.append((field, types[kind]))
            with self.subTest(name):
                self.assertEqual(struct._fields_, fields)

    def test_version_is_that_of_the_project(self):
        project = (SOURCE / "meson.build").read_text()
        self.assertEqual(saltus.__version__, re.search(r"version: '(.*?)'", project)[1])
        self.assertEqual(_library.lib.sal_version().decode(), saltus.__version__)


class Names(unittest.TestCase):
    OF_PYTHON = {"abs", "max", "min", "sum"}  # which `from saltus import *` leaves alone

    def test_all_is_complete(self):
        public = {name for name in dir(saltus) if not name.startswith("_")}
        self.assertEqual(saltus.__all__, sorted(public - self.OF_PYTHON))

    def test_all_is_literal(self):  # type checkers and editors read the file, and run nothing
        statements = ast.parse(pathlib.Path(saltus.__file__).read_text(encoding="utf-8")).body
        given = [s.value for s in statements if isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) == "__all__"]
        self.assertEqual([ast.literal_eval(value) for value in given], [saltus.__all__])


class Doctests(unittest.TestCase):
    def test_examples_in_docstrings(self):
        attempted = 0
        for info in pkgutil.iter_modules(saltus.__path__):
            module = importlib.import_module(f"saltus.{info.name}")
            result = doctest.testmod(module)
            self.assertEqual(result.failed, 0, module.__name__)
            attempted += result.attempted
        result = doctest.testmod(saltus)
        self.assertEqual(result.failed, 0)
        self.assertGreater(attempted, 10)

    def test_everything_public_is_described(self):
        for name in dir(saltus):
            if not name.startswith("_"):
                self.assertTrue(getattr(saltus, name).__doc__, name)


class Library(unittest.TestCase):
    def run_python(self, code, **environment):
        return subprocess.run([sys.executable, "-c", code], env={**os.environ, **environment}, text=True,
                              capture_output=True, check=False)

    def test_missing_library_says_where_it_was_looked_for(self):
        result = self.run_python("import saltus", SALTUS_LIBRARY="/nowhere/libsaltus.so")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("/nowhere/libsaltus.so", result.stderr)
        self.assertIn("SALTUS_LIBRARY", result.stderr)

    def test_other_libraries_are_refused(self):
        other = ctypes.util.find_library("m")
        result = self.run_python("import saltus", SALTUS_LIBRARY=other)
        self.assertIn("too old, or another library", result.stderr)

    def test_another_version_is_refused(self):
        code = ("import sys, types; import saltus._library as l; l.VERSION = '9.9.0'\n"
                "try: l._load()\nexcept ImportError as e: print(e)")
        result = self.run_python(code)
        self.assertIn(f"version {saltus.__version__}; this package is 9.9.0", result.stdout)


class Program(unittest.TestCase):
    def run_module(self, *arguments, **environment):
        return subprocess.run([sys.executable, "-m", "saltus", *arguments], env={**os.environ, **environment},
                              text=True, capture_output=True, check=False)

    def test_the_module_is_the_program(self):
        for arguments in (["--version"], ["value", "ising:side=2", "--state", "1,1,1,1"], ["frob"]):
            with self.subTest(arguments[0]):
                there = subprocess.run([os.environ["SALTUS_PROGRAM"], *arguments], text=True, capture_output=True,
                                       check=False)
                here = self.run_module(*arguments)
                self.assertEqual((here.returncode, here.stdout, here.stderr),
                                 (there.returncode, there.stdout, there.stderr))

    def test_programs_of_other_versions_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            other = pathlib.Path(folder, "saltus")
            other.write_text("#!/bin/sh\necho saltus 9.9.0\n")
            other.chmod(0o755)
            code = ("import saltus.__main__ as m\n"
                    f"m._candidates = lambda: [('/nowhere/saltus', 'a place'), ({str(other)!r}, 'another')]\n"
                    "m.main()")
            result = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=False)
        self.assertEqual(result.returncode, 66)
        self.assertIn("/nowhere/saltus (a place): No such file or directory", result.stderr)
        self.assertIn(f"(another): it says 'saltus 9.9.0'; this package is {saltus.__version__}", result.stderr)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: MIT
"""What commands of the program do beside runs and trainings: against the program, and against enumeration."""

import itertools
import json
import os
import subprocess
import tempfile
import unittest
from unittest import mock

import numpy as np

import saltus as sal
from saltus import _library

PROGRAM = os.environ["SALTUS_PROGRAM"]


def program(*arguments):
    return subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True).stdout


def needs_png(test):
    """Skip where the library was built without libpng."""

    def run(self):
        with tempfile.TemporaryDirectory() as folder:
            try:
                sal.save_pictures(os.path.join(folder, "a.png"), np.zeros((2, 2)))
            except sal.UnsupportedError as error:
                self.skipTest(str(error))
        test(self)

    return run


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def bytes(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()


class Inpainting(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(0)
        s, c, o = sal.spins(2, name="s"), sal.categorical(2, 3, name="c"), sal.ordinal(1, [0.5, 1.0, 4.0], name="o")
        weights = rng.normal(size=(2, 3))
        self.model = sal.Model(s[0] * s[1] + (c * weights).sum() * s[0] + 0.3 * o[0] * s[1] - 0.2 * o[0])
        self.codes = np.array(list(itertools.product(*[range(n) for n in (2, 2, 3, 3, 3)])))
        self.values = self.model.values(self.codes)

    def check(self, drawn, known):
        """Chi-square of frequencies against the exact conditional, at most 5 standard deviations off."""
        agree = ((self.values == known) | np.isnan(known)).all(axis=1)
        p = np.exp(self.model.value(self.values[agree]))
        p /= p.sum()
        counts = (drawn[:, None, :] == self.values[agree]).all(axis=2).sum(axis=0)
        self.assertEqual(counts.sum(), len(drawn))
        chi, freedom = ((counts - len(drawn) * p) ** 2 / (len(drawn) * p)).sum(), len(p) - 1
        variance = 2 * freedom + ((1 / p).sum() - len(p) ** 2 - 2 * len(p) + 2) / len(drawn)
        self.assertLess(chi, freedom + 5 * np.sqrt(variance))

    def test_draws_have_the_exact_conditional(self):
        nan = np.nan
        x = np.array([[1, nan, 0, nan, 4], [nan, -1, nan, 2, nan], [nan] * 5])
        drawn = sal.inpaint(self.model, x, samples=4000, steps=60, sampler="gibbs", seed=1)
        self.assertEqual(drawn.shape, (3, 4000, 5))
        for samples, known in zip(drawn, x):
            self.check(samples, known)
        alone = sal.inpaint(self.model, x[0], samples=4000, steps=60, sampler="gibbs", seed=2)
        self.assertEqual(alone.shape, (4000, 5))
        self.check(alone, x[0])

    def test_what_is_unknown_can_be_said_in_other_ways(self):
        x = np.array([[1, -1, 0, 2, 4], [1, 1, 1, 1, 0.5]])
        unknown = np.array([0, 1, 0, 1, 0], dtype=bool)
        options = {"samples": 5, "steps": 20, "seed": 3}
        drawn = sal.inpaint(self.model, x, unknown, **options)
        holes = np.where(unknown, np.nan, x)
        np.testing.assert_array_equal(sal.inpaint(self.model, holes, **options), drawn)
        np.testing.assert_array_equal(sal.inpaint(self.model, np.where(unknown, 99, x), unknown, **options), drawn)
        np.testing.assert_array_equal(sal.inpaint(self.model, x, np.tile(unknown, (2, 1)).astype(int), **options), drawn)
        codes = sal.inpaint(self.model, self.model.codes(x), unknown, codes=True, **options)
        self.assertEqual(codes.dtype, np.int32)
        np.testing.assert_array_equal(self.model.values(codes), drawn)
        holes = np.where(unknown, np.nan, self.model.codes(x))
        np.testing.assert_array_equal(sal.inpaint(self.model, holes, codes=True, **options), codes)
        self.assertEqual(sal.inpaint(self.model, x.reshape(2, 1, 5), unknown, **options).shape, (2, 1, 5, 5))
        np.testing.assert_array_equal(sal.inpaint(self.model, x, unknown, threads=1, **options), drawn)
        self.assertTrue((sal.inpaint(self.model, x, unknown, samples=5, steps=20) != drawn).any())

    @needs_png
    def test_it_is_that_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            rows = sal.Data.digits(3, 8, seed=1).codes
            np.save(os.path.join(folder, "rows.npy"), 255 * rows.reshape(3, 8, 8))
            answer = json.loads(program("inpaint", "ising:side=8,theta=0.3", "--data", os.path.join(folder, "rows.npy"),
                                        "--mask", "top", "--samples", "4", "--steps", "30", "--seed", "5", "--json",
                                        "--out", os.path.join(folder, "sheet.png")))
            unknown = np.arange(64) < 32
            drawn = sal.inpaint("ising:side=8,theta=0.3", rows, unknown, samples=4, steps=30, seed=5, codes=True)
            share = (drawn == rows[:, None])[..., unknown].mean()
            self.assertAlmostEqual(answer["agreement"], share, places=6)

    def test_mistakes(self):
        x = np.array([1, np.nan, 0, 2, 4.0])
        for wrong, error in (((x, [True] * 4), sal.ShapeError), ((x[:4],), sal.ShapeError),
                             (([1, 1, 0, 0, 4],), sal.ArgumentError), ((x, [0, 0.5, 0, 0, 0]), sal.ArgumentError),
                             (([3, np.nan, 0, 0, 4],), sal.ArgumentError), ((x, [False] * 5), sal.ArgumentError),
                             ((["a"] * 5,), sal.ArgumentError)):
            with self.subTest(wrong), self.assertRaises(error):
                sal.inpaint(self.model, *wrong)
        for options in ({"samples": 0}, {"steps": 1}, {"steps": -1}, {"sampler": "nonsense"}, {"step_size": -1.0},
                        {"threads": -1}):
            with self.subTest(options), self.assertRaises((sal.ArgumentError, sal.NotFoundError)):
                sal.inpaint(self.model, x, **options)
        with self.assertRaisesRegex(sal.SaltusError, "progress stopped it"):
            sal.inpaint(self.model, np.full((50, 5), np.nan), steps=2000, progress=lambda done, total: False)
        with self.assertRaises(ZeroDivisionError):
            sal.inpaint(self.model, np.full((50, 5), np.nan), steps=2000, progress=lambda done, total: 1 / 0)

        def f(x):
            raise ZeroDivisionError

        with self.assertRaises(ZeroDivisionError):
            sal.inpaint(sal.Model.from_function(f, sal.binary(3)), [1, np.nan, np.nan])


class Diagnostics(unittest.TestCase):
    def test_figures_are_those_of_a_run_and_of_the_program(self):
        run = sal.sample("ising:side=3,theta=0.2", "gibbs", draws=500, seed=1)
        figures = sal.diagnose(run.values)
        self.assertEqual(figures["rhat"].shape, (9,))
        np.testing.assert_allclose(figures["mean"], run.values.mean(axis=(0, 1)), atol=1e-12)
        np.testing.assert_allclose(figures["sd"], run.values.reshape(-1, 9).std(axis=0, ddof=1), rtol=1e-12)
        self.assertEqual(round(float(figures["rhat"].max()), 6), round(run.summary["rhat_max"], 6))
        one = sal.diagnose(run.log_prob)
        self.assertIsInstance(one["mean"], float)
        self.assertAlmostEqual(one["mean"], run.log_prob.mean(), places=12)
        half = run.log_prob.reshape(8, 250)  # halves of chains
        within, between = half.var(axis=1, ddof=1).mean(), 250 * half.mean(axis=1).var(ddof=1)
        self.assertAlmostEqual(one["rhat_basic"], np.sqrt((between / within + 249) / 250), places=12)
        with tempfile.TemporaryDirectory() as folder:
            np.save(os.path.join(folder, "draws.npy"), run.log_prob)
            theirs = json.loads(program("stats", os.path.join(folder, "draws.npy"), "--json"))["variables"][0]
        for name in set(theirs) - {"variable"}:
            self.assertAlmostEqual(one[name], theirs[name], delta=1e-8 * abs(theirs[name]))
        self.assertIn("mcse_sd", theirs)
        self.assertTrue(np.isnan(sal.diagnose(np.zeros((2, 50)))["rhat"]))
        self.assertEqual(sal.diagnose(np.ones((2, 10, 3, 4)))["mean"].shape, (3, 4))

    def test_mistakes(self):
        for wrong, error in ((np.zeros(5), sal.ShapeError), (np.zeros((2, 0)), sal.ShapeError),
                             ([["a", "b"]], sal.ArgumentError)):
            with self.assertRaises(error):
                sal.diagnose(wrong)

    def test_votes(self):
        run = sal.sample("ising:side=2,theta=0.3", draws=300, seed=1)
        states, counts = np.unique(run.draws.reshape(-1, 4), axis=0, return_counts=True)
        voted = run.vote(codes=True)
        self.assertEqual(counts[(states == voted).all(axis=1)], counts.max())
        np.testing.assert_array_equal(run.model.codes(run.vote()), voted)
        ones = run.draws.reshape(-1, 4).mean(axis=0)
        np.testing.assert_array_equal(run.vote("variable", codes=True), ones > 0.5)
        np.testing.assert_array_equal(run.vote("variable", ones=1, codes=True), np.arange(4) == ones.argmax())
        for wrong in ({"by": "site"}, {"ones": 1}, {"by": "variable", "ones": 5}, {"by": "variable", "ones": -1}):
            with self.subTest(wrong), self.assertRaises(sal.ArgumentError):
                run.vote(**wrong)
        with self.assertRaises(sal.ArgumentError):
            sal.sample("ising:side=2,theta=0.3", draws=30, keep=False).vote()

    def test_total_variation(self):
        run = sal.sample("ising:side=2,theta=0.3", draws=300, seed=1)
        codes = np.array(list(itertools.product([0, 1], repeat=4)))
        p = np.exp(run.model.value(codes, codes=True))
        counts = np.bincount(run.draws.reshape(-1, 4) @ [8, 4, 2, 1], minlength=16)
        distance, ideal = run.total_variation()
        self.assertAlmostEqual(distance, np.abs(counts / counts.sum() - p / p.sum()).sum() / 2, places=6)
        self.assertTrue(0 < ideal < 1)
        with self.assertRaises(sal.UnsupportedError):
            run.total_variation(limit=10)


class Ladders(Folder):
    def test_levels_and_log_z(self):
        data = sal.Data.digits(200, 8, seed=1)
        options = {"objective": "ptt", "sampler": "block-gibbs", "steps": 1, "iterations": 60, "seed": 1}
        training = sal.train("rbm:hidden=5", data, directory=self.path("d"), **options)
        found = sal.ladder(training)
        self.assertEqual(found[0]["log_z"], 0)
        self.assertEqual(found[0]["beta"], 0)
        with open(self.path("d/ladder/ladder.json"), encoding="utf-8") as file:
            saved = json.load(file)
        self.assertEqual((len(found), found.log_z, found.error),
                         (saved["levels"], saved["model"]["log_z"], saved["model"]["log_z_error"]))
        exact = training.model.exact().log_z
        self.assertLess(abs(found.log_z - exact), 5 * found.error + 1e-3)
        again = sal.ladder(self.path("d"))
        self.assertEqual((repr(list(again)), again.log_z, again.error), (repr(list(found)), found.log_z, found.error))
        elsewhere = sal.ladder(sal.train("rbm:hidden=5", data, **options))
        self.assertEqual(repr(list(elsewhere)), repr(list(found)))  # of which some numbers are NaN
        with self.assertRaises(sal.NotFoundError):
            sal.ladder(sal.train("rbm:hidden=5", data, objective="pcd", iterations=5, directory=self.path("e")))
        for wrong in (None, training.model):
            with self.assertRaises(sal.ArgumentError):
                sal.ladder(wrong)


class Files(Folder):
    def test_conversion_is_that_of_the_program(self):
        model = sal.Model.from_factors([2, 3], [((0, 1), np.arange(6.0).reshape(2, 3))])
        with open(self.path("a.coo"), "w", encoding="utf-8") as file:
            file.write("# vartype=SPIN\n0 1 -1.5\n1 2 0.5\n")
        sal.convert(self.path("a.coo"), self.path("a.graphml"))
        program("convert", self.path("a.coo"), self.path("b.graphml"))
        self.assertEqual(self.bytes("a.graphml"), self.bytes("b.graphml"))
        self.assertEqual(sal.Model(self.path("a.graphml")).value([1, 1, 1]), sal.Model(self.path("a.coo")).value([1, 1, 1]))
        os.rename(self.path("a.coo"), self.path("plain"))
        sal.convert(self.path("plain"), self.path("other"), "coo", "graphml")
        self.assertEqual(self.bytes("other"), self.bytes("b.graphml"))
        with self.assertRaises(sal.ArgumentError):
            sal.convert(self.path("plain"), self.path("c"), "coo", "nonsense")
        with self.assertRaises(sal.ArgumentError):
            sal.convert(self.path("plain"), self.path("c"), columns_from=2)
        with self.assertRaises(sal.NotFoundError):
            sal.convert(self.path("nowhere.uai"), self.path("c.uai"))
        self.assertIsNone(model.label(0))

    def test_remarks_of_conversions_are_warnings(self):
        with open(self.path("a.fasta"), "w", encoding="utf-8") as file:
            file.write(">1\nACDEFGHIKLMNPQRSTVWYJ\n>2\nACDEFGHIKLMNPQRSTVWY-\n")
        with self.assertWarnsRegex(sal.SaltusWarning, "a.fasta"):
            sal.convert(self.path("a.fasta"), self.path("a.aln"))
        self.assertTrue(self.bytes("a.aln").startswith(b"ACDEF"))

    def test_pages_are_those_of_the_program(self):
        run = sal.sample("ising:side=3,theta=0.2", draws=200, seed=1)
        run.save(self.path("run1.npy"))
        training = sal.train("rbm:hidden=2", [[0, 1], [1, 0]] * 10, objective="pcd", batch=5, iterations=20, seed=1,
                             report_every=10)
        sal.report(self.path("a.html"), self.path("run1.npy"), model="ising:side=3,theta=0.2")
        program("report", self.path("run1.npy"), "--model", "ising:side=3,theta=0.2", "--out", self.path("b.html"))
        self.assertEqual(self.bytes("a.html"), self.bytes("b.html"))
        sal.report(self.path("c.html"), run, training, run)
        page = self.bytes("c.html").decode()
        for name in ("run1", "training2", "run3", "<svg", "f of data and samples"):
            self.assertIn(name, page)
        for wrong in ((), (3,), (sal.sample("ising:side=3", draws=10, keep=False),)):
            with self.subTest(wrong), self.assertRaises(sal.ArgumentError):
                sal.report(self.path("d.html"), *wrong)
        with self.assertRaises(sal.NotFoundError):
            sal.report(self.path("d.html"), self.path("nowhere.npy"))
        self.assertFalse(os.path.exists(self.path("d.html")))

    def test_marginals_are_those_of_the_program(self):
        specification = "potts:side=2,states=3,theta=0.5"
        model = sal.Model(specification, dtype="f64")
        exact = model.exact()
        for name in ("a.json", "a.MAR"):
            sal.save_marginals(self.path(name), specification, exact.marginals, exact.log_z)
            program("exact", specification, "--marginals", self.path("b" + name[1:]))
            marginals, log_z = sal.load_marginals(self.path("b" + name[1:]), model)
            np.testing.assert_allclose(marginals, exact.marginals, atol=1e-6)
            again, z = sal.load_marginals(self.path(name), model)
            np.testing.assert_allclose(again, exact.marginals, atol=1e-6)
            if name == "a.json":
                self.assertAlmostEqual(z, exact.log_z, places=6)
                self.assertAlmostEqual(log_z, exact.log_z, places=6)
        run = sal.sample(model, draws=50, clamp={0: 1}, seed=1)
        sal.save_marginals(self.path("run.json"), model, run.marginals())
        marginals, log_z = sal.load_marginals(self.path("run.json"), model)
        self.assertIsNone(log_z)
        np.testing.assert_allclose(marginals, run.marginals(), atol=1e-9)
        for wrong in (exact.marginals[:-1], exact.marginals[:-1] + [[1.0]], []):
            with self.assertRaises(sal.ShapeError):
                sal.save_marginals(self.path("c.json"), model, wrong)
        with self.assertRaises(sal.DataError):
            sal.load_marginals(self.path("a.json"), "ising:side=3")

    @needs_png
    def test_sheets_of_pictures(self):
        pictures = sal.Data.digits(6, 8, seed=1).pictures
        sal.save_pictures(self.path("a.png"), pictures, columns=3)
        sal.save_pictures(self.path("b.png"), pictures.reshape(2, 3, 8, 8))
        self.assertEqual(self.bytes("a.png"), self.bytes("b.png"))
        sal.save_pictures(self.path("c.png"), pictures[0], zoom=3)
        for name, width, height in (("a.png", 3 * 8, 2 * 8), ("c.png", 24, 24)):
            head = self.bytes(name)
            self.assertEqual(head[:4], b"\x89PNG")
            size = [int.from_bytes(head[k:k + 4], "big") for k in (16, 20)]
            self.assertTrue(width <= size[0] <= width + 8 and height <= size[1] <= height + 8, size)
        for wrong, error in ((np.zeros(4), sal.ShapeError), (np.zeros((0, 2, 2)), sal.ShapeError),
                             ([["a"]], sal.ArgumentError)):
            with self.assertRaises(error):
                sal.save_pictures(self.path("d.png"), wrong)

    def test_another_version_of_the_library_is_refused(self):
        for use in (lambda: sal.convert("a", "b"), lambda: sal.report("a", "b"),
                    lambda: sal.save_pictures("a", np.zeros((2, 2))), lambda: sal.load_marginals("a", "ising:side=2"),
                    lambda: sal.save_marginals("a", "ising:side=2", [])):
            with mock.patch.object(_library, "VERSION", _library.VERSION + "1"), self.assertRaises(sal.UnsupportedError):
                use()

    def test_names_of_networks(self):
        with open(self.path("net.bif.xml"), "w", encoding="utf-8") as file:
            file.write("""<?xml version="1.0"?><BIF VERSION="0.3"><NETWORK><NAME>rain</NAME>
                <VARIABLE TYPE="nature"><NAME>weather</NAME><OUTCOME>dry</OUTCOME><OUTCOME>wet</OUTCOME></VARIABLE>
                <DEFINITION><FOR>weather</FOR><TABLE>0.75 0.25</TABLE></DEFINITION></NETWORK></BIF>""")
        model = sal.Model(self.path("net.bif.xml"))
        self.assertEqual((model.label(0), model.label(0, 0), model.label(0, 1)), ("weather", "dry", "wet"))
        self.assertIsNone(sal.Model("ising:side=2").label(0))
        for wrong in ((1,), (-1,), (0, 2), (0, -1)):
            with self.assertRaises(sal.OutOfRangeError):
                model.label(*wrong)


if __name__ == "__main__":
    unittest.main()

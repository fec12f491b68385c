# SPDX-License-Identifier: MIT
"""Runs: draws without copies, bits, files, resuming, options, interruption."""

import gc
import os
import pathlib
import signal
import tempfile
import unittest
import warnings

import numpy as np

import saltus as sal

ISING = sal.Model("ising:side=4,theta=0.1", dtype="f64")


def needs_netcdf(test):
    """Skip where the library was built without libnetcdf."""

    def wrapped(self):
        try:
            test(self)
        except sal.UnsupportedError as error:
            if "netcdf" in str(error).lower():
                self.skipTest(str(error))
            raise

    return wrapped


class Draws(unittest.TestCase):
    def test_views_outlive_the_run_and_cannot_be_written(self):
        run = sal.sample(ISING, "gwg", chains=3, draws=500, seed=1)
        draws, f = run.draws, run.log_prob
        self.assertEqual((draws.shape, draws.dtype, f.shape), ((3, 500, 16), np.uint8, (3, 500)))
        again = draws.copy()
        self.assertFalse(draws.flags.owndata)
        np.testing.assert_allclose(run.model.value(draws, codes=True), f, atol=1e-12)
        del run
        gc.collect()
        np.testing.assert_array_equal(draws, again)
        with self.assertRaises(ValueError):
            draws[0, 0, 0] = 1

    def test_values_marginals_last_best(self):
        run = sal.sample(ISING, "gibbs", chains=2, draws=300, seed=1, track_best=True)
        values = run.values
        self.assertEqual(set(np.unique(values)), {-1, 1})
        np.testing.assert_array_equal(run.last(), values[:, -1])
        np.testing.assert_allclose([m[1] for m in run.marginals()], (values == 1).mean((0, 1)))
        state, f = run.best()
        self.assertAlmostEqual(run.model.value(state), f)
        self.assertGreaterEqual(f, run.log_prob.max())

    def test_wide_codes(self):
        run = sal.sample(sal.Model(-0.01 * sal.counts(2, cap=1000).sum()), "gibbs", chains=2, draws=50, seed=1)
        self.assertEqual(run.draws.dtype, np.int32)

    def test_draws_that_are_not_kept(self):
        run = sal.sample(ISING, "gwg", chains=2, draws=500, keep=False)
        self.assertIsNone(run.draws)
        with self.assertRaisesRegex(sal.ArgumentError, "keep=True"):
            run.values
        with self.assertRaisesRegex(sal.ArgumentError, "keep=True"):
            run.resume(600)

    def test_same_seed_same_bits(self):
        one = sal.sample(ISING, "ncg", chains=70, draws=50, seed=5, threads=1)
        two = sal.sample(ISING, "ncg", chains=70, draws=50, seed=5, threads=2)
        other = sal.sample(ISING, "ncg", chains=70, draws=50, seed=6)
        np.testing.assert_array_equal(one.draws, two.draws)
        np.testing.assert_array_equal(one.log_prob, two.log_prob)
        self.assertTrue((one.draws != other.draws).any())

    def test_a_formula_samples_as_the_ready_made_model(self):
        s = sal.spins((4, 4), name="s")
        pairs = [(i, j) for i in range(16) for j in (4 * ((i // 4 + 1) % 4) + i % 4, 4 * (i // 4) + (i + 1) % 4)]
        f = sal.Model(sal.edges(s.ravel(), 0.2, pairs))
        own = sal.sample(f, "gibbs", draws=2000, chains=8, seed=1)
        exact = f.exact()
        self.assertAlmostEqual(exact.log_z, ISING.exact().log_z)
        self.assertAlmostEqual(own.log_prob.mean(), exact.log_prob_mean, delta=0.15)


class Options(unittest.TestCase):
    def test_init_clamp_temperatures_step_size(self):
        init = np.tile([1, -1], 8)
        run = sal.sample(ISING, "gwg", chains=2, draws=1, warmup=0, init=init, seed=1)
        self.assertLessEqual(np.abs(run.values - init).sum(), 2 * 2)
        run = sal.sample(ISING, "gibbs", draws=50, clamp={3: -1, 5: 1})
        self.assertTrue((run.values[..., [3, 5]] == [-1, 1]).all())
        run = sal.sample(ISING, "gibbs", draws=50, temperatures=[1, 2, 4])
        self.assertEqual(run.summary["tempering"]["temperatures"], [1, 2, 4])
        run = sal.sample(ISING, "ncg", draws=500, step_size=0.3)
        self.assertEqual(run.summary["step_size"], 0.3)

    def test_tuning(self):
        tuning = sal.sample(ISING, "ncg", draws=100, seed=1).tuning()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tuning.json")
            tuning.save(path)
            again = sal.Tuning.load(path)
        self.assertEqual(again.values, tuning.values)
        run = sal.sample(ISING, "ncg", draws=100, seed=2, tuning=again, warmup=10)
        self.assertEqual(run.summary["step_size"], tuning.values["step_size"][0])
        with self.assertRaises(sal.DataError):
            sal.sample(ISING, "avg", draws=10, tuning=again)

    def test_preconditioner(self):
        with self.assertRaisesRegex(sal.ArgumentError, "preconditioner: expected 256 elements; there are 4"):
            sal.sample(ISING, "pavg", draws=10, preconditioner=np.eye(2))
        sal.sample(ISING, "pavg", draws=300, preconditioner=0.4 * np.eye(16))

    def test_mistakes(self):
        for error, options in ((sal.NotFoundError, {"chain": 3}), (sal.ArgumentError, {"chains": -1}),
                               (sal.ArgumentError, {"chains": "many"}), (sal.ArgumentError, {"draws": 1.5}),
                               (sal.ArgumentError, {"init": np.ones((3, 16)), "chains": 2}),
                               (sal.ShapeError, {"init": np.ones(3)}), (sal.ArgumentError, {"clamp": {99: 1}}),
                               (sal.ArgumentError, {"temperatures": [2.0, 1.0]}),
                               (sal.ArgumentError, {"sampler": "gwgg"}),
                               (sal.ArgumentError, {"seed": object()}), (sal.ArgumentError, {"step_size": float("nan")}),
                               (sal.ArgumentError, {"init": np.full(16, 2 ** 32), "codes": True})):
            with self.subTest(options):
                with self.assertRaises(error):
                    sal.sample(ISING, **options)

    def test_warnings(self):
        with self.assertWarnsRegex(sal.SaltusWarning, "Nothing moved|R-hat"):
            sal.sample("ising:side=6,theta=1", "gwg", draws=200, seed=1)

    def test_compare(self):
        table = sal.compare(ISING, ["gwg", "gibbs"], draws=200)
        self.assertEqual({s["sampler"] for s in table}, {"gwg", "gibbs"})
        self.assertIn("ESS/s", repr(table))


class Files(unittest.TestCase):
    @needs_netcdf
    def test_resume_gives_the_same_bits(self):
        whole = sal.sample(ISING, "gwg", chains=3, draws=900, seed=2)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.nc"
            first = sal.sample(ISING, "gwg", chains=3, draws=400, seed=2, out=path)
            np.testing.assert_array_equal(first.draws, whole.draws[:, :400])
            resumed = sal.resume(path, 900)
            np.testing.assert_array_equal(resumed.draws, whole.draws)
        np.testing.assert_array_equal(first.resume(900).draws, whole.draws)

    @needs_netcdf
    def test_resume_of_a_formula_wants_it(self):
        model = sal.Model(sal.spins(4).sum() * 0.1, name="")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.nc"
            sal.sample(model, "gwg", draws=400, out=path)
            with self.assertRaisesRegex(sal.ArgumentError, "give model="):
                sal.resume(path, 500)
            sal.sample(sal.Model(sal.spins(4).sum() * 0.1), "gwg", draws=400, out=pathlib.Path(folder) / "tape.nc")
            with self.assertRaisesRegex(sal.ArgumentError, "'tape' is no file or ready-made model; give model="):
                sal.resume(pathlib.Path(folder) / "tape.nc", 500)
            self.assertEqual(sal.resume(path, 500, model=model).draws.shape, (4, 500, 4))
            with self.assertRaises(sal.SaltusError):
                sal.resume(path, 600, model=ISING)

    def test_save(self):
        run = sal.sample(ISING, "gwg", draws=500)
        with tempfile.TemporaryDirectory() as folder:
            run.save(os.path.join(folder, "d.npy"))
            np.testing.assert_array_equal(np.load(os.path.join(folder, "d.npy")), run.draws)
            with self.assertRaises(sal.FileError):
                run.save(os.path.join(folder, "no", "d.npy"))

    def test_xarray(self):
        try:
            import xarray  # noqa: F401
        except ImportError:
            self.skipTest("python3-xarray is not installed")
        s, c = sal.spins(3, name="s"), sal.categorical(2, 3, name="c")
        run = sal.sample(0.1 * s.sum() + 0.2 * c[:, 1].sum(), draws=60, chains=2)
        data = run.to_xarray()
        self.assertEqual(dict(data.sizes), {"chain": 2, "draw": 60, "s_site": 3, "c_site": 2})
        self.assertEqual(set(data.data_vars), {"s", "c"})
        np.testing.assert_array_equal(data["s"], 2.0 * run.draws[..., :3] - 1)
        np.testing.assert_array_equal(data["c"], run.draws[..., 3:])
        stats = run.to_xarray("sample_stats")
        self.assertEqual(set(stats.data_vars), {"lp"})
        np.testing.assert_array_equal(stats["lp"], run.log_prob)
        with self.assertRaisesRegex(sal.ArgumentError, "expected 'posterior' or 'sample_stats'"):
            run.to_xarray("prior")

    @needs_netcdf
    def test_xarray_and_the_file_mean_the_same(self):
        try:
            import netCDF4  # noqa: F401
            import xarray
        except ImportError:
            self.skipTest("python3-xarray or python3-netcdf4 is not installed")
        levels = [-1.5, -1.4, -1.3, -1.2]
        s, x = sal.spins(3, name="s"), sal.ordinal(2, levels=levels, name="x")
        y = sal.ordinal(2, levels=[-1, 0.25, 7], name="y")
        run = sal.sample(0.1 * s.sum() + x.sum() - 0.1 * (y * y).sum(), draws=60, chains=2)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.nc")
            run.save(path)
            for group in ("posterior", "sample_stats"):
                data = run.to_xarray(group)
                with xarray.open_dataset(path, group=group) as stored:
                    self.assertEqual(set(stored.data_vars), set(data.data_vars))
                    for name in data.data_vars:
                        np.testing.assert_allclose(stored[name], data[name], rtol=1e-15)

    def test_plot(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("python3-matplotlib is not installed")
        matplotlib.use("Agg")
        self.assertEqual(len(sal.sample(ISING, draws=60).plot().axes), 3)


class Interruption(unittest.TestCase):
    def test_progress_sees_all_steps_and_can_stop(self):
        seen = []
        sal.sample(ISING, "gwg", draws=2000, warmup=1000, progress=lambda done, total: seen.append((done, total)))
        self.assertEqual(seen[-1], (3000, 3000))
        run = sal.sample(ISING, "gwg", draws=10 ** 7, keep=False, progress=lambda done, total: done < 5000)
        self.assertTrue(run.summary["stopped"])

    def test_exceptions_of_progress_come_back_as_themselves(self):
        def progress(done, total):
            raise ZeroDivisionError("mine")

        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            sal.sample(ISING, "gwg", draws=10 ** 7, keep=False, progress=progress)

    def test_ctrl_c_keeps_what_there_is(self):
        def progress(done, total):
            if done > 3000:
                os.kill(os.getpid(), signal.SIGINT)

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run = sal.sample(ISING, "gibbs", draws=10 ** 7, keep=False, progress=progress)
        self.assertTrue(run.summary["stopped"])
        self.assertGreater(run.summary["draws"], 0)
        self.assertTrue(any("interrupted" in str(w.message) for w in caught))


class Printing(unittest.TestCase):
    def test_tables(self):
        run = sal.sample(ISING, "gwg", draws=2000, seed=1)
        for text in (repr(run), run._repr_html_()):
            for word in ("gwg", "acceptance rate", "largest R-hat", "ESS"):
                self.assertIn(word, text)


if __name__ == "__main__":
    unittest.main()

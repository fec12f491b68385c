# SPDX-License-Identifier: MIT
"""Runs: draws without copies, bits, files, resuming, options, interruption."""

import gc
import json
import os
import pathlib
import signal
import tempfile
import threading
import types
import unittest
import warnings
from unittest import mock

import numpy as np

import saltus as sal
from saltus import _library, _run

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
        run = sal.sample(ISING, "gwg", chains=2, draws=500, keep=False, seed=0)
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
        run = sal.sample(ISING, "gibbs", draws=50, clamp={3: -1, 5: 1}, seed=0)
        self.assertTrue((run.values[..., [3, 5]] == [-1, 1]).all())
        run = sal.sample(ISING, "gibbs", draws=50, temperatures=[1, 2, 4], seed=0)
        self.assertEqual(run.summary["tempering"]["temperatures"], [1, 2, 4])
        run = sal.sample(ISING, "gibbs", draws=50, temperatures=[1, 2, 4], houdayer=True, seed=0)
        self.assertEqual(len(run.summary["houdayer"]["shares"]), 3)
        run = sal.sample(ISING, "ncg", draws=500, step_size=0.3, seed=0)
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
            sal.sample(ISING, "avg", draws=10, tuning=again, seed=0)

    def test_preconditioner(self):
        with self.assertRaisesRegex(sal.ArgumentError, "preconditioner: expected 256 elements; there are 4"):
            sal.sample(ISING, "pavg", draws=10, preconditioner=np.eye(2), seed=0)
        sal.sample(ISING, "pavg", draws=300, preconditioner=0.4 * np.eye(16), seed=0)

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
        table = sal.compare(ISING, ["gwg", "gibbs"], draws=200, seed=0)
        self.assertEqual({s["sampler"] for s in table}, {"gwg", "gibbs"})
        self.assertIn("ESS/s", repr(table))


class Doubt(unittest.TestCase):
    """What the summary says of runs whose averages are not those of f."""

    @staticmethod
    def bits_and_pair():
        """Ten fair bits, and two that must differ."""
        x = sal.binary(12, name="x")
        return sal.Model(-60 * (x[10] + x[11] - 1) ** 2 + 2 * x[10])

    def test_variables_that_never_changed(self):
        model = self.bits_and_pair()
        start = np.zeros(12, int)
        start[11] = 1
        with self.assertWarnsRegex(sal.SaltusWarning, "2 variables never changed in any chain .10, 11."):
            run = sal.sample(model, "gibbs", draws=400, thin=12, init=start, seed=1)
        self.assertEqual(run.summary["unchanged_variables"], 2)
        self.assertEqual(run.summary["first_unchanged"], [10, 11])
        self.assertEqual(run.summary["stuck_variables"], [10, 11])
        self.assertIn("never changed    2 variables in any chain: 10, 11", repr(run.summary))
        self.assertIn("model.exact()", " ".join(run.summary["warnings"]))
        self.assertIn("model.exact_draws() draws independent states", " ".join(run.summary["warnings"]))

    def test_figures_are_listed(self):
        run = sal.sample("independent-set:nodes=9", anneal=True, draws=20)
        listed = [figure["name"] for figure in sal.list_of("figures")]
        names = [f"{key}.{inner}" for key, value in run.summary.items() if isinstance(value, dict) for inner in value]
        names += [key for key, value in run.summary.items() if not isinstance(value, dict)]
        self.assertIn("ess.min", names)
        self.assertLess(set(names), set(listed))

    def test_stuck_chains_have_an_infinite_rhat(self):
        start = np.zeros((4, 12), int)
        start[:, 10:] = [[0, 1], [1, 0], [0, 1], [1, 0]]
        with self.assertWarns(sal.SaltusWarning):
            run = sal.sample(self.bits_and_pair(), "gibbs", draws=400, thin=12, init=start, seed=1)
        self.assertEqual(run.summary["rhat_max"], np.inf)

    def test_last_states_and_the_same_seed_give_other_draws(self):
        options = dict(chains=4, draws=200, thin=16, seed=0)
        first = sal.sample("bernoulli:dim=16,scale=0", "gibbs", **options)
        following = sal.sample("bernoulli:dim=16,scale=0", "gibbs", init=first.last(), **options)
        # 800 pairs of independent states, each equal with probability 2^-16
        self.assertLess((first.draws == following.draws).all(-1).sum(), 8)


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
    def test_resume_keeps_to_fixed_sums(self):
        def magnetised():
            model = sal.Model("ising:side=4")
            model.fix_sum("spin", 4)
            return model

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.nc")
            whole = sal.sample(magnetised(), draws=200, seed=3)
            sal.sample(magnetised(), draws=100, seed=3, out=path)
            resumed = sal.resume(path, 200)
            np.testing.assert_array_equal(resumed.draws, whole.draws)
            self.assertEqual(resumed.model.blocks[0].total, 4)
            self.assertEqual(set(resumed.values.sum(-1).ravel()), {4})

    def test_resume_of_a_formula_wants_it(self):
        model = sal.Model(sal.spins(4).sum() * 0.1, name="")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.nc"
            sal.sample(model, "gwg", draws=400, out=path, seed=0)
            with self.assertRaisesRegex(sal.ArgumentError, "give model="):
                sal.resume(path, 500)
            sal.sample(sal.Model(sal.spins(4).sum() * 0.1), "gwg", draws=400, seed=0,
                       out=pathlib.Path(folder) / "tape.nc")
            with self.assertRaisesRegex(sal.ArgumentError, "'tape' is no file or ready-made model; give model="):
                sal.resume(pathlib.Path(folder) / "tape.nc", 500)
            self.assertEqual(sal.resume(path, 500, model=model).draws.shape, (4, 500, 4))
            with self.assertRaises(sal.SaltusError):
                sal.resume(path, 600, model=ISING)

    def test_save(self):
        run = sal.sample(ISING, "gwg", draws=500, seed=0)
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
        run = sal.sample(0.1 * s.sum() + 0.2 * c[:, 1].sum(), draws=60, chains=2, seed=0)
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
        self.assertEqual(len(sal.sample(ISING, draws=60, seed=0).plot().axes), 3)


class Interruption(unittest.TestCase):
    def test_progress_sees_all_steps_and_can_stop(self):
        seen = []
        sal.sample(ISING, "gwg", draws=2000, warmup=1000, seed=0,
                   progress=lambda done, total: seen.append((done, total)))
        self.assertEqual(seen[-1], (3000, 3000))
        run = sal.sample(ISING, "gwg", draws=10 ** 7, keep=False, progress=lambda done, total: done < 5000, seed=0)
        self.assertTrue(run.summary["stopped"])

    def test_exceptions_of_progress_come_back_as_themselves(self):
        def progress(done, total):
            raise ZeroDivisionError("mine")

        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            sal.sample(ISING, "gwg", draws=10 ** 7, keep=False, progress=progress, seed=0)

    def test_ctrl_c_keeps_what_there_is(self):
        def progress(done, total):
            if done > 3000:
                os.kill(os.getpid(), signal.SIGINT)

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run = sal.sample(ISING, "gibbs", draws=10 ** 7, keep=False, progress=progress, interrupt="return", seed=0)
        self.assertTrue(run.summary["stopped"])
        self.assertGreater(run.summary["draws"], 0)
        self.assertTrue(any("interrupted" in str(w.message) for w in caught))
        with self.assertRaises(KeyboardInterrupt) as stop:
            sal.sample(ISING, "gibbs", draws=20000, progress=progress, seed=0)
        run = stop.exception.run
        self.assertTrue(run.summary["stopped"])
        self.assertEqual(run.draws.shape, (4, run.summary["draws"], 16))
        whole = sal.sample(ISING, "gibbs", draws=20000, seed=0)
        np.testing.assert_array_equal(run.resume(20000).draws, whole.draws)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_ctrl_c_after_the_last_draw_keeps_the_run(self):
        ask = _run.ask

        def signalled(*arguments):
            os.kill(os.getpid(), signal.SIGINT)
            return ask(*arguments)

        def pressed_twice(*arguments):
            os.kill(os.getpid(), signal.SIGINT)
            return signalled(*arguments)

        for answers in (signalled, pressed_twice, KeyboardInterrupt):  # the last: where nobody notes the signal
            with self.assertRaises(KeyboardInterrupt) as stop, mock.patch.object(_run, "ask", side_effect=answers):
                sal.sample(ISING, "gibbs", draws=30, seed=7)
            run = stop.exception.run
            self.assertEqual((run.draws.shape, run.seed, run.summary["draws"]), ((4, 30, 16), 7, 30))
            with self.assertWarnsRegex(sal.SaltusWarning, "interrupted; the run has 30 draws"), \
                    mock.patch.object(_run, "ask", side_effect=answers):
                run = sal.sample(ISING, "gibbs", draws=30, seed=7, interrupt="return")
            self.assertEqual((run.draws.shape, run.seed, run.summary["draws"]), ((4, 30, 16), 7, 30))
            with self.assertRaises(KeyboardInterrupt) as stop, mock.patch.object(_run, "ask", side_effect=answers):
                run.resume(40)
            self.assertEqual(stop.exception.run.draws.shape, (4, 40, 16))
            self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_ctrl_c_while_warnings_are_given_keeps_the_run(self):
        def shown(*arguments, **_):
            os.kill(os.getpid(), signal.SIGINT)

        with warnings.catch_warnings():
            warnings.simplefilter("always")
            with mock.patch.object(warnings, "showwarning", shown), self.assertRaises(KeyboardInterrupt) as stop:
                sal.sample(ISING, "gibbs", draws=5, seed=7)
        self.assertEqual(stop.exception.run.draws.shape, (4, 5, 16))

    def test_ctrl_c_ends_a_loop(self):
        begun = []

        def progress(done, total):
            os.kill(os.getpid(), signal.SIGINT)

        with self.assertRaises(KeyboardInterrupt):
            for _ in range(3):
                begun.append(True)
                sal.sample(ISING, "gibbs", draws=2000, progress=progress, seed=0)
        self.assertEqual(len(begun), 1)

    def test_ctrl_c_ends_a_comparison(self):
        calls = []

        def progress(done, total):
            calls.append(done)
            if len(calls) > 1 and done < calls[-2]:  # the second sampler
                os.kill(os.getpid(), signal.SIGINT)

        with self.assertRaises(KeyboardInterrupt) as stop:
            sal.compare(ISING, ["gibbs", "gwg", "ncg"], draws=500, progress=progress, seed=4)
        self.assertEqual([s["sampler"] for s in stop.exception.comparison], ["gibbs"])
        self.assertEqual(stop.exception.comparison.seed, 4)
        self.assertEqual(stop.exception.run.summary["sampler"], "gwg")
        calls.clear()
        with self.assertWarnsRegex(sal.SaltusWarning, "interrupted after 1 samplers"):
            table = sal.compare(ISING, ["gibbs", "gwg", "ncg"], draws=500, progress=progress, seed=4,
                                interrupt="return")
        self.assertEqual([s["sampler"] for s in table], ["gibbs"])
        sample = sal.sample
        with mock.patch.object(_run, "sample", side_effect=[sample(ISING, draws=20, seed=0), KeyboardInterrupt]), \
                self.assertRaises(KeyboardInterrupt) as stop:
            sal.compare(ISING, ["gibbs", "gwg"])
        self.assertEqual((len(stop.exception.comparison), stop.exception.run), (1, None))

    def test_a_run_ends_when_its_draws_are_good_enough(self):
        run = sal.sample(ISING, "gibbs", until="ess=100", thin=9, keep=False, seed=0)
        self.assertEqual(run.summary["until"], {"aim": "ess=100", "reached": True})
        self.assertIn(run.summary["draws"], [100 * 2 ** k for k in range(11)])
        self.assertIn("ess=100: reached", str(run))
        with self.assertWarnsRegex(sal.SaltusWarning, "did not come to ess=1e9"):
            run = sal.sample(ISING, "gibbs", until="ess=1e9", draws=50, keep=False, seed=0)
        self.assertFalse(run.summary["until"]["reached"])
        with self.assertRaisesRegex(sal.ArgumentError, "more than 1"):
            sal.sample(ISING, until="rhat=1")

    def test_a_limit_of_time_stops_a_run(self):
        run = sal.sample(ISING, "gibbs", draws=10 ** 6, keep=False, time="1e-9s", seed=0)  # over at once
        self.assertTrue(run.summary["stopped"])
        self.assertLess(run.summary["draws"], 10 ** 6)
        self.assertFalse(sal.sample(ISING, "gibbs", draws=10, time=3600, seed=0).summary["stopped"])
        run = sal.sample(ISING, anneal=True, time=0.2, seed=0)
        self.assertGreaterEqual(run.summary["anneal"]["coolings"], 1)
        for wrong in (0, -1, "soon", "", float("nan"), float("inf"), object(), True, np.True_):
            with self.assertRaisesRegex(sal.ArgumentError, "time .*: expected seconds above 0"):
                sal.sample(ISING, time=wrong)
        with self.assertRaisesRegex(sal.ArgumentError, "anneal_seconds and time"):
            sal.sample(ISING, anneal=True, time=1, anneal_seconds=1)

    def test_seeds_that_are_none(self):
        for wrong in (-1, 2 ** 64, 1.5, "1", True, np.True_, np.array([3]), np.array([3, 4])):
            with self.assertRaisesRegex(sal.ArgumentError, "seed .*expected a whole number from 0 to"):
                sal.sample(ISING, draws=10, seed=wrong)
        for right in (np.int64(3), np.array(3)):
            self.assertEqual(sal.sample(ISING, draws=10, seed=right).seed, 3)

    def test_infinities_of_answers_are_numbers(self):
        text = '{"name": "inf", "model": "-inf", "worst": "-inf", "rates": [1, "inf", ["-inf"]], "texts": ["infer"]}'
        self.assertEqual(json.loads(text, object_hook=_library._with_infinities),
                         {"name": "inf", "model": "-inf", "worst": -np.inf, "rates": [1, np.inf, [-np.inf]],
                          "texts": ["infer"]})

    def test_another_word_for_interrupt(self):
        for call in (sal.sample, sal.compare):
            with self.assertRaisesRegex(sal.ArgumentError, "interrupt 'no'; expected 'raise' or 'return'"):
                call(ISING, interrupt="no")


class Seeds(unittest.TestCase):
    def test_none_is_a_fresh_seed_that_the_run_has(self):
        one, two = (sal.sample(ISING, "gwg", draws=50) for _ in range(2))
        self.assertNotEqual(one.seed, two.seed)
        self.assertTrue((one.draws != two.draws).any())
        again = sal.sample(ISING, "gwg", draws=50, seed=one.seed)
        np.testing.assert_array_equal(again.draws, one.draws)
        self.assertEqual((again.seed, again.summary["seed"]), (one.seed, one.seed))
        self.assertRegex(repr(one), rf"seed +{one.seed}\n")

    def test_a_loop_of_single_draws_has_the_right_mean(self):
        # 4 fair coins, 400 steps of heat bath from the state before: every coin is fair in each step, and independent
        # of the step before, so 1600 coins have a standard error of .0125 and fail here once in 10^9 times.
        fair, x, total = sal.Model(0 * sal.binary(4, name="c").sum()), np.zeros(4), 0
        for _ in range(400):
            x = sal.sample(fair, "gibbs:block=4", chains=1, draws=1, warmup=0, init=x).last()[0]
            total += x.mean()
        self.assertLess(abs(total / 400 - 0.5), 0.077)

    def test_generators_of_numpy(self):
        def draws(seed):
            return sal.sample(ISING, "gwg", draws=20, seed=seed).seed

        for make in (np.random.default_rng, np.random.RandomState):
            generator = make(3)
            found = [draws(generator), draws(generator)]
            generator = make(3)
            self.assertEqual(found, [draws(generator), draws(generator)])
            self.assertNotEqual(*found)
        sequence = np.random.SeedSequence(5)
        self.assertEqual(draws(sequence), draws(sequence))
        self.assertEqual(draws(sequence), int(np.random.SeedSequence(5).generate_state(1, np.uint64)[0]))
        self.assertNotEqual(*(draws(child) for child in sequence.spawn(2)))
        self.assertEqual(draws(2 ** 64 - 1), 2 ** 64 - 1)
        for wrong in ("1", 1.5, -1, 2 ** 64, object()):
            with self.assertRaisesRegex(sal.ArgumentError, "seed .*whole number"):
                draws(wrong)

    def test_a_comparison_has_one_seed(self):
        table = sal.compare(ISING, ["gwg", "gibbs"], draws=50)
        self.assertEqual({s["seed"] for s in table}, {table.seed})
        self.assertNotEqual(table.seed, sal.compare(ISING, ["gwg"], draws=50).seed)

    def test_ranks_have_the_seed_that_rank_0_drew(self):
        def seeds_of(*given):
            """What ranks that share broadcasts make of their seeds."""
            barrier, sent, found = threading.Barrier(len(given)), [], [None] * len(given)

            def at(rank):
                def bcast(value, root):
                    if rank == 0:
                        sent.append(value)
                    barrier.wait()
                    return sent[0]

                found[rank] = _library.seed_of(given[rank], types.SimpleNamespace(rank=rank, bcast=bcast))

            ranks = [threading.Thread(target=at, args=(rank,)) for rank in range(len(given))]
            for rank in ranks:
                rank.start()
            for rank in ranks:
                rank.join()
            return found

        self.assertEqual(len(set(seeds_of(None, None, None))), 1)
        self.assertEqual(len(set(seeds_of(*(np.random.default_rng(rank) for rank in range(3))))), 1)
        self.assertEqual(seeds_of(7, 8), [7, 8])  # which the library refuses
        self.assertEqual(seeds_of(7, None)[0], 7)

    def test_all_that_has_a_seed(self):
        data = sal.Data.digits(30, side=8, seed=1)
        self.assertTrue((sal.Data.digits(30, side=8).codes != sal.Data.digits(30, side=8).codes).any())
        self.assertTrue((data.codes == sal.Data.digits(30, side=8, seed=np.int8(1)).codes).all())
        self.assertNotEqual(ISING.check()["seed"], ISING.check()["seed"])
        small = sal.Model("ising:side=2", dtype="f64")
        proof = small.balance("gwg")
        self.assertEqual(small.balance("gwg", seed=proof["seed"]), proof)


class Meeting(unittest.TestCase):
    def test_the_bound_falls_and_is_that_of_the_library(self):
        times = sal.meeting_times(ISING, "gibbs", pairs=200, seed=1)
        self.assertEqual(times.times.shape, (200,))
        self.assertTrue((times.times > times.lag).all())
        bounds = [times.bound(t) for t in range(300)]
        self.assertEqual(sorted(bounds, reverse=True), bounds)
        self.assertEqual(times.steps_to(0.05), times._answer["steps_05"])
        self.assertEqual(times.bound(times.warmup), times._answer["warmed_up"])
        again = sal.meeting_times(ISING, "gibbs", pairs=200, seed=1, threads=1)
        np.testing.assert_array_equal(again.times, times.times)
        self.assertIn("200 pairs", repr(times))

    def test_pairs_that_do_not_meet_have_no_bound(self):
        times = sal.meeting_times("ising:side=3,theta=3", "gibbs", most_steps=1000, seed=1)
        self.assertGreater(times.not_met, 0)
        self.assertEqual((times.times == -1).sum(), times.not_met)
        self.assertTrue(np.isnan(times.bound(10**9)) and np.isnan(times.steps_to(0.5)))

    def test_what_cannot_be_coupled(self):
        with self.assertRaises(sal.UnsupportedError):
            sal.meeting_times(ISING, "dula")
        for wrong in ({"pairs": 0}, {"lag": -1}, {"most_steps": -1}, {"lag": 100, "most_steps": 50}):
            with self.assertRaises(sal.ArgumentError):
                sal.meeting_times(ISING, "gibbs", **wrong)

    def test_what_progress_raises_comes_back(self):
        def fail(done, total):
            raise KeyError(done)
        with self.assertRaises(KeyError):
            sal.meeting_times(ISING, "gibbs", progress=fail)


class LogZ(unittest.TestCase):
    def test_it_is_near_the_exact_answer(self):
        exact = ISING.exact().log_z
        z = sal.log_z(ISING, error=0.05, seed=1)
        self.assertTrue(z.trusted and z.warning is None)
        self.assertLessEqual(z.error, 0.05)
        self.assertLess(abs(z.log_z - exact), 4 * z.error)
        self.assertEqual(float(z), z.log_z)
        self.assertEqual(sal.log_z(ISING, error=0.05, seed=1, threads=1).log_z, z.log_z)
        self.assertIn("16 ladders", repr(z))

    def test_evidence_clamps_and_counts(self):
        clamped = ISING.clamp({0: 1})
        z = sal.log_z(clamped, seed=1)
        self.assertLess(abs(z.log_z - clamped.exact().log_z), 4 * z.error)
        counts = sal.Model("poisson:dim=2,rate=3")
        z = sal.log_z(counts, log_base=np.log([0.25, 0.75, 0.25, 0.75]), seed=1)
        self.assertLess(abs(z.log_z - 6), 4 * z.error)

    def test_doubt_is_a_warning_in_words_of_python(self):
        with self.assertWarns(sal.SaltusWarning):
            z = sal.log_z("ising:side=12,theta=0.6", sweeps=20, warmup=32, steps=1, seed=1)
        self.assertFalse(z.trusted)
        self.assertNotIn("--", z.warning)
        self.assertIn("not to be trusted", repr(z))

    def test_mistakes(self):
        for wrong in ({"chains": 1}, {"error": 0}, {"sample": 2}, {"log_base": [0.5]}, {"steps": -1}):
            with self.assertRaises(sal.ArgumentError, msg=str(wrong)):
                sal.log_z(ISING, **wrong)
        with self.assertRaises(sal.UnsupportedError):
            sal.log_z(ISING, sampler="dula")

        def fail(done, total):
            raise KeyError(done)
        with self.assertRaises(KeyError):
            sal.log_z(ISING, progress=fail)


class Printing(unittest.TestCase):
    def test_tables(self):
        run = sal.sample(ISING, "gwg", draws=2000, seed=1)
        for text in (repr(run), run._repr_html_()):
            for word in ("gwg", "acceptance rate", "largest R-hat", "ESS"):
                self.assertIn(word, text)


if __name__ == "__main__":
    unittest.main()

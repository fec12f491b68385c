# SPDX-License-Identifier: MIT
"""Runs: draws without copies, bits, files, resuming, options, interruption."""

import gc
import importlib
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
from saltus import _evaluate, _library, _run

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


def needs(*names):
    """Skip where a package is not installed."""

    def wrap(test):
        def wrapped(self):
            try:
                for name in names:
                    importlib.import_module(name)
            except ImportError as error:
                self.skipTest(str(error))
            test(self)

        return wrapped

    return wrap


class Shapes(unittest.TestCase):
    """States and draws have the shape that their block was given."""

    @staticmethod
    def grid(**options):
        s = sal.spins((4, 5), name="spin", **options)
        return sal.Model(0.2 * (s[1:] * s[:-1]).sum() + 0.3 * s[0, 4])

    @staticmethod
    def mixed():
        s = sal.spins((2, 3), name="s", dims=("row", "column"), coords={"column": ["x", "y", "z"]})
        c, o = sal.categorical((2, 2), 3, name="c"), sal.ordinal(2, [0.5, 2], name="o")
        n = sal.ordinal(3, 5, name="n")
        return sal.Model(0.1 * s.sum() + c[..., 1].sum() + o.sum() + 0.1 * n.sum())

    def test_draws_have_the_shape_of_the_block(self):
        model = self.grid()
        run = sal.sample(model, "gwg", chains=2, draws=30, seed=1, track_best=True)
        flat = sal.sample(sal.Model("ising:side=4"), "gwg", chains=2, draws=3, seed=1)
        self.assertEqual((model.shape, flat.model.shape), ((4, 5), (16,)))
        self.assertEqual((flat.draws.shape, flat["spin"].shape), ((2, 3, 16),) * 2)
        self.assertEqual(run.draws.shape, (2, 30, 4, 5))
        self.assertFalse(run.draws.flags.owndata or run.draws.flags.writeable)
        for draws in (run.values, run["spin"], dict(run)["spin"]):
            np.testing.assert_array_equal(draws, 2 * run.draws.astype(int) - 1)
        np.testing.assert_array_equal(run.last(), run.values[:, -1])
        self.assertEqual((run.best()[0].shape, run.last(codes=True).shape), ((4, 5), (2, 4, 5)))
        self.assertEqual((model.exact_draws(3, seed=1).shape, model.decode(np.ones((4, 5)))[0].shape),
                         ((3, 4, 5), (4, 5)))
        for samples in (run, run.draws, run.draws.reshape(2, 30, 20)):
            np.testing.assert_array_equal(_evaluate._sample_rows(samples, 20).codes, run.draws.reshape(60, 20))
        # The sites are in the order of the formula's array.
        energy = 0.2 * (run["spin"][..., 1:, :] * run["spin"][..., :-1, :]).sum((2, 3)) + 0.3 * run["spin"][..., 0, 4]
        np.testing.assert_allclose(energy, run.log_prob, atol=1e-12)

    def test_states_may_be_shaped_or_flat(self):
        model = self.grid()
        states = np.where(np.random.default_rng(0).random((2, 4, 5)) < 0.5, -1, 1)
        flat = states.reshape(2, 20)
        np.testing.assert_array_equal(model.value(states), model.value(flat))
        self.assertEqual((np.shape(model.value(states[0])), model.value(states[0])), ((), model.value(flat[0])))
        self.assertEqual((model.codes(states).shape, model.codes(flat).shape), ((2, 4, 5), (2, 20)))
        np.testing.assert_array_equal(model.values(model.codes(states)), states)
        runs = [sal.sample(model, "gwg", chains=2, draws=5, warmup=0, init=init, seed=1).draws
                for init in (states, flat, {"spin": states})]
        self.assertTrue((runs[0] == runs[1]).all() and (runs[0] == runs[2]).all())
        self.assertLessEqual((model.values(runs[0][:, 0]) != states).sum(), 2)
        one = sal.sample(model, "gwg", chains=2, draws=1, warmup=0, init=states[0], seed=1).values[:, 0]
        self.assertLessEqual((one != states[0]).sum(), 2)
        with self.assertRaisesRegex(sal.ShapeError, r"expected the shape \(.., 4, 5\) or \(.., 20\); found \(5, 4\)"):
            model.value(np.ones((5, 4)))
        chain = sal.Chain(model, "gibbs", chains=2, warmup=0, seed=1)
        chain.state = states
        np.testing.assert_array_equal(chain.state, states)
        self.assertEqual(chain.codes.shape, (2, 4, 5))

    def test_states_by_block(self):
        model = self.mixed()
        run = sal.sample(model, "gibbs", chains=2, draws=20, seed=0)
        self.assertEqual(list(run), ["s", "c", "o", "n"])
        self.assertIn("c", run)
        self.assertEqual([run[name].shape for name in run], [(2, 20, 2, 3), (2, 20, 2, 2), (2, 20, 2), (2, 20, 3)])
        self.assertEqual([run[name].dtype.kind for name in run], ["i", "i", "f", "i"])
        np.testing.assert_allclose(model.value(dict(run)), run.log_prob, atol=1e-12)
        np.testing.assert_array_equal(model.codes(dict(run)), run.draws)
        with self.assertRaisesRegex(KeyError, "the blocks are: s, c, o, n"):
            run["t"]
        with self.assertRaisesRegex(sal.ArgumentError, "an array for each block, of s, c, o, n; found those of s"):
            model.value({"s": np.ones((2, 3))})
        with self.assertRaisesRegex(sal.ShapeError, "block 's': expected the shape"):
            model.value({**dict(run), "s": run["s"][..., 0]})
        with self.assertRaisesRegex(sal.ShapeError, "different numbers of states"):
            model.value({**dict(run), "s": run["s"][0]})

    def test_models_count_their_unnamed_blocks(self):
        one, two, bits = sal.spins(2), sal.spins(3), sal.binary(2)
        for expected in (["spin0", "spin1", "binary0"],) * 2:
            model = sal.Model(one.sum() + two.sum() + bits.sum())
            self.assertEqual([block.name for block in model.blocks], expected)
        self.assertEqual([block.name for block in sal.Model(two.sum()).blocks], ["spin0"])
        named = sal.spins(2, name="spin0")
        self.assertEqual([block.name for block in sal.Model(one.sum() + named.sum()).blocks], ["spin1", "spin0"])
        function = sal.Model.from_function(lambda x: x.sum(1), two, sal.spins((2, 2)))
        self.assertEqual([(block.name, block.shape) for block in function.blocks], [("spin0", (3,)), ("spin1", (2, 2))])

    def test_dims_and_coords(self):
        model = self.mixed()
        self.assertEqual([block.dims for block in model.blocks],
                         [("row", "column"), ("c_dim_0", "c_dim_1"), ("o_site",), ("n_site",)])
        self.assertEqual(list(model.blocks[0].coords["column"]), ["x", "y", "z"])
        ready = sal.Model("ising:side=2", dims={"spin": ["node"]}, coords={"node": list("abcd")})
        self.assertEqual((ready.blocks[0].dims, list(ready.blocks[0].coords["node"])), (("node",), list("abcd")))
        ready.fix_sum("spin", 0)
        self.assertEqual(ready.blocks[0].dims, ("node",))
        clamped = self.grid(dims=("row", "column"), coords={"row": range(4)}).clamp({0: 1})
        self.assertEqual((clamped.shape, clamped.blocks[0].dims), ((19,), ("spin_site",)))
        self.assertEqual([block.shape for block in model.clamp({0: 1}).blocks], [(5,), (2, 2), (2,), (3,)])
        for error, wrong in (("expected 2 different names", {"dims": ["row"]}),
                             ("expected 2 different names", {"dims": ["row", "row"]}),
                             ("coords of 'line'; its dims are", {"dims": ["row", "column"], "coords": {"line": [1]}}),
                             ("has .2,. labels; expected .4,.", {"dims": ["row", "column"], "coords": {"row": [1, 2]}}),
                             ("'draw' is the name of a block or of an axis", {"dims": ["draw", "column"]}),
                             ("'spin' is the name of a block or of an axis", {"dims": ["spin", "column"]})):
            with self.subTest(wrong), self.assertRaisesRegex(sal.ArgumentError, error):
                self.grid(**wrong)
        for error, wrong in (("there is no block 'spine'", {"dims": {"spine": ["node"]}}),
                             ("there is no axis 'node'", {"coords": {"node": [1, 2, 3, 4]}})):
            with self.subTest(wrong), self.assertRaisesRegex(sal.ArgumentError, error):
                sal.Model("ising:side=2", **wrong)
        a, b = sal.spins(2, name="a", dims=["k"]), sal.spins(3, name="b", dims=["k"])
        with self.assertRaisesRegex(sal.ArgumentError, "'k' is an axis of 2 and of 3"):
            sal.Model(a.sum() + b.sum())
        a = sal.spins(2, name="a", dims=["k"], coords={"k": [1, 2]})
        b = sal.spins(2, name="b", dims=["k"], coords={"k": [1, 3]})
        with self.assertRaisesRegex(sal.ArgumentError, "other labels in block 'b'"):
            sal.Model(a.sum() + b.sum())


class Tables(unittest.TestCase):
    """Draws for xarray, ArviZ and pandas."""

    @needs("xarray")
    def test_data_sets_have_shapes_dims_and_labels(self):
        run = sal.sample(Shapes.mixed(), "gibbs", chains=2, draws=20, seed=0)
        data = run.to_xarray()
        self.assertEqual(data["s"].dims, ("chain", "draw", "row", "column"))
        self.assertEqual(list(data["column"].values), ["x", "y", "z"])
        np.testing.assert_array_equal(data["s"].sel(column="y"), run["s"][..., 1])
        self.assertEqual([data[name].dtype.kind for name in ("s", "c", "o", "n")], ["i", "i", "f", "i"])
        for name in ("created_at", "inference_library", "inference_library_version", "seed", "model", "sampler"):
            self.assertIn(name, data.attrs)
        with mock.patch.dict("sys.modules", xarray=None), self.assertRaisesRegex(ImportError, "to_xarray needs xarray"):
            run.to_xarray()

    @needs("xarray")
    def test_a_tree_has_the_groups(self):
        import xarray
        run = sal.sample(Shapes.mixed(), "gibbs", chains=2, draws=20, seed=0)
        if hasattr(xarray, "DataTree"):
            tree = run.to_datatree()
            self.assertEqual(set(tree.children), {"posterior", "sample_stats"})
            np.testing.assert_array_equal(tree["posterior"]["s"], run["s"])
            np.testing.assert_array_equal(tree["sample_stats"]["lp"], run.log_prob)
        with mock.patch.object(xarray, "DataTree", types.SimpleNamespace(from_dict=dict), create=True):
            self.assertEqual(list(run.to_datatree()), ["posterior", "sample_stats"])
        with mock.patch.dict("sys.modules", xarray=types.SimpleNamespace(__version__="2023.1")), \
                self.assertRaisesRegex(ImportError, "needs xarray 2024.10 or newer; found 2023.1"):
            run.to_datatree()

    @needs("xarray", "netCDF4")
    def test_files_are_not_replaced_unasked(self):
        import xarray
        run = sal.sample(Shapes.mixed(), "gibbs", chains=2, draws=20, seed=0)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.nc"
            run.to_netcdf(path)
            for group in ("posterior", "sample_stats"):
                with xarray.open_dataset(path, group=group) as stored:
                    found = stored.load()
                for name, values in run.to_xarray(group).variables.items():
                    np.testing.assert_array_equal(found[name].values, values.values)
                    # Texts: objects from older releases of xarray, fixed width since NumPy 2.
                    self.assertIn(found[name].dtype.kind, "OU" if name == "column" else values.dtype.kind)
            before = path.read_bytes()
            with self.assertRaisesRegex(sal.FileError, "run.nc: the file exists; give overwrite=True"):
                run.to_netcdf(path)
            self.assertEqual(path.read_bytes(), before)
            sal.sample(Shapes.mixed(), "gibbs", chains=2, draws=30, seed=0).to_netcdf(path, overwrite=True)
            with xarray.open_dataset(path, group="posterior") as stored:
                self.assertEqual(stored.sizes["draw"], 30)
            with self.assertRaisesRegex(sal.FileError, "writing failed"):
                run.to_netcdf(os.path.join(folder, "no", "run.nc"))
            with mock.patch.object(_run, "_netcdf_engine", side_effect=ImportError("none")), \
                    self.assertRaises(ImportError):
                run.to_netcdf(os.path.join(folder, "other.nc"))
            with mock.patch.object(xarray.Dataset, "to_netcdf", side_effect=OSError(28, "No space left")), \
                    self.assertRaisesRegex(sal.FileError, "other.nc: writing failed: No space left"):
                run.to_netcdf(os.path.join(folder, "other.nc"))
            self.assertEqual(os.listdir(folder), ["run.nc"])

    @needs("pandas")
    def test_a_data_frame_has_a_row_for_each_draw(self):
        run = sal.sample(Shapes.mixed(), "gibbs", chains=2, draws=20, seed=0)
        frame = run.to_dataframe()
        self.assertEqual((frame.shape, frame.index.names), ((40, 1 + 6 + 4 + 2 + 3), ["chain", "draw"]))
        self.assertEqual(list(frame.columns[:3]), ["lp", "s[0, x]", "s[0, y]"])
        np.testing.assert_array_equal(frame["s[1, z]"].unstack(), run["s"][..., 1, 2])
        np.testing.assert_array_equal(frame["lp"].loc[1], run.log_prob[1])
        self.assertEqual(frame["c[0, 1]"].dtype.kind, "i")


class Pictures(unittest.TestCase):
    @needs("matplotlib")
    def test_panels(self):
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        def titles(figure):
            figure.canvas.draw()
            plt.close(figure)
            return [axes.get_title() for axes in figure.axes if axes.get_title()]

        run = sal.sample(Shapes.grid(), "gwg", draws=60, seed=0)
        with mock.patch.object(plt, "show", side_effect=AssertionError):
            self.assertEqual(titles(run.plot())[:6], ["trace", "ranks of f", "autocorrelation", "trace",
                                                      "ranks of mean of spin", "autocorrelation"])
        self.assertEqual(titles(run.plot("trace", block="spin")), ["trace"])
        self.assertEqual(len(titles(run.plot("pictures"))), 10)
        labels = [axes.get_ylabel() + axes.get_xlabel() for axes in run.plot("trace").axes]
        self.assertEqual(labels, ["f (nats)draw", "mean of spindraw"])
        self.assertEqual(len(titles(sal.sample(ISING, draws=60, seed=0).plot(shape=(4, 4)))), 6 + 10)
        self.assertEqual(len(titles(sal.sample(ISING, draws=60, seed=0, keep=False).plot())), 3)
        self.assertEqual(titles(sal.sample(ISING, draws=60, chains=9, seed=0).plot("ranks"))[0],
                         "ranks of f (7 of 9 chains)")
        titles(sal.sample(ISING, draws=1, chains=1, seed=0).plot())
        titles(sal.sample(Shapes.mixed(), "gibbs", draws=30, seed=0).plot())
        colour = sal.categorical((4, 4), 3, name="colour")
        titles(sal.sample(sal.Model(colour[..., 0].sum()), draws=30, seed=0).plot())
        for error, wrong in (("kind 'traces'; expected 'trace'", {"kind": "traces"}), ("no block 't'", {"block": "t"}),
                             ("no block is a picture", {"kind": "pictures", "shape": (3, 3)})):
            with self.assertRaisesRegex(sal.ArgumentError, error):
                run.plot(**wrong)
        with self.assertRaisesRegex(sal.ArgumentError, "keep=True"):
            sal.sample(Shapes.grid(), draws=60, seed=0, keep=False).plot("pictures")
        plt.close("all")

    @needs("matplotlib")
    def test_autocorrelation_is_that_of_its_definition(self):
        from saltus._plot import autocorrelation
        row = np.random.default_rng(0).normal(size=50).cumsum()
        centred = row - row.mean()
        expected = [(centred[:50 - k] * centred[k:]).sum() / (centred ** 2).sum() for k in range(50)]
        np.testing.assert_allclose(autocorrelation(row), expected, atol=1e-12)
        self.assertIsNone(autocorrelation(np.ones(5)))

    def test_a_missing_package_is_named(self):
        run = sal.sample(ISING, draws=10, seed=0)
        for name, method in (("matplotlib", run.plot), ("pandas", run.to_dataframe), ("xarray", run.to_datatree)):
            with mock.patch.dict("sys.modules", {name: None}), \
                    self.assertRaisesRegex(ImportError, f"{method.__name__} needs {name}, which is not installed"):
                method()


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
        self.assertLess(abs(z.entropy - ISING.exact().entropy), 4 * z.entropy_error)
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
    def test_the_verdict_comes_first(self):
        good = sal.sample(ISING, "gibbs", thin=16, draws=1000, seed=1)
        self.assertRegex(repr(good).splitlines()[1], r"^Nothing speaks against these draws: R-hat is at most 1\.0")
        self.assertTrue(good._repr_html_().startswith("<p><b>Nothing speaks against"))
        with self.assertWarns(sal.SaltusWarning):
            bad = sal.sample("ising:side=6,theta=1", "gwg", draws=200, seed=1)
        lines = repr(bad).splitlines()
        self.assertEqual(lines[1], "These draws are NOT to be trusted, for 1 reason:")
        self.assertTrue(lines[2].startswith("warning: Nothing moved"))
        self.assertRegex(bad._repr_html_(), "^<p><b>These draws are NOT .*</b></p><ul><li>Nothing moved.*</ul><table>")
        few = sal.Summary({"warnings": [], "seed": "1", "draws": 2, "ess": {"min": None}, "rhat_max": None})
        self.assertIn("is not known", few.verdict)
        self.assertEqual(sal.Summary(dict(few, draws=0)).verdict, "There are no draws to judge.")

    def test_tables(self):
        run = sal.sample(ISING, "gwg", draws=2000, seed=1)
        for text in (repr(run), run._repr_html_()):
            for word in ("gwg", "acceptance rate", "largest R-hat", "ESS"):
                self.assertIn(word, text)


if __name__ == "__main__":
    unittest.main()

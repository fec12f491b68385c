# SPDX-License-Identifier: MIT
"""Models: values, exact answers, clamping, files, and Python functions as energies."""

import copy
import gc
import gzip
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
import weakref

import numpy as np

import saltus as sal

DATA = os.environ.get("SALTUS_DATA", str(pathlib.Path(os.environ["SALTUS_SOURCE_DIR"]).parent / "shared"))


def all_states(model):
    """All states by code."""
    sizes = [block.states for block in model.blocks for _ in range(block.count)]
    return np.stack(np.meshgrid(*[np.arange(n) for n in sizes], indexing="ij"), axis=-1).reshape(-1, len(sizes))


class Values(unittest.TestCase):
    def setUp(self):
        s, c = sal.spins(3, name="s"), sal.categorical(2, 3, name="c")
        self.weights = np.random.default_rng(0).normal(size=(2, 3))
        self.model = sal.Model(s[0] * s[1] * s[2] + sal.exp(0.3 * (c * self.weights).sum()) * s[0])

    def test_states_by_value_and_by_code(self):
        model = self.model
        codes = all_states(model)
        self.assertEqual(len(codes), 72)
        values = model.values(codes)
        np.testing.assert_array_equal(model.codes(values), codes)
        np.testing.assert_array_equal(values[:, :3], 2 * codes[:, :3] - 1)
        f = model.value(values)
        np.testing.assert_array_equal(f, model.value(codes, codes=True))
        score = self.weights[0, codes[:, 3]] + self.weights[1, codes[:, 4]]
        np.testing.assert_allclose(f, values[:, :3].prod(1) + np.exp(0.3 * score) * values[:, 0], rtol=1e-13)
        self.assertIsInstance(model.value(values[0]), float)
        self.assertEqual(model.value(values.reshape(8, 9, 5)).shape, (8, 9))

    def test_codes_are_int32(self):
        for block in (sal.spins(2), sal.binary(2), sal.counts(2), sal.ordinal(2, [0.0, 0.5, 1.0])):
            self.assertEqual(sal.Model(block.sum()).codes([1, 1]).dtype, np.int32, block)

    def test_differences_are_exact(self):
        model = self.model
        codes = all_states(model)[::5]
        differences, f = model.differences(codes, codes=True), model.value(codes, codes=True)
        self.assertEqual(differences.shape, (len(codes), 3 * 2 + 2 * 3))
        entry = 0
        for v, states in enumerate([2, 2, 2, 3, 3]):
            for k in range(states):
                moved = codes.copy()
                moved[:, v] = k
                np.testing.assert_allclose(differences[:, entry], model.value(moved, codes=True) - f, atol=1e-12)
                entry += 1

    def test_gradient(self):
        values = self.model.values(all_states(self.model)[[3, 50]])
        self.assertEqual(self.model.gradient(values).shape, (2, 9))
        self.assertEqual(self.model.gradient(values[0]).shape, (9,))
        np.testing.assert_allclose(self.model.gradient(values)[:, 1], values[:, 0] * values[:, 2])

    def test_values_have_signs(self):
        model = sal.Model(sal.binary(3).sum() * 0)
        values = sal.sample(model, "gibbs", draws=50, seed=0).values
        self.assertEqual(np.unique(values[..., 0] - values[..., 1]).tolist(), [-1, 0, 1])
        with self.assertRaisesRegex(sal.ArgumentError, "no code 5"):
            model.values([5, 0, 0])

    def test_codes_do_not_wrap(self):
        for wrong in (2 ** 32, -1, 2 ** 63):
            with self.assertRaisesRegex(sal.ArgumentError, "is no code"):
                self.model.value(np.array([wrong, 0, 0, 0, 0], dtype=np.int64 if wrong < 2 ** 63 else np.uint64), codes=True)
        with self.assertRaises(sal.ArgumentError):
            self.model.clamp({3: 2 ** 40}, codes=True)

    def test_wrong_states(self):
        with self.assertRaisesRegex(sal.ShapeError, r"expected the shape \(.., 5\)"):
            self.model.value([1, 2])
        with self.assertRaisesRegex(sal.ArgumentError, "block 's' .spin.: 0 is not a value of it; expected -1 or 1"):
            self.model.value([0, 1, 1, 0, 0])
        with self.assertRaisesRegex(sal.ArgumentError, "nan is not a value"):
            self.model.value([np.nan, 1, 1, 0, 0])
        with self.assertRaisesRegex(sal.ArgumentError, "expected integers"):
            self.model.value([0.5, 1, 1, 0, 0], codes=True)
        with self.assertRaises(sal.ArgumentError):
            self.model.value([0, 0, 0, 0, 7], codes=True)

    def test_exact_answers(self):
        codes = all_states(self.model)
        f = self.model.value(codes, codes=True)
        exact = self.model.exact()
        self.assertAlmostEqual(exact.log_z, np.log(np.exp(f).sum()), 10)
        p = np.exp(f - exact.log_z)
        for v, marginal in enumerate(exact.marginals):
            expected = [p[codes[:, v] == k].sum() for k in range(len(marginal))]
            np.testing.assert_allclose(marginal, expected, atol=1e-12)
        with self.assertRaisesRegex(sal.SaltusError, "limit"):
            self.model.exact(limit=-1)
        with self.assertRaisesRegex(sal.NotFoundError, "did you mean 'limit'"):
            self.model.exact(limits=3)

    def test_exact_draws(self):
        codes = self.model.exact_draws(20000, seed=1, codes=True)
        self.assertEqual(codes.shape, (20000, self.model.variables))
        for v, marginal in enumerate(self.model.exact().marginals):
            found = np.bincount(codes[:, v], minlength=len(marginal)) / 20000
            np.testing.assert_allclose(found, marginal, atol=0.02)
        np.testing.assert_array_equal(self.model.exact_draws(100, seed=1), self.model.values(codes[:100]))
        self.assertEqual(self.model.clamp({0: -1}).exact_draws(3).shape, (3, self.model.variables - 1))
        with self.assertRaisesRegex(sal.ArgumentError, "0 draws; expected 1 or more"):
            self.model.exact_draws(0)
        with self.assertRaisesRegex(sal.UnsupportedError, "no exact draws"):
            sal.Model("poisson:dim=3").exact_draws(1)

    def test_clamp(self):
        clamped = self.model.clamp({0: -1, 4: 2})
        self.assertEqual(clamped.variables, 3)
        self.assertAlmostEqual(clamped.value([1, -1, 0]), self.model.value([-1, 1, -1, 0, 2]))
        del self.model
        gc.collect()
        clamped.value([1, -1, 0])
        with self.assertRaises(sal.ArgumentError):
            clamped.clamp({9: 1})

    def test_fix_sum(self):
        model = sal.Model("ising:side=3", dtype="f64")
        model.fix_sum("spin", -7)
        self.assertEqual(model.blocks[0].total, -7)
        self.assertEqual(model.info["blocks"][0]["sum"], -7)
        self.assertAlmostEqual(model.exact().log_z, np.log(9) + 0.2 * 2 * (18 - 8))
        self.assertNotIn("gwg", model.samplers)
        self.assertIn("exchange", model.samplers)
        with self.assertRaises(sal.NotFoundError):
            model.fix_sum("x", 1)
        with self.assertRaisesRegex(sal.ArgumentError, "expected an odd number from -9 to 9"):
            model.fix_sum(model.blocks[0], 0)
        clamped = model.clamp({0: 1})
        with self.assertRaisesRegex(sal.ArgumentError, "fix the sum first, then clamp"):
            clamped.fix_sum("spin", 0)
        with self.assertRaisesRegex(sal.ArgumentError, "is in use"):
            model.fix_sum("spin", 1)
        self.assertEqual(model.blocks[0].total, -7)
        function = sal.Model.from_function(lambda x: x.sum(-1), sal.binary(4, name="b"))
        function.fix_sum("b", 3)
        self.assertAlmostEqual(function.exact().log_z, np.log(4) + 3)

    def test_check_and_balance(self):
        checks = self.model.check(seed=0)
        self.assertLess(checks["gradient_error"], 1e-6)
        balance = self.model.balance("gwg", seed=0)
        self.assertLess(balance["invariance"], 1e-12)
        self.assertLess(balance["frequency"], 5)

    def test_single_precision(self):
        s = sal.binary(2)
        f = s[0] - s[1] / 2 + s[0] * s[1]
        plain = sal.Model(f)
        for large in (f - 3e7, -3e7 + f, (2 * f - 6e7) / 2, (f - 3e7).sum()):
            model = sal.Model(large, dtype="f32")
            self.assertEqual(model.check(seed=0), sal.Model(large).check(seed=0))
            np.testing.assert_allclose(model.value(all_states(model)), plain.value(all_states(plain)) - 3e7, rtol=0, atol=1e-6)
            self.assertAlmostEqual(model.exact().log_z, plain.exact().log_z - 3e7, 5)
            np.testing.assert_allclose(model.exact().marginals, plain.exact().marginals, rtol=0, atol=1e-6)
            run = sal.sample(model, "gwg", draws=20000, thin=2, seed=1)
            self.assertFalse(run.summary["warnings"])
            np.testing.assert_allclose(run.marginals(), plain.exact().marginals, rtol=0, atol=0.02)
        with self.assertWarnsRegex(sal.SaltusWarning, "single precision rounds it by up to"):
            sal.sample(sal.Model(f + 1e7 * sal.exp(s - s * s).sum(), dtype="f32"), "gibbs", draws=100)
        with self.assertWarnsRegex(sal.SaltusWarning, "log Z and logarithms"):
            self.assertGreater(sal.Model(f + 1e7 * sal.exp(s - s * s).sum(), dtype="f32").exact().rounding, 0.05)

    def test_gradients_that_are_nan(self):
        model = sal.Model.from_function(lambda x: x.sum(1), sal.binary(2), gradient=lambda x: x * 0 + [1.0, np.nan])
        with self.assertRaisesRegex(sal.ModelError, "in coordinate 1 at state [01] [01], the gradient is NaN"):
            model.check()

    def test_closed_objects_say_so(self):
        self.model._handle.close()
        self.model._handle.close()
        with self.assertRaisesRegex(sal.ArgumentError, "closed"):
            self.model.value([1, 1, 1, 0, 0])


class Parameters(unittest.TestCase):
    def setUp(self):
        s = sal.spins(3)
        self.model = sal.Model((sal.param("b", 3) * s).sum() + (sal.param("W", (2, 3)) @ s).sum())
        self.model.params.update(b=[1, 2, 3], W=np.arange(6).reshape(2, 3))

    def test_writing_into_what_was_read_is_an_error_and_not_lost(self):
        params = self.model.params
        before = params.flat.copy()
        read = params["W"]

        def write_item(array): array[0, 0] = 9
        def write_row(array): array[1][2] = 9
        def write_all(array): array[...] = 0
        def write_flat(array): array.reshape(-1)[0] = 9
        def add(array): array += 1
        def multiply_row(array): array[0] *= 2
        def out(array): np.add(array, 1, out=array)
        def at(array): np.add.at(array, (0, 0), 1)
        def copy_to(array): np.copyto(array, 0)
        def fill(array): array.fill(0)
        def sort(array): array.sort()

        for write in (write_item, write_row, write_all, write_flat, add, multiply_row, out, at, copy_to, fill, sort):
            with self.subTest(write.__name__), self.assertRaises(ValueError):
                write(read)
        with self.assertRaises(ValueError):
            params["b"] += 1
        with self.assertRaises(ValueError):
            params.flat[0] = 7
        with self.assertRaises(ValueError):
            np.asarray(read)[0] = 1
        np.testing.assert_array_equal(params.flat, before)
        np.testing.assert_array_equal(read, np.arange(6).reshape(2, 3))
        with self.assertRaisesRegex(sal.ArgumentError, r"set the parameter, by model.params\['W'\] = values"):
            read[0] = 1
        with self.assertRaisesRegex(sal.ArgumentError, "model.params.flat = values"):
            params.flat[0] += 1

    def test_what_was_read_is_otherwise_an_ordinary_array(self):
        read = self.model.params["W"]
        for result in (read + 1, read.copy(), np.exp(read), read @ np.ones(3), copy.deepcopy(read), copy.copy(read),
                       pickle.loads(pickle.dumps(read))):
            self.assertIs(type(result), np.ndarray)
            result[...] = 0
        self.assertEqual(read.sum(), 15)
        self.assertEqual(float(read.mean()), 2.5)
        self.assertEqual(repr(read), repr(np.arange(6.0).reshape(2, 3)))
        total = np.zeros(3)
        total += read[1]
        np.testing.assert_array_equal(total, [3, 4, 5])
        self.assertEqual((sal.Model((read @ sal.spins(3)).sum()).value([1, 1, 1])), 15)

    def test_several_are_set_at_once_or_none(self):
        params = self.model.params
        params.update({"b": [3, 2, 1]}, W=0)
        self.assertEqual(params.flat.tolist(), [3, 2, 1] + [0] * 6)
        for wrong, error in (({"b": [1, 1, 1], "c": 1}, KeyError), ({"b": [1, 1, 1], "W": [1, 2]}, sal.ShapeError),
                             ({"b": [1, 1, 1], "W": "text"}, sal.ArgumentError)):
            with self.assertRaises(error):
                params.update(wrong)
            self.assertEqual(params.flat.tolist(), [3, 2, 1] + [0] * 6)
        other = sal.Model((sal.param("b", 3) * sal.spins(3)).sum())
        params.update(other.params)
        np.testing.assert_array_equal(params["b"], 0)

    def test_values_are_broadcast_as_numpy_does(self):
        params = self.model.params
        for value in (2.5, [1, 2, 3], [[1], [2]], np.float32(1), True):
            params["W"] = value
            np.testing.assert_array_equal(params["W"], np.broadcast_to(value, (2, 3)))
        for value in ([1, 2], np.ones((3, 2)), np.ones((1, 2, 3))):
            with self.assertRaises(sal.ShapeError):
                params["W"] = value

    def test_attributes_are_no_way_to_set_them(self):
        with self.assertRaisesRegex(AttributeError, "params.update"):
            self.model.params = {"b": [0, 0, 0]}
        with self.assertRaisesRegex(AttributeError, r"model.params\['b'\] = values"):
            self.model.params.b = [0, 0, 0]

    def test_arrays_of_other_kinds_are_read_right_or_refused(self):
        class Sparse:  # as those of SciPy
            nnz = 2

            def toarray(self):
                return np.eye(2, 3)

        class Tensor:  # as those of PyTorch that require a gradient
            requires_grad = True

            def detach(self): return self
            def cpu(self): return np.ones(3)
            def __array__(self, *_): raise RuntimeError("Can't call numpy() on Tensor that requires grad.")

        model, params = self.model, self.model.params
        params["W"], params["b"] = Sparse(), Tensor()
        self.assertEqual(params.flat.tolist(), [1, 1, 1, 1, 0, 0, 0, 1, 0])
        self.assertEqual(model.value(Tensor()), 5)
        np.testing.assert_array_equal(sal.Data(Sparse()).codes, np.eye(2, 3))
        some, all_there = np.ma.masked_array([1.0, 1, 1], [0, 1, 0]), np.ma.masked_array([1.0, 1, 1])
        for read in (lambda x: params.__setitem__("b", x), lambda x: params.__setitem__("W", x), model.value,
                     lambda x: params.update(b=x), model.value_at, lambda x: sal.Data([x]) if x is some else None,
                     lambda x: sal.Data(x[None]), lambda x: sal.Data(np.ones((3, 1)), weight=x),
                     lambda x: sal.sample(model, init=x, draws=1, warmup=0), lambda x: sal.param("c", value=x),
                     lambda x: setattr(params, "flat", np.ma.concatenate([x, x, x]))):
            read(all_there)
            with self.assertRaisesRegex(sal.ArgumentError, "masked"):
                read(some)
        for wrong in (["1", "2", "3"], [None, 1, 2], [1j, 1, 2], np.array(["a"] * 3), [[1], [1, 2]], sal.spins(3)):
            with self.assertRaises(sal.ArgumentError):
                params["b"] = wrong
        params["b"] = [2 ** 70, 1, 2]
        self.assertEqual(params["b"][0], 2.0 ** 70)


class Factors(unittest.TestCase):
    def test_tables(self):
        generator = np.random.default_rng(0)
        states = [2, 3, 2]
        tables = [((0, 1), generator.normal(size=(2, 3))), ((2,), generator.normal(size=2)),
                  ((2, 0), generator.normal(size=(2, 2)))]
        model = sal.Model.from_factors(states, tables)
        codes = all_states(model)
        expected = [sum(table[tuple(s[v] for v in scope)] for scope, table in tables) for s in codes]
        np.testing.assert_allclose(model.value(codes, codes=True), expected, rtol=1e-13)
        self.assertAlmostEqual(sal.exact(model).log_z, np.log(np.exp(expected).sum()), 12)
        self.assertLess(sal.check(model, seed=0)["gradient_error"], 1e-6)
        for wrong in ([((0, 1), np.zeros((3, 2)))], [((0, 9), np.zeros((2, 3)))], [((0, 0), np.zeros((2, 2)))],
                      [((0,), [0, np.nan])]):
            with self.assertRaises(sal.SaltusError):
                sal.Model.from_factors(states, wrong)


class Files(unittest.TestCase):
    def test_save_and_read(self):
        s = sal.binary(5)
        model = sal.Model(s @ sal.param("W", value=np.eye(5)) @ s)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m.xml"
            model.save(path)
            self.assertEqual(sal.read(path).value([1, 1, 0, 0, 1]), 3)
            model.params["W"] = np.zeros((5, 5))
            model.params.load(path.with_suffix(".safetensors"))
            self.assertEqual(model.value([1, 1, 0, 0, 1]), 3)
            packed = path.with_suffix(".safetensors.gz")
            packed.write_bytes(gzip.compress(path.with_suffix(".safetensors").read_bytes()))
            model.params["W"] = np.zeros((5, 5))
            model.params.load(packed)
            self.assertEqual(model.value([1, 1, 0, 0, 1]), 3)
            for file in (packed, path.with_suffix(".safetensors")):
                with self.assertRaisesRegex(sal.ArgumentError, "holds parameters of a model"):
                    sal.read(file)
        with self.assertRaises(sal.NotFoundError):
            sal.read("/nowhere/net.uai")

    def test_remarks_and_samples_of_evidence(self):
        with tempfile.TemporaryDirectory() as place:
            net, evidence = os.path.join(place, "p.uai"), os.path.join(place, "two.evid")
            pathlib.Path(net).write_text("BAYES 2 2 2 2 1 0 2 0 1 2 .3 .7 4 .1 .2 .9 .8")  # as pgmpy writes
            pathlib.Path(evidence).write_text("2  1 1 0  2 0 1 1 1")
            with self.assertWarnsRegex(sal.SaltusWarning, "p.uai: its tables are read with the first variable"):
                model = sal.read(net)
            self.assertIn("pgmpy", model.info["remark"])
            np.testing.assert_allclose(model.exact().marginals[0], [.3, .7], atol=1e-12)
            log_z = np.log(.3 * .1 + .7 * .2)
            self.assertAlmostEqual(model.observe(evidence, sample=1).exact().log_z, log_z, 12)
            self.assertAlmostEqual(model.exact(evidence, sample=1).log_z, log_z, 12)
            state = model.exact(evidence=evidence, sample=2)
            self.assertAlmostEqual(state.log_z, np.log(.7 * .8), 12)
            self.assertEqual(state.entropy, 0)
            np.testing.assert_array_equal(state.marginals, [[0, 1], [0, 1]])
            for call in (model.exact, lambda sample: sal.exact(model, sample=sample), lambda sample: sal.read(net, sample=sample)):
                with self.assertRaisesRegex(sal.ArgumentError, "sample 2 chooses a sample of `evidence`, which is not"):
                    call(sample=2)
            with self.assertRaisesRegex(sal.ArgumentError, "holds 2 samples of evidence"):
                model.observe(evidence)
            for call in (model.observe, lambda evidence, sample: sal.read(net, evidence=evidence, sample=sample)):
                with self.assertRaisesRegex(sal.ArgumentError, r"nothing to sample.*\(model\.exact\(evidence=\.\.\)\)"), \
                        warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    call(evidence, sample=2)
            with self.assertWarns(sal.SaltusWarning):
                read = sal.read(net, evidence=evidence, sample=1)
            self.assertEqual(read.variables, 1)

    def test_network_with_evidence(self):
        nets = sorted(pathlib.Path(DATA).glob("data/**/*.uai"))
        evidence = [net for net in nets if pathlib.Path(str(net) + ".evid").exists()
                    and pathlib.Path(str(net) + ".evid").read_text().split()[:1] not in ([], ["0"])]
        if not evidence:
            self.skipTest(f"no networks with evidence in {DATA}")
        net = min(evidence, key=lambda path: path.stat().st_size)
        free, fixed = sal.read(net), sal.read(net, evidence=str(net) + ".evid")
        self.assertLess(fixed.variables, free.variables)
        self.assertLess(fixed.exact(memory=2 ** 32).log_z, 0)  # the evidence's log-probability


class Functions(unittest.TestCase):
    def test_batches_and_gradient(self):
        sizes = []

        def f(x):
            sizes.append(len(x))
            return x @ np.arange(4.0)

        model = sal.Model.from_function(f, sal.binary(2), sal.spins(2), gradient=lambda x: np.tile(np.arange(4.0), (len(x), 1)))
        self.assertEqual(model.value([1, 0, -1, 1]), 0 + 0 - 2 + 3)
        run = sal.sample(model, "ncg", chains=32, draws=400, seed=1)
        self.assertGreaterEqual(max(sizes), 16)
        p = 1 / (1 + np.exp(-2 * np.arange(2.0, 4.0)))
        np.testing.assert_allclose(run.values[..., 2:].mean((0, 1)), 2 * p - 1, atol=0.03)
        self.assertLess(model.balance("ncg", seed=0)["invariance"], 1e-12)

    def test_order_of_blocks_is_that_of_the_arguments(self):
        a, b = sal.binary(1, name="a"), sal.spins(1, name="b")
        model = sal.Model.from_function(lambda x: x[:, 0] * 10 + x[:, 1], b, a)
        self.assertEqual([block.name for block in model.blocks], ["b", "a"])
        self.assertEqual(model.value([-1, 1]), -9)

    def test_exceptions_come_back_as_themselves(self):
        class Mine(Exception):
            pass

        calls = []

        def f(x):
            calls.append(1)
            if len(calls) > 20:
                raise Mine("here")
            return np.zeros(len(x))

        model = sal.Model.from_function(f, sal.binary(3))
        with self.assertRaisesRegex(Mine, "here"):
            sal.sample(model, "gibbs", draws=1000, seed=0)
        with self.assertRaisesRegex(Mine, "here"):
            model.value([1, 1, 0])
        calls.clear()
        self.assertEqual(model.value([1, 1, 0]), 0)  # the exception is over

    def test_nan_is_the_librarys_error(self):
        model = sal.Model.from_function(lambda x: np.full(len(x), np.nan), sal.binary(3))
        with self.assertRaisesRegex(sal.ModelError, "nan|NaN"):
            model.value([1, 1, 0])

    def test_wrong_results(self):
        model = sal.Model.from_function(lambda x: x, sal.binary(3))
        with self.assertRaisesRegex(sal.ShapeError, "expected the shape"):
            model.value([1, 1, 0])
        with self.assertRaisesRegex(sal.ArgumentError, "expected blocks"):
            sal.Model.from_function(lambda x: x, sal.binary(3) + 1)

    def test_functions_live_as_long_as_what_uses_them(self):
        class Function:
            def __call__(self, x):
                return x.sum(1)

        f = Function()
        watch = weakref.ref(f)
        model = sal.Model.from_function(f, sal.binary(3))
        run = sal.sample(model, "gibbs", draws=50, seed=0)
        clamped = model.clamp({0: 1})
        del f, model
        gc.collect()
        self.assertEqual(clamped.value([1, 1]), 3)
        self.assertEqual(run.resume(60).draws.shape[1], 60)
        del run, clamped
        gc.collect()
        self.assertIsNone(watch())


    def test_what_it_is_given_may_be_kept(self):
        kept = []
        model = sal.Model.from_function(lambda x: (kept.append(x), x.sum(1))[1], sal.binary(4))
        model.value([1, 1, 0, 0])
        np.testing.assert_array_equal(kept[0], [[1, 1, 0, 0]])

    def test_cycles_are_collected(self):
        class Mine:
            def __init__(self):
                self.model = sal.Model.from_function(self.f, sal.binary(4))
                self.run = sal.sample(self.model, "gibbs", draws=20, progress=self.tick, seed=0)

            def f(self, x):
                return x.sum(1)

            def tick(self, done, total):
                return True

        watch = weakref.ref(Mine())
        gc.collect()
        self.assertIsNone(watch())

    def test_exceptions_belong_to_their_call(self):
        barrier = threading.Barrier(2)
        local = {}

        def f(x):
            if threading.get_ident() == local.get("bad"):
                raise KeyError("mine")
            return x.sum(1)

        model = sal.Model.from_function(f, sal.binary(4))
        results = {"good": [], "bad": []}

        def work(name):
            if name == "bad":
                local["bad"] = threading.get_ident()
            barrier.wait()
            for seed in range(20):
                try:
                    sal.sample(model, "gibbs", draws=20, threads=1, seed=seed)
                    results[name].append("made")
                except Exception as exception:
                    results[name].append(type(exception).__name__)

        threads = [threading.Thread(target=work, args=(name,)) for name in results]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, {"good": ["made"] * 20, "bad": ["KeyError"] * 20})


class Texts(unittest.TestCase):
    def test_a_formula_as_a_text_is_that_formula(self):
        text = sal.Model("formula: x: spin[5]; J = 0.5; J sum(i~j: x[i] x[j]) + 0.1 x[2]")
        x, J = sal.spins(5), sal.param("J", ())
        model = sal.Model(J * (x[:-1] * x[1:]).sum() + 0.1 * x[2])
        model.params["J"] = 0.5
        states = np.random.default_rng(1).choice([-1, 1], (20, 5))
        np.testing.assert_allclose(text.value(states), model.value(states), rtol=1e-14)
        np.testing.assert_allclose(text.gradient(states), model.gradient(states), rtol=1e-14)

    def test_a_mistake_has_a_place(self):
        with self.assertRaisesRegex(sal.DataError, r"character 16, ' x: spin\[3\]; x\[' >> '3\]': there is no"):
            sal.Model("formula: x: spin[3]; x[3]")


class Objects(unittest.TestCase):
    def test_they_are_not_copied(self):
        model = sal.Model("ising:side=3")
        for copied in (copy.deepcopy, pickle.dumps):
            with self.assertRaisesRegex(TypeError, "save them to a file"):
                copied(model)
        self.assertEqual(copy.copy(model).value([1] * 9), model.value([1] * 9))

    def test_they_can_be_used_until_the_end(self):
        code = ("import atexit; kept = {}\n"
                "atexit.register(lambda: print(kept['model'].value([1] * 9)))\n"
                "import saltus; kept['model'] = saltus.Model('ising:side=3,theta=0.5')")
        result = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
        self.assertEqual(result.stdout, "18.0\n")


class Threads(unittest.TestCase):
    def test_two_python_threads_run_at_once(self):
        """A run waits for progress of the other one: only possible if both run at once."""
        seen = [threading.Event(), threading.Event()]
        runs = [None, None]

        def work(k):
            def progress(done, total):
                seen[k].set()
                return seen[1 - k].wait(20)

            runs[k] = sal.sample("ising:side=10,theta=0.1", "gwg", chains=2, draws=3000, seed=k, threads=1,
                                 progress=progress)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([run.summary["draws"] for run in runs], [3000, 3000])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: MIT
"""Chains that go on: bits, what is set between steps, parameters of each chain, files, mistakes."""

import os
import tempfile
import threading
import unittest

import numpy as np

import saltus as sal


def field(n=3):
    """f = b times the sum of n spins."""
    return sal.Model(sal.spins(n).sum() * sal.param("b", value=0.5))


class Steps(unittest.TestCase):
    def test_bits_are_those_of_a_run(self):
        model = sal.Model("ising:side=4,theta=0.3")
        for sampler, options in (("gibbs", {}), ("ncg", {}), ("gwg", {"tempering": 3}), (None, {"clamp": {0: 1, 5: -1}})):
            options = dict(options, chains=3, warmup=130, seed=7)
            run = sal.sample(model, sampler, draws=400, thin=1, **options)
            chain = sal.Chain(model, sampler, **options)
            chain.step(130)
            for draw in range(400):
                np.testing.assert_array_equal(chain.step().codes, run.draws[:, draw], f"{sampler} {draw}")
            self.assertEqual(chain.steps, 530)
            np.testing.assert_array_equal(chain.log_prob, run.log_prob[:, -1])
            self.assertEqual(chain.info["adapting"], 0)

    def test_long_calls_are_the_same_as_short_ones(self):
        chains = [sal.Chain("ising:side=3,theta=0.2", "gibbs", warmup=0, seed=1) for _ in range(2)]
        chains[0].step(70000)
        for _ in range(7):
            chains[1].step(10000)
        np.testing.assert_array_equal(chains[0].state, chains[1].state)

    def test_adaptation_begins_and_ends(self):
        chain = sal.Chain("ising:side=5,theta=0.2", "ncg", warmup=0, seed=1)
        first = chain.info["step_size"]
        self.assertIsNone(chain.info["acceptance_rate"])
        with self.assertRaisesRegex(sal.ArgumentError, "0 or more"):
            chain.adapt(-1)
        chain.adapt(300).step(100)
        with self.assertRaisesRegex(sal.ArgumentError, "still adapt"):
            chain.tuning()
        chain.step(120).adapt(0).step(50)
        self.assertNotEqual(chain.info["step_size"], first)
        self.assertEqual(chain.info["adapting"], 0)
        self.assertEqual(chain.tuning().values["step_size"], [chain.info["step_size"]])
        self.assertIn("270 steps", repr(chain))


class Setting(unittest.TestCase):
    def test_writing_into_what_was_read_is_an_error_and_not_lost(self):
        chain = sal.Chain(field(), "gibbs", chains=2, warmup=0, seed=1)
        chain.state = [1, -1, 1]
        with self.assertRaisesRegex(sal.ArgumentError, "chain.state = states"):
            chain.state[0, 1] = 1
        with self.assertRaisesRegex(sal.ArgumentError, "chain.codes = codes"):
            chain.codes[0][1] = 1
        with self.assertRaises(ValueError):
            chain.state *= -1
        state = chain.state.copy()
        state[0, 1] = 1
        np.testing.assert_array_equal(chain.state, [[1, -1, 1]] * 2)
        chain.state = state
        np.testing.assert_array_equal(chain.state, [[1, 1, 1], [1, -1, 1]])

    def test_states_by_value_and_by_code(self):
        chain = sal.Chain(field(), "gibbs", chains=2, warmup=0, seed=1)
        chain.state = [1, -1, 1]
        np.testing.assert_array_equal(chain.codes, [[1, 0, 1]] * 2)
        chain.codes = [[0, 0, 0], [1, 1, 1]]
        np.testing.assert_array_equal(chain.state, [[-1] * 3, [1] * 3])
        np.testing.assert_allclose(chain.log_prob, [-1.5, 1.5])
        chain.model.params["b"] = 2
        np.testing.assert_allclose(chain.log_prob, [-6, 6])
        for wrong, error in (([1, 2, 1], sal.ArgumentError), ([1, 1], sal.ShapeError), ([[1] * 3] * 3, sal.ShapeError)):
            with self.assertRaises(error):
                chain.state = wrong
        np.testing.assert_array_equal(chain.codes, [[0, 0, 0], [1, 1, 1]])

    def test_each_chain_sees_its_own_parameters(self):
        model, fields = field(), [-1.0, 0.0, 0.5]
        chain = sal.Chain(model, "gibbs", chains=3, warmup=0, apart=True, seed=2)
        sums = np.zeros(3)
        for _ in range(3000):
            chain.step(3, before=lambda c: model.params.__setitem__("b", fields[c]))
            sums += chain.state.mean(1)
        np.testing.assert_allclose(sums / 3000, np.tanh(fields), atol=0.06)
        with self.assertRaises(ZeroDivisionError):
            chain.step(3, before=lambda c: 1 // 0)
        with self.assertRaisesRegex(sal.ArgumentError, "making steps"):
            chain.step(3, before=lambda c: chain.adapt(10))
        self.assertEqual(chain.steps, 9000)
        with self.assertRaises(ZeroDivisionError):
            chain.step(3, before=lambda c: 1 // (1 - c))
        with self.assertRaisesRegex(sal.ArgumentError, "different numbers"):
            chain.step(3)
        with self.assertRaisesRegex(sal.ArgumentError, "create them apart"):
            sal.Chain(model, "gibbs").step(1, before=print)

    def test_parameters_cannot_change_under_a_run(self):
        model = field(400)
        refused = []

        def set_them():
            while not refused and running.is_set():
                try:
                    model.params["b"] = 0.5
                except sal.ArgumentError as error:
                    refused.append(str(error))

        running, thread = threading.Event(), threading.Thread(target=set_them)
        running.set()
        thread.start()
        chain = sal.Chain(model, "gibbs", warmup=0, seed=1)
        for _ in range(1000):
            chain.step(20000)
            if refused:
                break
        running.clear()
        thread.join()
        self.assertIn("is being sampled", refused[0])
        model.params["b"] = 0.25
        self.assertEqual(model.params["b"], 0.25)

    def test_exceptions_of_a_function_come_through(self):
        broken = []

        def f(x):
            if broken:
                raise KeyError("broken")
            return x.sum(1)

        model = sal.Model.from_function(f, sal.binary(4))
        chain = sal.Chain(model, "gibbs", warmup=0, seed=1).step(10)
        broken.append(True)
        with self.assertRaisesRegex(KeyError, "broken"):
            chain.step(10)
        broken.clear()
        chain.state = [0, 1, 0, 1]
        self.assertEqual(chain.step(5).state.shape, (4, 4))


class Files(unittest.TestCase):
    def test_saved_chains_go_on_with_the_same_bits(self):
        model = field(12)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "chain.safetensors")
            for steps in (0, 77, 400):
                chain = sal.Chain(model, "gwg", warmup=60, seed=3).step(steps)
                chain.save(path)
                other = sal.Chain.load(path, model)
                self.assertEqual((other.steps, other.seed), (steps, 3))
                np.testing.assert_array_equal(chain.step(91).state, other.step(91).state)
            chain = sal.Chain(model, "gibbs", warmup=0, seed=2**64 - 1).step(10)
            model.params["b"] = 0.3
            chain.step(5).save(path)
            other = sal.Chain.load(path, model)
            np.testing.assert_array_equal(chain.step(9).state, other.step(9).state)
            self.assertEqual(other.seed, 2**64 - 1)
            model.params["b"] = 0.1
            with self.assertRaisesRegex(sal.ArgumentError, "other parameters"):
                sal.Chain.load(path, model)
            with self.assertRaisesRegex(sal.ArgumentError, "NAME.safetensors"):
                chain.save(os.path.join(folder, "chain.nc"))
            with self.assertRaises(sal.NotFoundError):
                sal.Chain.load(os.path.join(folder, "none.safetensors"), model)
            model.params.save(path)
            with self.assertRaises(sal.DataError):
                sal.Chain.load(path, model)

    def test_options_of_runs_are_refused(self):
        for option in ({"draws": 10}, {"thin": 2}, {"until": "ess=10"}, {"anneal": True}):
            with self.assertRaisesRegex(sal.ArgumentError, next(iter(option))):
                sal.Chain(field(), **option)


if __name__ == "__main__":
    unittest.main()

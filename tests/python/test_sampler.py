# SPDX-License-Identifier: MIT
"""Samplers made of Python functions: proved by their exact transition matrix, and used."""

import unittest
import warnings

import numpy as np

import saltus as sal


class Mine(Exception):
    pass


def flip(origin, random):
    to = origin.codes
    to[random.below(len(to))] ^= 1
    return to


def flip_log_q(origin, to):
    return -np.log(len(to)) if (origin.codes != to).sum() == 1 else -np.inf


def others(origin):
    """log-weights of flips of two-state variables: half the differences (Zanella, 2020)."""
    return origin.differences.reshape(-1, 2)[np.arange(len(origin.codes)), 1 - origin.codes] / 2


def informed(origin, random):
    to = origin.codes
    to[random.softmax(others(origin))] ^= 1
    return to


def informed_log_q(origin, to):
    moved = np.flatnonzero(origin.codes != to)
    weights = others(origin)
    return weights[moved[0]] - np.logaddexp.reduce(weights) if len(moved) == 1 else -np.inf


def by_gradient(origin, random):
    """All variables at once by a step along the gradient: each moves on its own."""
    up = 1 / (1 + np.exp(-origin.step_size * origin.gradient))
    return (random.uniform(len(up)) < up).astype(np.int32)


def by_gradient_log_q(origin, to):
    slope = origin.step_size * origin.gradient
    return float(-np.logaddexp(0, np.where(to == 1, -slope, slope)).sum())


def ising():
    return sal.Model("ising:side=2,theta=0.15", dtype="f64")


class Proofs(unittest.TestCase):
    def prove(self, model, sampler, **options):
        proof = model.balance(own=sampler, **options)
        self.assertLess(proof["invariance"], 1e-12)
        self.assertLess(proof["normalisation"], 1e-12)
        self.assertLess(proof["frequency"], 5)
        self.assertEqual(proof["unreached"], 0)

    def test_flips(self):
        self.prove(ising(), sal.Sampler("flip", flip, flip_log_q))

    def test_informed_flips(self):
        self.prove(ising(), sal.Sampler("informed", informed, informed_log_q, needs_differences=True))

    def test_directions(self):
        def draw(origin, random):
            to = origin.codes
            places = np.flatnonzero(to == origin.direction)
            if len(places):
                to[places[random.below(len(places))]] = 1 - origin.direction
            return to

        def log_q(origin, to):
            moved = np.flatnonzero(origin.codes != to)
            there = int((origin.codes == origin.direction).sum())
            if len(moved) != 1:
                return 0.0 if len(moved) == 0 and there == 0 else -np.inf
            return -np.log(there) if origin.codes[moved[0]] == origin.direction else -np.inf

        for reverse in (None, [1, 0]):
            lifted = sal.Sampler("lifted", draw, log_q, directions=2, reverse=reverse)
            self.prove(ising(), lifted)
            self.assertEqual(ising().balance(own=lifted, draws=100, seed=0)["directions"], 2)
        # of one direction no spin comes back: it is right, but it stays where it is
        stuck = sal.Sampler("stuck", draw, log_q, directions=2, reverse=[0, 1])
        self.assertGreater(ising().balance(own=stuck, draws=100, seed=0)["unreached"], 0)

    def test_what_are_no_directions(self):
        with self.assertRaisesRegex(sal.ArgumentError, "directions is 65; expected 0"):
            sal.Sampler("x", flip, flip_log_q, directions=65)
        with self.assertRaisesRegex(sal.ArgumentError, "reverse has 1 entries for 2 directions"):
            sal.Sampler("x", flip, flip_log_q, directions=2, reverse=[0])
        with self.assertRaisesRegex(sal.ArgumentError, r"reverse\[0\] is 7"):
            sal.sample(ising(), own=sal.Sampler("x", flip, flip_log_q, directions=2, reverse=[7, 0]), draws=5, seed=0)

    def test_gradients_and_step_sizes(self):
        sampler = sal.Sampler("gradient", by_gradient, by_gradient_log_q, needs_gradient=True, has_step_size=True)
        self.prove(ising(), sampler, step_size=0.3)

    def test_categorical_variables_and_several_blocks(self):
        a, b = sal.categorical(2, 3, name="a"), sal.spins(2, name="b")
        model = sal.Model(0.3 * (a[0] * a[1]).sum() + 0.7 * b[0] * b[1] + a[0, 2] * b[1])

        def draw(origin, random):
            to = origin.codes
            v = random.below(4)
            to[v] = random.below(3 if v < 2 else 2)
            return to

        def log_q(origin, to):
            same = origin.codes == to
            sizes = np.array([3, 3, 2, 2])
            if same.all():
                return np.log((1 / sizes).sum() / 4)
            return -np.log(4 * sizes[~same][0]) if (~same).sum() == 1 else -np.inf

        self.prove(model, sal.Sampler("mixed", draw, log_q))

    def test_a_log_q_that_is_no_probability_is_found(self):
        proof = ising().balance(own=sal.Sampler("wrong", flip, lambda s, to: flip_log_q(s, to) - 1), seed=0)
        self.assertGreater(proof["normalisation"], 0.5)

    def test_a_draw_that_is_another_is_found(self):
        def draw(origin, random):
            to = origin.codes
            to[0 if random.uniform() < 0.4 else random.below(len(to))] ^= 1
            return to

        self.assertGreater(ising().balance(own=sal.Sampler("wrong", draw, flip_log_q), seed=0)["frequency"], 5)


class Runs(unittest.TestCase):
    def test_averages_are_exact(self):
        model = sal.Model("ising:side=3,theta=0.08", dtype="f64")
        s = sal.sample(model, own=sal.Sampler("informed", informed, informed_log_q, needs_differences=True),
                       draws=1000, seed=1)
        self.assertEqual(s.summary["sampler"], "informed")
        f = s.log_prob - model.exact().log_prob_mean
        error = f.mean(axis=1).std(ddof=1) / 2
        self.assertLess(abs(f.mean()), 6 * error + 0.02)

    def test_same_bits_for_any_number_of_threads(self):
        sampler = sal.Sampler("gradient", by_gradient, by_gradient_log_q, needs_gradient=True, has_step_size=True)
        runs = [sal.sample(ising(), own=sampler, draws=500, warmup=100, step_size=0.3, chains=3, seed=5, threads=n)
                for n in (1, 2)]
        np.testing.assert_array_equal(runs[0].draws, runs[1].draws)

    def test_subclasses_have_methods(self):
        class Flip(sal.Sampler):
            def draw(self, origin, random):
                return flip(origin, random)

            def log_q(self, origin, to):
                return flip_log_q(origin, to)

        self.assertLess(ising().balance(own=Flip("flip"), seed=0)["invariance"], 1e-12)

    def test_numbers_of_the_origin(self):
        seen = []
        model = ising()

        def draw(origin, random):
            if not seen:
                codes = origin.codes
                seen.append([origin.f - model.value(codes, codes=True), origin.x - (2 * codes - 1),
                             origin.gradient - model.gradient(codes, codes=True),
                             origin.differences - model.differences(codes, codes=True), origin.beta - 1,
                             0 * random.normal(3), 0 * random.normal(), random.softmax([-np.inf, 3.0]) - 1])
                self.assertTrue(np.isnan(origin.step_size))
            return flip(origin, random)

        sal.sample(model, own=sal.Sampler("look", draw, flip_log_q, needs_gradient=True, needs_differences=True),
                   chains=1, draws=2000, warmup=0, seed=1)
        for values in seen[0]:
            np.testing.assert_allclose(values, 0, atol=1e-12)


class Failures(unittest.TestCase):
    def fails(self, error, text, draw, log_q=flip_log_q, **options):
        sampler = sal.Sampler("mine", draw, log_q, **options)
        with self.assertRaisesRegex(error, text):
            sal.sample(ising(), own=sampler, draws=10, chains=2, seed=1)

    def test_exceptions_come_back_as_themselves(self):
        def broken(*_):
            raise Mine("here")

        self.fails(Mine, "here", broken)
        self.fails(Mine, "here", flip, broken)
        self.fails(Mine, "here", broken, None, unadjusted=True)
        for sampler in (sal.Sampler("mine", broken, flip_log_q), sal.Sampler("mine", flip, broken)):
            with self.assertRaisesRegex(Mine, "here"):
                ising().balance(own=sampler, seed=0)

    def test_an_exception_of_one_run_does_not_reach_the_next(self):
        calls = []

        def once(origin, random):
            calls.append(1)
            if len(calls) == 1:
                raise Mine("once")
            return flip(origin, random)

        sampler = sal.Sampler("once", once, flip_log_q)
        with self.assertRaises(Mine):
            sal.sample(ising(), own=sampler, draws=10, seed=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertEqual(sal.sample(ising(), own=sampler, draws=10, seed=1).draws.shape, (4, 10, 4))

    def test_proposals_of_wrong_shape_or_type(self):
        self.fails(sal.ShapeError, r"\(4,\); found \(3,\)", lambda s, r: s.codes[:3])
        self.fails(sal.ShapeError, r"found \(\)", lambda s, r: None)
        self.fails(sal.ArgumentError, "float64", lambda s, r: s.codes * 1.0)
        self.fails(sal.ArgumentError, "out of range", lambda s, r: s.codes + 2)
        self.fails(sal.ArgumentError, "code 4294967297 is out of range", lambda s, r: np.array([0, 0, 0, 2**32 + 1]))
        self.fails(sal.ArgumentError, "out of range", lambda s, r: s.codes.astype(np.uint64) + np.uint64(2**32))
        self.fails(TypeError, "", flip, lambda s, to: "x" * 2 + None)

    def test_what_was_not_asked_for(self):
        self.fails(sal.ArgumentError, "needs_gradient=True", lambda s, r: s.gradient)
        self.fails(sal.ArgumentError, "needs_differences=True", lambda s, r: s.differences)
        self.fails(sal.ModelError, "softmax", lambda s, r: r.softmax([-np.inf]))
        for bound in (0, 4.0, 2**63, 2**70, None):
            self.fails(sal.ArgumentError, "below.*whole number", lambda s, r, bound=bound: r.below(bound))

    def test_bounds_of_any_whole_type(self):
        seen = []

        def draw(origin, random):
            seen.append(random.below(np.uint8(3)) + random.below(2**63 - 1) * 0)
            return flip(origin, random)

        sal.sample(ising(), own=sal.Sampler("mine", draw, flip_log_q), draws=100, chains=1, warmup=0, seed=1)
        self.assertEqual(set(seen), {0, 1, 2})

    def test_what_is_no_sampler(self):
        for own in (flip, [flip], "gwg"):
            with self.assertRaisesRegex(sal.ArgumentError, "own: expected a saltus.Sampler"):
                sal.sample(ising(), own=own, draws=10, seed=0)
            with self.assertRaisesRegex(sal.ArgumentError, "own: expected a saltus.Sampler"):
                ising().balance(own=own, seed=0)

    def test_origins_end_with_the_call(self):
        kept = []

        def draw(origin, random):
            kept[:] = [origin, random]
            return flip(origin, random)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sal.sample(ising(), own=sal.Sampler("keep", draw, flip_log_q), draws=5, seed=1)
        for use in (lambda: kept[0].codes, lambda: kept[0].f, lambda: kept[1].uniform()):
            with self.assertRaisesRegex(ValueError, "during the call"):
                use()

    def test_what_is_no_sampler(self):
        with self.assertRaisesRegex(sal.ArgumentError, "log_q"):
            sal.Sampler("x", flip)
        with self.assertRaisesRegex(sal.ArgumentError, "'spins'"):
            sal.Sampler("x", flip, flip_log_q, kinds=["spins"])
        with self.assertRaisesRegex(sal.SaltusError, "gwg"):
            sal.sample(ising(), own=sal.Sampler("gwg", flip, flip_log_q), draws=5, seed=0)
        with self.assertRaisesRegex(sal.UnsupportedError, "does not move spin"):
            sal.sample(ising(), own=sal.Sampler("x", flip, flip_log_q, kinds=["binary"]), draws=5, seed=0)


if __name__ == "__main__":
    unittest.main()

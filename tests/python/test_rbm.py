# SPDX-License-Identifier: MIT
"""RBMs as estimators: against enumeration, against scikit-learn's formulas, and in its pipelines."""

import itertools
import os
import pickle
import subprocess
import sys
import unittest
import warnings

import numpy as np

import saltus as sal
from saltus.rbm import RBM

try:
    import sklearn
    from sklearn import neural_network, pipeline
    from sklearn.base import clone
    from sklearn.exceptions import NotFittedError
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.preprocessing import MinMaxScaler
    from sklearn.utils.estimator_checks import check_estimator
except ImportError:
    sklearn = None

try:
    import pandas
except ImportError:
    pandas = None

V, H = 5, 3
VISIBLE = np.array(list(itertools.product([0, 1], repeat=V)))
HIDDEN = np.array(list(itertools.product([0, 1], repeat=H)))
STRIPES = np.repeat([[0, 0, 1, 1], [1, 1, 0, 0]], 50, axis=0)


class Clipped(RBM):
    """For scikit-learn's checks, which have rows of any numbers."""

    def _in_range(self, rows):
        return np.clip(rows, 0, 1)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def tiny(seed=0):
    """An estimator with weights that nobody trained."""
    rng = np.random.default_rng(seed)
    rbm = RBM(H, n_iter=0, random_state=0).fit(VISIBLE)
    rbm.components_ = rng.normal(0, 1.5, (H, V))
    rbm.intercept_visible_, rbm.intercept_hidden_ = rng.normal(size=V), rng.normal(size=H)
    return rbm


def energies(rbm):
    """-E(v, h) of all states."""
    return HIDDEN @ rbm.components_ @ VISIBLE.T + (HIDDEN @ rbm.intercept_hidden_)[:, None] + VISIBLE @ rbm.intercept_visible_


class Formulas(unittest.TestCase):
    def setUp(self):
        self.rbm = tiny()
        self.joint = np.exp(energies(self.rbm))
        self.visible = self.joint.sum(axis=0) / self.joint.sum()

    def test_free_energy_is_that_of_enumeration(self):
        np.testing.assert_allclose(np.exp(-self.rbm.free_energy(VISIBLE)), self.joint.sum(axis=0), rtol=1e-12)
        model = self.rbm.to_model("f64")
        np.testing.assert_allclose(np.exp(model.value(VISIBLE) - model.exact().log_z), self.visible, rtol=1e-12)

    def test_transform_is_the_mean_of_hidden_units(self):
        expected = (HIDDEN[:, :, None] * self.joint[:, None]).sum(axis=0).T / self.joint.sum(axis=0)[:, None]
        np.testing.assert_allclose(self.rbm.transform(VISIBLE), expected, rtol=1e-12)
        grey = np.random.default_rng(1).random((20, V))
        expected = sigmoid(grey @ self.rbm.components_.T + self.rbm.intercept_hidden_)
        np.testing.assert_allclose(self.rbm.transform(grey), expected, rtol=1e-12)
        self.rbm.components_ = 1000 * self.rbm.components_
        self.assertTrue(np.isfinite(self.rbm.transform(grey)).all())

    def test_score_is_the_log_pseudo_likelihood(self):
        index = {tuple(v): k for k, v in enumerate(VISIBLE)}
        expected = []
        for v in VISIBLE:
            flipped = [self.visible[index[tuple(np.where(np.arange(V) == i, 1 - v, v))]] for i in range(V)]
            own = self.visible[index[tuple(v)]]
            expected.append(np.log(own / (own + flipped)).sum())
        np.testing.assert_allclose(self.rbm.score_samples(VISIBLE), expected, rtol=1e-10)
        many = np.tile(VISIBLE, (70, 1))
        np.testing.assert_allclose(self.rbm.score_samples(many), np.tile(expected, 70), rtol=1e-10)
        self.assertAlmostEqual(self.rbm.score(VISIBLE), np.mean(expected), places=12)

    def test_reconstruction_is_of_the_mean_hidden_units(self):
        grey = np.random.default_rng(1).random((20, V))
        for rows in (VISIBLE, grey):
            expected = sigmoid(self.rbm.transform(rows) @ self.rbm.components_ + self.rbm.intercept_visible_)
            np.testing.assert_allclose(self.rbm.reconstruct(rows), expected, rtol=1e-12)

    def test_models_go_both_ways(self):
        model = self.rbm.to_model("f64")
        again = RBM.from_model(model)
        np.testing.assert_array_equal(again.components_, self.rbm.components_)
        np.testing.assert_array_equal(again.free_energy(VISIBLE), self.rbm.free_energy(VISIBLE))
        again.components_[0, 0] = 0
        self.assertNotEqual(model.params["W"][0, 0], 0)
        v = sal.binary(V)
        twice = sal.softplus(sal.param("W", (H, V)) @ v + sal.param("c", H)).sum() + 2 * (sal.param("b", V) * v).sum()
        other = sal.Model(twice)
        other.params.update(model.params)
        for wrong in (other, sal.Model(v.sum()), sal.Model("ising:side=3"), "rbm"):
            with self.assertRaises(sal.ArgumentError):
                RBM.from_model(wrong)

    @unittest.skipUnless(sklearn, "scikit-learn is not installed")
    def test_formulas_are_those_of_scikit_learn(self):
        theirs = neural_network.BernoulliRBM(H, n_iter=1).fit(VISIBLE)
        for name in ("components_", "intercept_visible_", "intercept_hidden_"):
            setattr(theirs, name, getattr(self.rbm, name))
        grey = np.random.default_rng(1).random((20, V))
        for rows in (VISIBLE.astype(float), grey, 3 * grey - 1):
            np.testing.assert_allclose(self.rbm.free_energy(rows), theirs._free_energy(rows), rtol=1e-12)
            np.testing.assert_allclose(self.rbm.transform(rows), theirs.transform(rows), rtol=1e-12)
            # Their score is V times one term of ours, at random: the mean of all V terms is ours.
            flipped = [np.where(np.arange(V) == i, 1 - rows, rows) for i in range(V)]
            terms = [V * -np.logaddexp(0, theirs._free_energy(rows) - theirs._free_energy(f)) for f in flipped]
            np.testing.assert_allclose(self.rbm.score_samples(rows), np.mean(terms, axis=0), rtol=1e-10)
            one = theirs.set_params(random_state=3).score_samples(rows)
            self.assertTrue((np.abs(np.array(terms) - one).min(axis=0) < 1e-10).all())


class Draws(unittest.TestCase):
    def setUp(self):
        self.rbm = tiny(1)
        joint = np.exp(energies(self.rbm))
        self.joint, self.visible = joint, joint.sum(axis=0) / joint.sum()

    def check(self, drawn, probabilities):
        """Frequencies of states against probabilities: chi-square, at most 5 of its standard deviations off."""
        self.assertEqual(drawn.dtype, np.int8)
        counts = np.bincount(drawn @ 2 ** np.arange(V - 1, -1, -1), minlength=2 ** V)
        self.assertEqual(counts[probabilities == 0].sum(), 0)
        there = probabilities > 0
        expected = len(drawn) * probabilities[there]
        chi, freedom = ((counts[there] - expected) ** 2 / expected).sum(), there.sum() - 1
        variance = 2 * freedom + ((1 / probabilities[there]).sum() - there.sum() ** 2 - 2 * there.sum() + 2) / len(drawn)
        self.assertLessEqual(chi, freedom + 5 * np.sqrt(variance))

    def test_samples_are_those_of_the_model(self):
        self.check(self.rbm.sample(20000, steps=50, random_state=1), self.visible)

    def test_clamped_samples_have_the_exact_conditional(self):
        for clamp in ({0: 1}, {1: 0, 3: 1}, {0: 0, 1: 1, 2: 1, 4: 0}):
            agree = np.all([VISIBLE[:, unit] == value for unit, value in clamp.items()], axis=0)
            conditional = np.where(agree, self.visible, 0) / self.visible[agree].sum()
            drawn = self.rbm.sample(20000, clamp=clamp, steps=50, random_state=2)
            self.assertEqual(drawn.shape, (20000, V))
            self.check(drawn, conditional)
            known = np.full(V, np.nan)
            for unit, value in clamp.items():
                known[unit] = value
            np.testing.assert_array_equal(self.rbm.sample(20000, clamp=known, steps=50, random_state=2), drawn)

    def test_rows_have_knowns_of_their_own(self):
        nan = np.nan
        rows = np.array([[1, nan, nan, nan, nan], [nan, nan, 0, 1, nan], [nan] * 5, [0, 1, 1, 0, 1]])
        drawn = self.rbm.sample(8000, clamp=rows, steps=50, random_state=3)
        self.assertEqual(drawn.shape, (4, 8000, V))
        for row, samples in zip(rows, drawn):
            agree = ((VISIBLE == row) | np.isnan(row)).all(axis=1)
            self.check(samples, np.where(agree, self.visible, 0) / self.visible[agree].sum())
        first, second = self.rbm.sample(50, clamp=np.full((2, V), nan), random_state=3)
        self.assertTrue((first != second).any())  # equal rows have random numbers of their own

    def test_one_sweep_has_the_transition_probabilities_of_block_gibbs(self):
        v = VISIBLE[11]
        given = self.joint[:, 11] / self.joint[:, 11].sum()
        expected = given @ (self.joint / self.joint.sum(axis=1, keepdims=True))
        self.check(self.rbm.gibbs(np.tile(v, (20000, 1)), random_state=4), expected)

    def test_the_same_seed_gives_the_same_bits(self):
        for draw in (lambda seed: self.rbm.sample(50, clamp={0: 1}, random_state=seed),
                     lambda seed: self.rbm.sample(50, random_state=seed),
                     lambda seed: self.rbm.gibbs(VISIBLE, random_state=seed)):
            np.testing.assert_array_equal(draw(7), draw(7))
            np.testing.assert_array_equal(draw(7), draw(np.int64(7)))
            self.assertTrue((draw(7) != draw(8)).any())
            self.assertTrue((draw(None) == draw(0)).all())  # that of the estimator
            generator = np.random.default_rng(7)
            self.assertTrue((draw(generator) != draw(generator)).any())

    def test_mistakes(self):
        for wrong, error in (({9: 1}, sal.ArgumentError), ({0: 2}, sal.ArgumentError), ([0.5] * V, sal.ArgumentError),
                             ([1, 0], sal.ShapeError), (np.ones((2, 2, V)), sal.ShapeError), ("text", sal.ArgumentError),
                             ({"a": 1}, sal.ArgumentError),
                             ({0: None}, sal.ArgumentError), ({0: "1"}, sal.ArgumentError),
                             (np.ma.masked_array([1.0] * V, [1, 0, 0, 0, 0]), sal.ArgumentError)):
            with self.subTest(wrong), self.assertRaises(error):
                self.rbm.sample(clamp=wrong)
        with self.assertRaises(sal.ArgumentError):
            self.rbm.sample(0)
        with self.assertRaises(sal.ArgumentError):
            self.rbm.gibbs(np.full((1, V), 0.5))


class Fits(unittest.TestCase):
    def test_two_stripes_are_learned(self):
        rbm = RBM(2, n_iter=100, random_state=1).fit(STRIPES)
        np.testing.assert_array_equal(rbm.reconstruct(STRIPES).round(), STRIPES)
        model = rbm.to_model("f64")
        self.assertGreater(np.exp(model.value(STRIPES[[0, -1]]) - model.exact().log_z).sum(), 0.8)
        self.assertGreater(rbm.score(STRIPES), RBM(2, n_iter=0, random_state=1).fit(STRIPES).score(STRIPES) + 1)
        self.assertEqual(rbm.reports_[-1]["iteration"], 1000)
        self.assertEqual(rbm.n_features_in_, 4)

    def test_the_same_seed_gives_the_same_bits(self):
        def weights(seed, **options):
            return RBM(3, n_iter=3, random_state=seed, **options).fit(STRIPES).components_

        first = weights(5)
        np.testing.assert_array_equal(weights(5), first)
        np.testing.assert_array_equal(weights(5, train_options={"threads": 1}), first)
        np.testing.assert_array_equal(weights(np.random.RandomState(5)), weights(np.random.RandomState(5)))
        self.assertTrue((weights(6) != first).any())
        self.assertTrue((weights(None) != weights(None)).any())

    def test_it_is_the_training_of_the_library(self):
        rbm = RBM(3, n_iter=4, batch_size=20, learning_rate=0.05, steps=2, random_state=5).fit(STRIPES)
        training = sal.train("rbm:hidden=3", STRIPES, objective="pcd", sampler="block-gibbs", steps=2, optimiser="sgd",
                             momentum=0, learning_rate=0.05, batch=20, iterations=20, seed=5)
        np.testing.assert_array_equal(rbm.components_, training.model.params["W"])
        options = {"optimiser": "adam", "iterations": 7}
        other = RBM(3, n_iter=4, batch_size=20, random_state=5, train_options=options).fit(STRIPES)
        training = sal.train("rbm:hidden=3", STRIPES, objective="pcd", sampler="block-gibbs", steps=1, optimiser="adam",
                             learning_rate=0.1, batch=20, iterations=7, seed=5)
        np.testing.assert_array_equal(other.components_, training.model.params["W"])

    def test_kinds_of_rows(self):
        class Sparse:  # as those of SciPy
            nnz = 200

            def toarray(self):
                return STRIPES.astype(float)

        first = RBM(2, n_iter=2, random_state=1).fit(STRIPES).components_
        for rows in (STRIPES.astype(bool), STRIPES.astype(float), STRIPES.tolist(), Sparse(), STRIPES.astype(object)):
            np.testing.assert_array_equal(RBM(2, n_iter=2, random_state=1).fit(rows).components_, first)
        grey = RBM(2, n_iter=2, random_state=1).fit(0.2 + 0.6 * STRIPES)
        self.assertTrue((grey.components_ != first).any())
        np.testing.assert_allclose(sigmoid(RBM(2, n_iter=0).fit(np.tile([0.25, 0.5], (4, 1))).intercept_visible_), [0.25, 0.5],
                                   atol=1e-6)
        self.assertEqual(RBM(2, n_iter=1).fit([[1, 0]]).transform([[1, 0]]).shape, (1, 2))

    def test_scaled_rows_may_be_rounded_and_held_out_ones_beyond(self):
        rows = STRIPES * (1 + 5e-7)
        first = RBM(2, n_iter=2, random_state=1).fit(STRIPES)
        np.testing.assert_array_equal(RBM(2, n_iter=2, random_state=1).fit(rows).components_, first.components_)
        beyond = 1.5 * STRIPES - 0.2
        np.testing.assert_allclose(first.transform(beyond), sigmoid(beyond @ first.components_.T + first.intercept_hidden_))
        self.assertTrue(np.isfinite(first.score_samples(beyond)).all())

    def test_mistakes(self):
        fitted = RBM(2, n_iter=1, random_state=1).fit(STRIPES)
        for row, text in (([2, 0, 0, 0], "number 2;"), ([-1, 0, 0, 0], "number -1;")):
            with self.assertRaisesRegex(sal.ArgumentError, text):
                RBM(2).fit([row])
            with self.assertRaisesRegex(sal.ArgumentError, "0 and 1"):
                fitted.gibbs([row])
        wrong = {"NaN": [[np.nan, 0, 0, 0]], "infinity": [[np.inf, 0, 0, 0]], "1D array": [1, 0, 0, 0],
                 "masked": np.ma.masked_array(STRIPES, STRIPES), "omplex": [[1j, 0, 0, 0]],
                 "0 sample": np.empty((0, 4)), "X: expected": [["a", "b", "c", "d"]]}
        for text, rows in wrong.items():
            for method in (RBM(2).fit, fitted.transform, fitted.score_samples, fitted.free_energy, fitted.reconstruct,
                           fitted.gibbs):
                with self.subTest(text, method=method.__name__), self.assertRaisesRegex(ValueError, text):
                    method(rows)
        with self.assertRaisesRegex(ValueError, "X has 2 features, but RBM is expecting 4 features as input"):
            fitted.transform([[0, 1]])
        for parameters in ({"n_components": 0}, {"n_components": 2.5}, {"batch_size": 0}, {"n_iter": -1}, {"learning_rate": -1},
                           {"steps": "many"}, {"random_state": -1}, {"train_options": {"nonsense": 1}},
                           {"train_options": "adam"}):
            with self.subTest(parameters), self.assertRaises((sal.ArgumentError, sal.NotFoundError)):
                RBM(**parameters).fit(STRIPES)
        for method in ("transform", "score_samples", "free_energy", "reconstruct", "gibbs", "sample", "to_model"):
            with self.assertRaisesRegex((ValueError, AttributeError), "not fitted"):
                getattr(RBM(), method)(*[STRIPES] if method not in ("sample", "to_model") else [])


class WithoutScikitLearn(unittest.TestCase):
    def test_it_is_not_imported(self):
        program = """if True:
            import sys
            sys.modules["sklearn"] = None  # so that an import fails
            import saltus as sal
            rbm = sal.rbm.RBM(2, n_iter=1, random_state=1)
            try:
                rbm.transform([[0, 1]])
                raise SystemExit("it is fitted")
            except sal.rbm.NotFittedError:
                pass
            rbm.fit([[0, 1], [1, 0]]).transform([[0, 1]])
            rbm.sample(3)
            """
        subprocess.run([sys.executable, "-c", program], check=True, env=os.environ)
        run = subprocess.run([sys.executable, "-c", "import sys, saltus; print('sklearn' in sys.modules)"], check=True,
                             env=os.environ, capture_output=True, text=True)
        self.assertEqual(run.stdout.strip(), "False")

    def test_parameters_and_copies(self):
        rbm = RBM(3, n_iter=2, random_state=1)
        self.assertEqual(repr(rbm), "RBM(n_components=3, n_iter=2, random_state=1)")
        self.assertEqual(RBM(**rbm.get_params()).get_params(), rbm.get_params())
        self.assertIs(rbm.set_params(steps=2), rbm)
        self.assertEqual(rbm.steps, 2)
        with self.assertRaisesRegex(ValueError, "no parameter 'step'"):
            rbm.set_params(step=2)
        rbm.fit(STRIPES)
        again = pickle.loads(pickle.dumps(rbm))
        np.testing.assert_array_equal(again.transform(STRIPES), rbm.transform(STRIPES))
        np.testing.assert_array_equal(again.sample(5), rbm.sample(5))
        np.testing.assert_array_equal(again.fit(STRIPES).components_, rbm.components_)

    @unittest.skipUnless(pandas, "pandas is not installed")
    def test_tables_keep_their_names(self):
        table = pandas.DataFrame(STRIPES, columns=list("abcd"), index=np.arange(100) + 7)
        rbm = RBM(2, n_iter=1, random_state=1).fit(table)
        self.assertEqual(list(rbm.feature_names_in_), list("abcd"))
        with self.assertRaisesRegex(ValueError, "same order"):
            rbm.transform(table[list("dcba")])
        with self.assertWarnsRegex(sal.SaltusWarning, "valid feature names"):
            rbm.transform(STRIPES)
        hidden = rbm.set_output(transform="pandas").transform(table)
        self.assertEqual(list(hidden.columns), ["rbm0", "rbm1"])
        self.assertEqual(list(hidden.index), list(table.index))
        with self.assertRaises(sal.ArgumentError):
            rbm.set_output(transform="excel")


@unittest.skipUnless(sklearn, "scikit-learn is not installed")
class WithScikitLearn(unittest.TestCase):
    def test_its_checks_pass(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for estimator, check in check_estimator(Clipped(4, n_iter=2), generate_only=True):
                with self.subTest(getattr(check, "func", check).__name__):
                    check(estimator)

    def test_clones_have_the_parameters_and_no_weights(self):
        options = {"optimiser": "adam"}
        rbm = RBM(3, n_iter=2, random_state=1, train_options=options).fit(STRIPES)
        copy = clone(rbm)
        self.assertEqual(copy.get_params(), rbm.get_params())
        self.assertIsNot(copy.train_options, options)
        with self.assertRaises(NotFittedError):
            copy.transform(STRIPES)
        np.testing.assert_array_equal(copy.fit(STRIPES).components_, rbm.components_)

    def test_pipelines_and_searches(self):
        rng = np.random.default_rng(1)
        labels = np.repeat([0, 1], 50)
        rows = STRIPES ^ (rng.random(STRIPES.shape) < 0.05)
        steps = pipeline.Pipeline([("scale", MinMaxScaler()), ("rbm", RBM(4, n_iter=60, random_state=1)),
                                   ("regression", LogisticRegression())])
        self.assertGreater(steps.fit(rows, labels).score(rows, labels), 0.9)
        noisy = 16 * rows + rng.normal(0, 0.3, rows.shape)  # of which held-out rows are scaled beyond 0 and 1
        search = GridSearchCV(steps, {"rbm__n_components": [1, 4], "rbm__learning_rate": [0.1, 0.01]}, cv=3)
        search.fit(noisy, labels)
        self.assertGreater(search.best_score_, 0.9)
        alone = GridSearchCV(RBM(4, random_state=1), {"n_iter": [0, 50]}, cv=3).fit(rows)
        self.assertEqual(alone.best_params_, {"n_iter": 50})


if __name__ == "__main__":
    unittest.main()

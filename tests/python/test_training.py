# SPDX-License-Identifier: MIT
"""Training and evaluation, on models that are small enough to know what must come out."""

import gc
import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
import weakref
from unittest import mock

import numpy as np

import saltus as sal
from saltus import _evaluate, _library
from saltus._train import _make_directory


class Mine(Exception):
    pass


def quiet(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


def independent(value=None):
    s = sal.binary(4, name="s")
    return sal.Model((sal.param("b", 4, value=value) * s).sum())


def biased(rows=2000, seed=1):
    return (np.random.default_rng(seed).random((rows, 4)) < [0.1, 0.4, 0.6, 0.8]).astype(np.uint8)


def log_odds(codes):
    mean = codes.mean(axis=0)
    return np.log(mean / (1 - mean))


EDGES = [(r * 3 + c, r * 3 + c + step) for r in range(3) for c in range(3) for step in (1, 3)
         if (step == 1 and c < 2) or (step == 3 and r < 2)]
STATES = np.array(list(itertools.product([-1, 1], repeat=9)))
PAIRS = np.array([STATES[:, i] * STATES[:, j] for i, j in EDGES]).T


def lattice(value=None):
    """A 3 x 3 lattice of spins with a coupling for each of its 12 edges."""
    s = sal.spins(9, name="s")
    first, second = np.array(EDGES).T
    return sal.Model((sal.param("J", len(EDGES), value=value) * s[first] * s[second]).sum())


def lattice_law(couplings):
    """Probabilities of all states, and the covariance of the products over edges."""
    p = np.exp(PAIRS @ couplings)
    p /= p.sum()
    mean = p @ PAIRS
    return p, mean, (PAIRS * p[:, None]).T @ PAIRS - np.outer(mean, mean)


COUPLINGS = np.linspace(-0.4, 0.5, len(EDGES))


def lattice_draws(rows=5000, seed=1):
    p = lattice_law(COUPLINGS)[0]
    return (STATES[np.random.default_rng(seed).choice(len(p), rows, p=p)] + 1) // 2


class Learning(unittest.TestCase):
    def test_independent_variables_learn_their_log_odds(self):
        data = biased()
        model = independent()
        sal.train(model, data, objective="pseudo-likelihood", batch=2000, iterations=2000, learning_rate=0.05,
                  rate_schedule="cosine", seed=0)
        np.testing.assert_allclose(model.params["b"], log_odds(data), atol=1e-4)
        training = sal.train(independent(), data, batch=500, steps=4, iterations=1500, learning_rate=0.05,
                             rate_schedule="cosine", seed=1)
        np.testing.assert_allclose(training.model.params["b"], log_odds(data), atol=0.15)

    def test_a_lattice_is_learned_within_its_errors(self):
        data = lattice_draws()
        error = np.sqrt(np.diag(np.linalg.inv(lattice_law(COUPLINGS)[2])) / len(data))  # Cramer and Rao
        training = sal.train(lattice(), data, objective="pseudo-likelihood", batch=1000, iterations=800,
                             learning_rate=0.05, rate_schedule="cosine", seed=0)
        self.assertLess((np.abs(training.model.params["J"] - COUPLINGS) / error).max(), 5)

    def test_persistent_chains_match_the_moments_of_the_data(self):
        data = lattice_draws()
        wanted = (2 * data - 1)[:, [i for i, _ in EDGES]] * (2 * data - 1)[:, [j for _, j in EDGES]]
        training = sal.train(lattice(), data, batch=500, steps=9, sampler="gibbs:scan=random", iterations=800,
                             learning_rate=0.02, rate_schedule="cosine", seed=1)
        moments = lattice_law(training.model.params["J"])[1]
        np.testing.assert_allclose(moments, wanted.mean(axis=0), atol=0.05)
        self.assertEqual(training.samples.shape, (1000, 9))
        mean = (2 * training.samples - 1).mean(axis=0)
        self.assertLess(np.abs(mean).max(), 0.25)

    def test_weights_count(self):
        data = sal.Data([[0, 0, 1, 1], [1, 1, 1, 0]], weight=[3, 1])
        model = independent()
        sal.train(model, data, objective="pseudo-likelihood", batch=1, iterations=3000, learning_rate=0.02,
                  rate_schedule="cosine", fixed=None, weight_decay=0.0, seed=0)
        np.testing.assert_allclose(1 / (1 + np.exp(-model.params["b"][[0, 3]])), [0.25, 0.75], atol=0.06)

    def test_a_denoising_chain(self):
        data = biased()
        x, t = sal.binary(4, name="x"), sal.categorical(1, 3, name="level")
        model = sal.Model(((t @ sal.param("b", (3, 4))) * x).sum())
        training = sal.train(model, data, objective="denoising", iterations=400, learning_rate=0.05,
                             rate_schedule="cosine", seed=0)
        self.assertIsNone(training.samples)
        run = quiet(sal.sample, training, chains=100, draws=40, seed=1)
        self.assertEqual(run.draws.shape, (100, 40, 4))
        self.assertEqual((run.model.variables, model.variables), (4, 5))
        self.assertEqual([shares.shape for shares in run.marginals()], [(2,)] * 4)
        np.testing.assert_allclose(run.draws.mean(axis=(0, 1)), data.mean(axis=0), atol=0.05)
        with tempfile.TemporaryDirectory() as place:
            training.save(place)
            again = quiet(sal.sample, place, chains=100, draws=40, seed=1)
            np.testing.assert_array_equal(again.draws, run.draws)
            for refused in (lambda: sal.sample(place, ladder=False), lambda: sal.Model(place).exact(),
                            lambda: sal.evaluate(place, data), lambda: sal.evaluate(training, data)):
                with self.assertRaisesRegex(sal.UnsupportedError, "denoising chain"):
                    refused()
        with self.assertRaisesRegex(sal.ArgumentError, "go with objective denoising"):
            sal.train(model, data, objective="cd")

    def test_one_s_own_sampler(self):
        calls = []

        def draw(origin, random):
            calls.append(1)
            to = origin.codes
            to[random.below(4)] ^= 1
            return to

        def log_q(origin, to):
            return -np.log(4) if (origin.codes != to).sum() == 1 else -np.inf

        flip = sal.Sampler("flip", draw, log_q)
        training = sal.train(independent(), biased(), own=flip, batch=10, steps=2, iterations=20, seed=0)
        self.assertEqual(len(calls), 10 * 2 * 20)
        self.assertEqual(training.iteration, 20)
        del flip
        gc.collect()
        training.run(5)  # it keeps the sampler

    def test_a_preconditioner(self):
        for given in ("data", np.eye(4)):
            training = sal.train(independent(), biased(), sampler="pavg", preconditioner=given, iterations=20, seed=0)
            self.assertEqual(training.iteration, 20)
        with self.assertRaisesRegex(sal.ShapeError, r"\(4, 4\)"):
            sal.train(independent(), biased(), sampler="pavg", preconditioner=np.eye(3), seed=0)


class Sparse(unittest.TestCase):
    def test_couplings_are_activated(self):
        codes = np.random.default_rng(1).integers(0, 3, (400, 4)).astype(np.uint8)
        codes[:, 3] = np.where(codes[:, 0] == 2, 1, codes[:, 3])
        options = dict(batch=400, buffer=400, sampler="gibbs", steps=-1, optimiser="sgd", momentum=0, iterations=200,
                       learning_rate=0.3, sparsity="activate", sparsity_share=0.02, pearson=0.9, seed=1)
        model = sal.Model("potts-dense:dim=4,states=3,scale=0")
        training = sal.train(model, codes, **options)
        self.assertTrue(training.report["reached"])
        self.assertGreaterEqual(training.report["pearson"], 0.9)
        J = training.model.params["J"]
        active = sum(J[k, l] != 0 for k in range(12) for l in range(k // 3 * 3))
        self.assertLessEqual(active, round(training.report["density"] * 54))
        self.assertLess(training.report["density"], 0.5)
        self.assertGreater(J[10, 2], 0.5)
        self.assertIsNone(sal.train(model, codes, batch=50, iterations=2, seed=1).report["density"])
        with self.assertRaisesRegex(sal.ArgumentError, "goes with the objectives pcd and ptt"):
            sal.train(model, codes, batch=50, objective="cd", sparsity="activate")


class ReadyMade(unittest.TestCase):
    def test_an_rbm_of_letters(self):
        with tempfile.TemporaryDirectory() as place:
            path, drawn = (os.path.join(place, name) for name in ("dna.fasta", "new.fasta"))
            with open(path, "w", encoding="ascii") as file:
                file.write("".join(f">s{k}\n{'ACGT'[k % 4]}{'TGCA'[k // 4 % 4]}{'-ACGT'[k % 5]}\n" for k in range(40)))
            data = sal.Data.read(path, kind="alignment")
            training = sal.train("rbm:kind=categorical,hidden=2", data, iterations=2, seed=1, threads=1)
            self.assertEqual(training.model.blocks[0].letters, "-ACGT")
            with warnings.catch_warnings():  # few draws: the chains may disagree
                warnings.simplefilter("ignore", sal.SaltusWarning)
                sal.sample(training.model, chains=1, draws=20, seed=1).save(drawn)
            with open(drawn, encoding="ascii") as file:
                self.assertLessEqual(set("".join(line for line in file if line[0] != ">")), set("-ACGT\n"))
            named = sal.Model("rbm:visible=3,hidden=2,kind=categorical,alphabet=-HP")
            self.assertEqual((named.blocks[0].letters, named.blocks[0].states), ("-HP", 3))
            with self.assertRaisesRegex(sal.ArgumentError, "the data have the letters -ACGT; the model has the letters"):
                sal.train("rbm:kind=categorical,alphabet=protein", data, iterations=2)

    def test_an_rbm_by_name(self):
        data = sal.Data.digits(60, side=8, seed=1)
        held = data.split(20)
        training = sal.train("rbm:hidden=4", data, test=held, iterations=60, report_every=20, threads=1, seed=1)
        self.assertEqual(training.model.variables, 64)
        best = max(training.reports, key=lambda r: r["log_likelihood"])
        self.assertEqual([r["iteration"] for r in training.reports], [20, 40, 60])
        self.assertGreater(best["levels"], 1)  # trajectory tempering is suggested for it
        w, b, c = (training.model.params[name] for name in "Wbc")
        hidden = np.array(list(itertools.product([0, 1], repeat=4)))
        log_z = np.logaddexp.reduce(hidden @ c + np.logaddexp(0, b + hidden @ w).sum(axis=1))
        mean = training.model.value(held.codes, codes=True).mean() - log_z
        self.assertAlmostEqual(mean, best["log_likelihood"], delta=0.5)
        self.assertIn("log-likelihood", repr(training))
        training.run(20)
        self.assertEqual(training.iteration, 80)

    def test_options_take_the_place_of_suggestions(self):
        data = sal.Data.digits(60, side=8, seed=1)
        training = sal.train("rbm:hidden=4", data, objective="pcd", iterations=10, seed=0)
        self.assertEqual(training.report["levels"], 0)
        self.assertIsNotNone(training.report["difference"])
        training = sal.train("rbm:hidden=4", data, buffer=60, iterations=10, seed=0)
        self.assertEqual((training.report["levels"], len(training.samples)), (0, 60))

    def test_other_suggestions_stay(self):
        data = sal.Data.digits(60, side=8, seed=1)
        training = sal.train("rbm:hidden=4", data, sampler="gwg", steps=3, iterations=10, seed=0)
        self.assertGreater(training.report["levels"], 0)
        self.assertEqual(len(training.samples), 60)  # a batch is no more than the rows
        with open("family.fasta", "w", encoding="ascii") as file:
            file.writelines(f">{k}\n{'ACGU-'[k % 5]}{'ACGU-'[k // 5 % 5]}{'ACGU-'[k % 3]}\n" for k in range(40))
        self.addCleanup(os.remove, "family.fasta")
        family = sal.Data.read("family.fasta", kind="alignment")
        usual = sal.train("potts-alignment:file=family.fasta", family, iterations=3, pearson=0, seed=1)
        for given in ({"buffer": 200}, {"objective": "pcd"}):
            training = sal.train("potts-alignment:file=family.fasta", family, iterations=3, pearson=0, seed=1, **given)
            self.assertAlmostEqual(training.report["learning_rate"], 0.04)
            self.assertEqual(len(training.samples), given.get("buffer", 10000))
        np.testing.assert_array_equal(training.model.params.flat, usual.model.params.flat)

    def test_start_parameters_suit_the_data(self):
        data = sal.Data.digits(100, side=8, seed=1)
        model = sal.train("mlp:hidden=4,layers=1", data, iterations=1, batch=2, steps=1, objective="pcd", seed=0).model
        self.assertEqual(model.variables, 64)
        self.assertTrue(model.params.flat.any())


class SameBits(unittest.TestCase):
    def options(self, **more):
        return dict(dict(iterations=60, batch=20, steps=3, report_every=20, seed=3, averaging=0.9), **more)

    def setUp(self):
        self.data = lattice_draws(500)
        self.whole = sal.train(lattice(), self.data, **self.options())

    def same(self, training):
        np.testing.assert_array_equal(training.model.params.flat, self.whole.model.params.flat)
        np.testing.assert_array_equal(training.samples, self.whole.samples)
        np.testing.assert_array_equal(training.averages["J"], self.whole.averages["J"])

    def test_for_any_number_of_threads(self):
        for threads in (1, 2):
            self.same(sal.train(lattice(), self.data, **self.options(threads=threads)))

    def test_piece_by_piece(self):
        training = sal.train(lattice(), self.data, **self.options(iterations=25))
        self.same(training.run(15).run(20))
        self.assertEqual(training.iterations, 60)

    def test_after_a_checkpoint(self):
        with tempfile.TemporaryDirectory() as place:
            first = sal.train(lattice(), self.data, directory=place, report=lambda r: r["iteration"] < 40,
                              **self.options())
            self.assertEqual(first.iteration, 40)
            second = sal.train(lattice(), self.data, directory=place, **self.options())
            self.assertEqual([r["iteration"] for r in second.reports], [60])
            self.same(second)
            third = sal.train(lattice(), self.data, directory=place, **self.options())
            self.assertEqual(third.reports, [])
            self.same(third)
            self.assertEqual(third.report["iteration"], 60)
            self.same(sal.train(lattice(), self.data, directory=place, overwrite=True, **self.options()))

    def test_with_held_out_rows_where_the_model_has_the_best_parameters(self):
        data, held = lattice_draws(400), lattice_draws(50, seed=2)
        for place in (None, tempfile.mkdtemp()):
            options = dict(test=held, objective="ptt", batch=50, steps=3, report_every=5, learning_rate=0.1, seed=1,
                           directory=place)
            whole = sal.train(lattice(), data, iterations=80, **dict(options, directory=None))
            worse = [r["iteration"] for r in whole.reports if not r["best"]]
            pieces = sal.train(lattice(), data, iterations=worse[0], **options)  # here the model has others
            pieces.run(75 - worse[0], report=lambda r: r["iteration"] < worse[1])
            self.assertEqual(pieces.iteration, worse[1])
            pieces.run().run(5)
            self.assertEqual(whole.report["log_z"], pieces.report["log_z"])
            np.testing.assert_array_equal(whole.model.params.flat, pieces.model.params.flat)
            if place:
                np.testing.assert_array_equal(sal.read(place).params.flat, pieces.model.params.flat)
                again = sal.train(lattice(), data, iterations=80, **options)
                np.testing.assert_array_equal(again.model.params.flat, pieces.model.params.flat)
                shutil.rmtree(place)

    def test_of_an_rbm_as_part_of_a_net(self):
        data = (np.random.default_rng(1).random((60, 5)) < [0.2, 0.5, 0.7, 0.4, 0.9]).astype(int)
        options = dict(objective="ptt", batch=50, steps=2, iterations=20, seed=1, sampler="block-gibbs")
        with tempfile.TemporaryDirectory() as place:
            first = sal.train("rbm:visible=5,hidden=3", data, directory=place, **options)
            in_memory = sal.train("rbm:visible=5,hidden=3", data, **options)
            nets = [sal.train("mlp:visible=5,hidden=4,layers=1,units=3", data, first=f, fixed="W,b,c", **options)
                    for f in (first, place, in_memory)]
            with self.assertRaisesRegex(sal.ArgumentError, "no parameter W"):
                sal.train("mlp:visible=5,hidden=4,layers=1,units=2", data, first=first, **options)
        for net in nets:
            np.testing.assert_array_equal(net.model.params.flat, nets[0].model.params.flat)
            np.testing.assert_array_equal(net.model.params["W"], first.model.params["W"])
            self.assertAlmostEqual(net.report["log_z"], net.model.exact().log_z, delta=4.5 * net.report["log_z_error"])
        with self.assertRaisesRegex(sal.ArgumentError, "goes with trajectory tempering"):
            sal.train(nets[0].model, data, first=in_memory)
        with self.assertRaisesRegex(sal.ArgumentError, "expected a Training"):
            sal.train("mlp:visible=5,hidden=4,layers=1,units=3", data, first=3, **options)

    def test_of_a_net_with_what_suits_it(self):
        data = (np.random.default_rng(1).random((40, 4)) < [0.2, 0.5, 0.7, 0.4]).astype(int)
        with tempfile.TemporaryDirectory() as place:
            with self.assertRaisesRegex(sal.ArgumentError, "nothing"):  # before the first training
                sal.train("mlp:hidden=4,layers=1,units=2", data, iterations=10, seed=1, directory=place, fixed="nothing")
            self.assertFalse(os.path.exists(os.path.join(place, "first")))
            stopped = sal.train("mlp:hidden=4,layers=1,units=2", data, iterations=10, seed=1, directory=place,
                                progress=lambda done, total: done < 5)
            self.assertLess(stopped.iteration, stopped.iterations)
            whole = quiet(sal.train, "mlp:hidden=4,layers=1,units=2", data, iterations=10, directory=place)
            self.assertEqual(whole.seed, 1)
            first = sal.read(os.path.join(place, "first"))
            np.testing.assert_array_equal(whole.model.params["W"], first.params["W"])
            parts = sal.train("mlp:hidden=4,layers=1,units=2", data, iterations=10, seed=1)
            np.testing.assert_array_equal(whole.model.params.flat, parts.model.params.flat)
            self.assertEqual(quiet(sal.train, "mlp:hidden=4,layers=1,units=2", data, iterations=12, seed=1,
                                   directory=place).iteration, 12)

    def test_after_save_elsewhere(self):
        with tempfile.TemporaryDirectory() as place:
            quiet(sal.train, lattice(), self.data, **self.options(iterations=20)).save(place)
            self.same(sal.train(lattice(), self.data, directory=place, **self.options()))

    def test_after_an_interrupt(self):
        def interrupt(done, total):
            if done == 7:
                os.kill(os.getpid(), signal.SIGINT)

        with self.assertWarnsRegex(sal.SaltusWarning, "interrupted after"):
            training = sal.train(lattice(), self.data, progress=interrupt, interrupt="return", **self.options())
        self.assertIn(training.iteration, (7, 8))
        self.same(training.run())
        with self.assertRaises(KeyboardInterrupt) as stop:
            sal.train(lattice(), self.data, progress=interrupt, **self.options())
        training = stop.exception.training
        self.assertIn(training.iteration, (7, 8))
        self.same(training.run())
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)


class Directories(unittest.TestCase):
    def test_models_are_read_back(self):
        with tempfile.TemporaryDirectory() as place:
            where = os.path.join(place, "a", "b")
            training = sal.train(independent(), biased(), iterations=50, directory=where, averaging=0.9, seed=0)
            np.testing.assert_array_equal(sal.read(where).params["b"], training.averages["b"])
            again = sal.read(os.path.join(where, "model.xml"))
            np.testing.assert_array_equal(again.params["b"], training.model.params["b"])

    def test_an_earlier_training_is_not_mixed_up_with_another(self):
        with tempfile.TemporaryDirectory() as place:
            sal.train(independent(), biased(), iterations=20, directory=place, seed=0)
            for data, options in ((biased(seed=2), {}), (biased(), {"batch": 20})):
                with self.assertRaisesRegex(sal.DataError, "another directory"):
                    sal.train(independent(), data, iterations=20, directory=place, **options)
            os.unlink(os.path.join(place, "checkpoint.json"))
            with self.assertRaisesRegex(sal.ArgumentError, "overwrite=True"):
                sal.train(independent(), biased(), iterations=20, directory=place, seed=0)
            sal.train(independent(), biased(seed=2), iterations=20, directory=place, overwrite=True, seed=0)

    def test_an_error_deletes_and_makes_nothing(self):
        with tempfile.TemporaryDirectory() as place:
            sal.train(independent(), biased(), iterations=20, directory=place, seed=0)
            there = {name: open(os.path.join(place, name), "rb").read() for name in os.listdir(place)}
            for options in ({"sampler": "gwgg"}, {"bacth": 3}, {"batch": -1}, {"preconditioner": np.eye(3)},
                            {"seed": -1}, {"own": 3}):
                with self.subTest(str(options)), self.assertRaises(sal.SaltusError):
                    sal.train(independent(), biased(), directory=place, overwrite=True, **options)
                with self.assertRaises(sal.SaltusError):
                    sal.train(independent(), biased(), directory=os.path.join(place, "new"), **options)
                self.assertEqual(there, {name: open(os.path.join(place, name), "rb").read()
                                         for name in os.listdir(place)})

    def test_overwriting_leaves_nothing_of_the_earlier_training(self):
        with tempfile.TemporaryDirectory() as place:
            sal.train(independent(), biased(), iterations=20, report_every=10, averaging=0.9, directory=place, seed=0)
            for letter in "ab":
                open(os.path.join(place, f"checkpoint-{letter}.safetensors"), "ab").close()
            _make_directory(place, True)
            self.assertEqual(os.listdir(place), [])

    def test_what_goes_on_is_told(self):
        def told(model, **options):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                training = sal.train(model, biased(), directory=place, **options)
            self.assertTrue(all(os.path.basename(w.filename) == "test_training.py" for w in caught))
            return training, "".join(str(w.message) for w in caught)

        with tempfile.TemporaryDirectory() as place:
            first, text = told(independent(), iterations=20)
            self.assertEqual(text, "")
            again, text = told(independent(np.ones(4)), iterations=20)
            self.assertRegex(text, "already made all 20 iterations; more.*those of the checkpoint.*overwrite=True")
            np.testing.assert_array_equal(again.model.params.flat, first.model.params.flat)
            self.assertNotIn("those of the checkpoint", told(independent(), iterations=20)[1])
            self.assertRegex(told(independent(), iterations=30, learning_rate=0.1)[1],
                             "goes on from iteration 20 of .*learning rate 0.1 instead of 0.001")
            self.assertEqual(told(independent(), iterations=40, learning_rate=0.1)[1], "")
            self.assertRegex(told(independent(np.ones(4)), iterations=50, learning_rate=0.1)[1],
                             "from iteration 40.*those of the checkpoint")

    def test_fewer_iterations_than_made_are_refused(self):
        with tempfile.TemporaryDirectory() as place:
            sal.train(independent(), biased(), iterations=60, directory=place, seed=0)
            model = independent(np.ones(4))
            with self.assertRaisesRegex(sal.ArgumentError, "already made 60 iterations; 30 were asked for"):
                sal.train(model, biased(), iterations=30, directory=place, seed=0)
            np.testing.assert_array_equal(model.params["b"], 1)


FORK = """
import os
import numpy as np, saltus as sal
def run(threads):
    return sal.sample("ising:side=4,theta=0.1", draws=200, chains=4, seed=1, threads=threads).draws
whole = run(2)
child = os.fork()
if child == 0:
    model = sal.Model("ising:side=4,theta=0.1")
    model.value(np.ones((1000, 16)))
    os._exit(0 if np.array_equal(run(None), whole) and np.array_equal(run(3), whole) else 1)
print(os.waitpid(child, 0)[1])
"""


class Threads(unittest.TestCase):
    def test_a_forked_process_starts_threads_of_its_own(self):
        if not hasattr(os, "fork"):
            self.skipTest("no fork")
        with subprocess.Popen([sys.executable, "-c", FORK], stdout=subprocess.PIPE, text=True,
                              start_new_session=True) as parent:
            try:
                self.assertEqual(parent.communicate(timeout=100)[0].split()[-1:], ["0"])
            finally:
                if parent.poll() is None:
                    os.killpg(parent.pid, signal.SIGKILL)

    def test_one_training_runs_once_at_a_time(self):
        training = sal.train(independent(), biased(), iterations=10, seed=0)
        with self.assertRaisesRegex(sal.SaltusError, "runs already"):
            training.run(10, progress=lambda done, total: training.run(1) and None)
        failures = []

        def other():
            try:
                training.run(1)
            except sal.SaltusError as failure:
                failures.append(str(failure))

        def progress(done, total):
            if not failures:
                thread = threading.Thread(target=other)
                thread.start()
                thread.join()

        training.run(10, progress=progress)
        self.assertRegex(failures[0], "runs already")
        self.assertEqual(training.run(1).iteration, training.iterations)


class Endings(unittest.TestCase):
    def test_functions_may_stop_it(self):
        for end in (10, 15):
            training = sal.train(independent(), biased(), report_every=5, report=lambda r: r["iteration"] < end, seed=0)
            self.assertEqual(training.iteration, end)
        training = sal.train(independent(), biased(), progress=lambda done, total: done < 12, seed=0)
        self.assertEqual((training.iteration, training.report["iteration"]), (12, 12))
        training = sal.train(independent(), biased(), progress=lambda done, total: np.bool_(done < 12), seed=0)
        self.assertEqual(training.iteration, 12)
        training = sal.train(independent(), biased(), report_every=5, seed=0,
                             report=lambda r: np.float64(r["iteration"]) < 10)
        self.assertEqual(training.iteration, 10)
        for answer in (None, 0, 1, True, np.True_):
            training = sal.train(independent(), biased(), iterations=10, report_every=5, report=lambda r: answer,
                                 progress=lambda done, total: answer, seed=0)
            self.assertEqual(training.iteration, 10)

    def test_what_functions_raise_comes_back(self):
        def broken(*_):
            raise Mine("here")

        for options in ({"report": broken}, {"progress": broken}):
            with self.subTest(str(options)), self.assertRaisesRegex(Mine, "here"):
                sal.train(independent(), biased(), report_every=5, **options)
        with self.assertRaises(Mine):
            sal.train(independent(), biased(), own=sal.Sampler("mine", broken, broken), seed=0)

    def test_divergence_keeps_the_last_good_report(self):
        model = lattice()
        seen = []
        with self.assertRaisesRegex(sal.ModelError, "diverged") as caught:
            sal.train(model, lattice_draws(500), learning_rate=0.1, report_every=1, iterations=500, steps=1,
                      report=lambda r: seen.append(model.params.flat), largest_difference=0.5, seed=0)
        self.assertGreater(len(seen), 1)
        np.testing.assert_array_equal(model.params.flat, seen[-1])
        self.assertIs(caught.exception.training.model, model)

    def test_divergence_before_any_report_leaves_a_model(self):
        with tempfile.TemporaryDirectory() as place:
            model = lattice(COUPLINGS)
            with self.assertRaisesRegex(sal.ModelError, "those of iteration 0"):
                sal.train(model, lattice_draws(500), largest_difference=1e-9, directory=place, seed=0)
            np.testing.assert_array_equal(sal.read(place).params["J"], COUPLINGS)

    def test_no_checkpoint_follows_a_report_that_failed(self):
        def broken(report):
            if report["iteration"] == 10:
                raise Mine

        with tempfile.TemporaryDirectory() as place:
            with self.assertRaises(Mine):
                sal.train(independent(), biased(), report_every=5, report=broken, directory=place, seed=0)
            again = sal.train(independent(), biased(), report_every=5, iterations=20, directory=place, seed=0)
            self.assertEqual([r["iteration"] for r in again.reports], [10, 15, 20])

    def test_ctrl_c_at_any_moment_is_not_lost(self):
        data = sal.Data(biased())
        for options in ({}, {"progress": False}, {"progress": lambda done, total: None}):
            timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))

            def begun(report):
                if report["iteration"] == 100:  # not before: earlier it would end this program
                    timer.start()

            with self.assertRaises(KeyboardInterrupt) as stop:
                sal.train(independent(), data, iterations=10 ** 8, steps=1, batch=1, report_every=100,
                                     report=begun, **options)
            timer.join()
            self.assertGreater(stop.exception.training.iteration, 0)

    def test_ctrl_c_after_the_last_update_is_not_lost(self):
        def signalled(self):
            os.kill(os.getpid(), signal.SIGINT)

        for ends in (signalled, KeyboardInterrupt):
            with mock.patch.object(sal.Training, "_take_best", autospec=True, side_effect=ends):
                with self.assertRaises(KeyboardInterrupt) as stop:
                    sal.train(independent(), biased(), iterations=3, seed=0)
                self.assertEqual(stop.exception.training.iteration, 3)
                with self.assertWarnsRegex(sal.SaltusWarning, "interrupted after 3 of 3"):
                    training = sal.train(independent(), biased(), iterations=3, seed=0, interrupt="return")
            self.assertEqual(training.run(2).iteration, 5)

    def test_reports(self):
        training = sal.train(independent(), biased(), iterations=50, report_every=20, seed=0)
        self.assertEqual([r["iteration"] for r in training.reports], [20, 40, 50])
        last = training.report
        self.assertEqual(last["difference"], last["log_prob_data"] - last["log_prob_samples"])
        self.assertTrue(0 < last["acceptance_rate"] <= 1)
        self.assertIsNone(training.averages)
        self.assertEqual(len(repr(training).split("\n")), 5)
        self.assertIn("<table>", training._repr_html_())

    def test_units_that_start_equal_are_named(self):
        s = sal.binary(4)
        w, b = sal.param("W", (3, 4)), sal.param("b", 4)
        rbm = sal.Model(sal.softplus(w @ s).sum() + (b * s).sum())
        with self.assertWarnsRegex(sal.SaltusWarning, "all units of W learn the same") as told:
            sal.train(rbm, biased(), iterations=20, seed=0)
        self.assertEqual(os.path.basename(told.filename), "test_training.py")
        rbm.params["W"] = np.random.default_rng(1).normal(0, 0.01, (3, 4))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sal.train(rbm, biased(), iterations=20, seed=0)
            sal.train(independent(), biased(), iterations=20, seed=0)
            sal.train(lattice(), lattice_draws(500), iterations=20, seed=0)
        nothing = sal.Model((sal.param("a", 3) * sal.tanh(w @ s)).sum())
        with self.assertWarnsRegex(sal.SaltusWarning, "nothing is learned"):
            sal.train(nothing, biased(), iterations=20, seed=0)

    def test_trainings_are_freed(self):
        training = sal.train(independent(), biased(), iterations=5, seed=0)
        gone = weakref.ref(training), weakref.ref(training._trainer), weakref.ref(training._hooks)
        del training
        gc.collect()
        self.assertEqual([one() for one in gone], [None] * 3)

    def test_data_may_be_split_or_dropped_meanwhile(self):
        data = sal.Data(biased())
        training = sal.train(independent(), data, iterations=5, seed=0)
        data.split(1900)
        del data
        gc.collect()
        self.assertEqual(training.run(10).iteration, 15)

    def test_what_does_not_fit(self):
        def refused(error, text, *args, **kwargs):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                sal.train(*args, **kwargs)

        refused(sal.ShapeError, "3 variables; the model has 4", independent(), biased()[:, :3])
        refused(sal.ShapeError, "test: rows of 3", independent(), biased(), test=biased()[:, :3])
        refused(sal.ArgumentError, "code 2", independent(), 2 * biased())
        refused(sal.ArgumentError, "-1", independent(), 2 * biased().astype(int) - 1)
        refused(sal.ArgumentError, "smaller batch", independent(), biased(20), objective="cd")
        refused(sal.NotFoundError, "batch", independent(), biased(), bacth=3)
        refused(sal.NotFoundError, "rbm", "rbn:hidden=3", biased())
        refused(sal.UnsupportedError, "no parameters", sal.Model(sal.binary(4).sum()), biased())
        called = sal.Model.from_function(lambda x: -x.sum(axis=1), sal.binary(4), name="Br")
        refused(sal.UnsupportedError, "Br has no parameters; .*called back.*saltus.param", called, biased())
        refused(sal.ArgumentError, "own: .*Sampler.*found function", independent(), biased(), own=lambda s, r: None)
        for seed in (1.5, -1, 2 ** 64, "1"):
            refused(sal.ArgumentError, "seed .*whole number", independent(), biased(), seed=seed)

    def test_seeds_may_be_of_any_whole_type_or_none(self):
        data = sal.Data.digits(60, side=8, seed=1)
        options = dict(objective="pcd", iterations=3, batch=10, steps=1)
        found = [sal.train("rbm:hidden=2", data, seed=seed, **options).model.params.flat
                 for seed in (0, np.int64(0), None)]
        np.testing.assert_array_equal(found[0], found[1])
        self.assertTrue((found[0] != found[2]).any())

    def test_a_training_without_a_seed_goes_on_with_its_own(self):
        options = dict(steps=1, batch=10)
        with tempfile.TemporaryDirectory() as place:
            first = sal.train(independent(), biased(), iterations=10, directory=place, **options)
            second = sal.train(independent(), biased(), iterations=20, directory=place, **options)
            self.assertEqual(second.seed, first.seed)
            whole = sal.train(independent(), biased(), iterations=20, seed=first.seed, **options)
            np.testing.assert_array_equal(second.model.params.flat, whole.model.params.flat)
            third = sal.train(independent(), biased(), iterations=10, directory=place, overwrite=True, **options)
            self.assertNotEqual(third.seed, first.seed)


class Ladders(unittest.TestCase):
    """Samples of a training go along its ladder, as those of the program do."""

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp()
        cls.directory = os.path.join(cls.place, "digits")
        options = dict(iterations=60, batch=50, seed=1, progress=False)
        data = sal.Data.digits(200, side=8, seed=1)
        cls.training = sal.train("rbm:hidden=4", data, directory=cls.directory, **options)
        cls.other = sal.train("rbm:hidden=4", data, **options)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.place)

    def sample(self, model, *arguments, **options):
        return quiet(sal.sample, model, *arguments, **dict(dict(draws=30, chains=2, seed=2), **options))

    def test_all_ways_to_name_a_training_give_the_same_draws(self):
        reference = self.sample(self.directory)
        self.assertGreater(reference.summary["ladder"]["levels"], 1)
        self.assertIn("levels", repr(reference))
        ways = [self.training, self.other, sal.Model(self.directory), pathlib.Path(self.directory)]
        runs = [self.sample(way) for way in ways]
        runs.append(self.sample(self.training.model, trajectory=self.directory))
        runs.append(self.sample(self.training.model, trajectory=self.other))
        for run in runs:
            self.assertEqual(run.summary["ladder"], reference.summary["ladder"])
            np.testing.assert_array_equal(run.draws, reference.draws)

    def test_the_program_draws_the_same(self):
        program = os.environ.get("SALTUS_PROGRAM")
        if not program:
            self.skipTest("SALTUS_PROGRAM is not set")
        for word, options in (("yes", {}), ("no", {"ladder": False}), ("no", {"tempering": 2})):
            path = os.path.join(self.place, "d.npy")
            more = ["--tempering", "2"] if "tempering" in options else ["--ladder", word] if options else []
            subprocess.run([program, "sample", self.directory, "--draws", "30", "--chains", "2", "--seed", "2",
                            "--out", path, *more], check=True, capture_output=True)
            run = self.sample(self.directory, **options)
            self.assertEqual("ladder" in run.summary, word == "yes")
            np.testing.assert_array_equal(run.draws, np.load(path))

    def test_other_ways_of_sampling_have_none(self):
        for options in ({"ladder": False}, {"sampler": "gibbs"}, {"tempering": 2}, {"anneal": True},
                        {"clamp": {0: 1}}):
            with self.subTest(options):
                self.assertNotIn("ladder", self.sample(self.directory, **options).summary)
        model = sal.Model(self.directory)
        model.params["b"] = model.params["b"] + 0.1
        self.assertNotIn("ladder", self.sample(model).summary)
        for options in ({"ladder": True}, {"ladder": True, "sampler": "gibbs"}, {"trajectory": self.directory}):
            with self.subTest(options):
                self.assertIn("ladder", self.sample(model, **options).summary)

    def test_a_run_along_a_ladder_goes_on(self):
        whole = self.sample(self.directory, draws=60)
        for model in (self.directory, self.other):
            np.testing.assert_array_equal(self.sample(model).resume(60).draws, whole.draws)
        try:
            path = os.path.join(self.place, "run.nc")
            self.sample(self.directory, out=path)
        except sal.UnsupportedError as error:
            self.skipTest(str(error))
        np.testing.assert_array_equal(quiet(sal.resume, path, 60).draws, whole.draws)

    def test_where_there_is_no_ladder(self):
        for model, options in (("ising:side=3", {"ladder": True}), (sal.binary(3).sum(), {"ladder": True}),
                               (self.directory, {"trajectory": self.place})):
            with self.assertRaisesRegex(sal.NotFoundError, "ladder"):
                self.sample(model, **options)
        for options, text in (({"ladder": "yes"}, "ladder: expected True, False or None"),
                              ({"trajectory": 3}, "trajectory: expected a Training or the directory"),
                              ({"ladder": True, "tempering": 2}, "does not go together")):
            with self.assertRaisesRegex(sal.ArgumentError, text):
                self.sample(self.directory, **options)
        training = quiet(sal.train, independent(), biased(), iterations=5, seed=0)
        self.assertNotIn("ladder", self.sample(training).summary)
        with self.assertRaisesRegex(sal.NotFoundError, "ptt"):
            self.sample(training, ladder=True)

    def test_a_comparison_of_a_training(self):
        table = quiet(sal.compare, self.training, ["gibbs", "gwg"], draws=20, seed=0)
        self.assertEqual(len(table), 2)


class Evaluations(unittest.TestCase):
    def setUp(self):
        self.model = lattice(COUPLINGS)
        self.test = lattice_draws(300, seed=2)

    def test_log_z_is_exact_within_its_errors(self):
        result = sal.evaluate(self.model, self.test, temperatures=200, samples=lattice_draws(100, seed=3), seed=1)
        exact = self.model.exact().log_z
        for way in (result.forward, result.reverse, result.both_ways):
            self.assertLess(abs(way["log_z"] - exact), 5 * way["log_z_error"])
        self.assertLess(result.both_ways["log_z_error"], min(result.forward["log_z_error"],
                                                             result.reverse["log_z_error"]))
        self.assertIn("log Z both ways", repr(result))
        self.assertIsNone(sal.evaluate(self.model, self.test, temperatures=20, seed=1).both_ways)
        mean = self.model.value(self.test, codes=True).mean()
        self.assertAlmostEqual(result.log_likelihood, mean - result.log_z, places=10)
        self.assertIsNone(result.independent)
        self.assertIsNone(result.verdict)
        self.assertEqual(result.warnings, [])

    def test_the_same_bits_for_any_number_of_threads(self):
        found = [sal.evaluate(self.model, self.test, temperatures=50, seed=1, threads=n).log_z for n in (1, 2)]
        self.assertEqual(found[0], found[1])

    def test_baseline_and_verdict_need_training_rows(self):
        train = biased(1000)
        test = biased(500, seed=2)
        training = sal.train(independent(), train, objective="pseudo-likelihood", batch=1000, iterations=1500,
                             learning_rate=0.05, rate_schedule="cosine", seed=0)
        result = quiet(sal.evaluate, training, test, temperatures=20, fresh=400)
        p = train.mean(axis=0)
        wanted = (test * np.log(p) + (1 - test) * np.log(1 - p)).sum(axis=1).mean()
        self.assertAlmostEqual(result.independent["log_likelihood"], wanted, places=6)
        self.assertAlmostEqual(result.log_likelihood, wanted, delta=0.01)
        self.assertIn(result.verdict["verdict"], ("like", "close", "unknown"))
        self.assertEqual(result.samples.shape[0] * result.samples.shape[1], result.verdict["chains"] *
                         result.verdict["draws"])
        self.assertLess(np.abs(result.samples.mean(axis=(0, 1)) - p).max(), 0.15)
        for text in ("held-out rows", "log Z forward", "independent", "verdict"):
            self.assertIn(text, repr(result))
        self.assertIn("<table>", result._repr_html_())

    def test_estimates_the_wrong_way_round_are_told(self):
        s = sal.binary(10)
        model = sal.Model(3.0 * s.sum())
        nothing = np.zeros((200, 10), int)
        nothing[:, 0] = 1
        with self.assertWarnsRegex(sal.SaltusWarning, "wrong way round.*held-out rows"):
            result = sal.evaluate(model, nothing, temperatures=3, seed=0)
        self.assertIn("warning: log Z", repr(result))

    def test_samples_are_where_reverse_paths_start(self):
        run = quiet(sal.sample, self.model, draws=200, seed=1)
        for samples in (run, run.draws):
            result = sal.evaluate(self.model, self.test, temperatures=100, samples=samples, seed=0)
            self.assertLess(abs(result.reverse["log_z"] - self.model.exact().log_z), 5 * result.reverse["log_z_error"])
            self.assertGreater(result.mmd2_v, result.mmd ** 2)
            self.assertIn("V-statistic", repr(result))
        with self.assertRaisesRegex(sal.ArgumentError, "samples"):
            sal.evaluate(self.model, self.test, samples=np.zeros((5, 3), int), seed=0)

    def test_reverse_paths_start_at_different_rows(self):
        result = sal.evaluate(self.model, self.test[:7], chains=20, temperatures=5, seed=0)
        self.assertEqual((result.forward["chains"], result.reverse["chains"]), (20, 7))

    def test_directories_and_specifications(self):
        with tempfile.TemporaryDirectory() as place:
            sal.train(lattice(), lattice_draws(500), iterations=20, directory=place, seed=0)
            result = quiet(sal.evaluate, place, self.test, lattice_draws(500), temperatures=20, fresh=200)
            self.assertGreater(result.verdict["persistent_rows"], 100)

    def test_endings(self):
        def broken(*_):
            raise Mine("here")

        with self.assertRaises(Mine):
            sal.evaluate(self.model, self.test, progress=broken, seed=0)
        with self.assertRaises(Mine):
            sal.evaluate(self.model, self.test, own=sal.Sampler("mine", broken, broken), seed=0)
        result = quiet(sal.evaluate, self.model, self.test, temperatures=5, progress=lambda done, total: False)
        self.assertIsNone(result.forward)
        self.assertIn("no estimate", result.warnings[0])

        def interrupt(done, total):
            os.kill(os.getpid(), signal.SIGINT)

        for word in ("raise", "return"):  # there is nothing to return yet
            with self.assertRaises(KeyboardInterrupt) as stop:
                sal.evaluate(self.model, self.test, temperatures=500, progress=interrupt, interrupt=word, seed=0)
            self.assertIsNone(stop.exception.evaluation.forward)

    def test_an_interrupted_evaluation_is_raised_with_what_there_is(self):
        def interrupt(done, total):
            if done == total:
                os.kill(os.getpid(), signal.SIGINT)

        with self.assertRaises(KeyboardInterrupt) as stop:
            sal.evaluate(self.model, self.test, temperatures=20, progress=interrupt, seed=3)
        self.assertIsNotNone(stop.exception.evaluation.forward)
        self.assertIsNone(stop.exception.evaluation.reverse)
        self.assertEqual(stop.exception.evaluation.seed, 3)

    def test_an_interrupt_at_the_last_step_of_a_part_ends_it(self):
        parts = []

        def interrupt(done, total):
            parts[-1:] = [done] if parts and done > parts[-1] else parts[-1:] + [done]
            if len(parts) == last and done == total:
                os.kill(os.getpid(), signal.SIGINT)

        for last, text in ((1, "forward estimate only"), (2, "no verdict")):
            parts.clear()
            with self.assertWarnsRegex(sal.SaltusWarning, text):
                result = sal.evaluate(self.model, self.test, lattice_draws(500), temperatures=20, fresh=100,
                                      progress=interrupt, interrupt="return", seed=0)
            self.assertEqual(len(parts), last)
            self.assertIsNotNone(result.forward)
            self.assertEqual(result.reverse is None, last == 1)
            self.assertIsNone(result.verdict)

    def test_an_interrupt_between_the_parts_keeps_what_there_is(self):
        answer_of = _library.answer_of

        def signalled(text):
            answer = answer_of(text)
            if "chains" in answer and not begun:
                begun.append(answer)
                os.kill(os.getpid(), signal.SIGINT)
            return answer

        for word in ("raise", "return"):
            begun = []
            with mock.patch.object(_library, "answer_of", side_effect=signalled):
                if word == "raise":
                    with self.assertRaises(KeyboardInterrupt) as stop:
                        sal.evaluate(self.model, self.test, temperatures=5, seed=0)
                    result = stop.exception.evaluation
                else:
                    with self.assertWarnsRegex(sal.SaltusWarning, "forward estimate only"):
                        result = sal.evaluate(self.model, self.test, temperatures=5, interrupt=word, seed=0)
            self.assertEqual(result.forward, begun[0])
            self.assertIsNone(result.reverse)
        with mock.patch.object(_evaluate._Session, "agree", side_effect=KeyboardInterrupt):
            with self.assertRaises(KeyboardInterrupt) as stop:
                sal.evaluate(self.model, self.test, temperatures=5, seed=0)
            self.assertIsNotNone(stop.exception.evaluation.reverse)
            with self.assertWarnsRegex(sal.SaltusWarning, "^interrupted; what is missing"):
                result = sal.evaluate(self.model, self.test, temperatures=5, interrupt="return", seed=0)
        self.assertIsNotNone(result.reverse)

    def test_an_interrupt_of_the_verdict_is_told(self):
        seen = []

        def interrupt(done, total):
            seen.append((done, total))
            if sum(d == t for d, t in seen[:-1]) >= 2:
                os.kill(os.getpid(), signal.SIGINT)

        for ends in (interrupt, lambda done, total: total < 100):
            with self.assertWarnsRegex(sal.SaltusWarning, "^stopped; there is no verdict"):
                result = sal.evaluate(self.model, self.test, lattice_draws(500), temperatures=20, fresh=1000,
                                      progress=ends, interrupt="return", seed=0)
            self.assertIsNotNone(result.reverse)
            self.assertIsNone(result.verdict)

    def test_what_does_not_fit(self):
        with self.assertRaisesRegex(sal.ShapeError, "test: rows of 4"):
            sal.evaluate(self.model, biased(), seed=0)
        with self.assertRaisesRegex(sal.ShapeError, "train: rows of 4"):
            sal.evaluate(self.model, self.test, biased(), seed=0)
        with self.assertRaisesRegex(sal.ArgumentError, "fresh"):
            sal.evaluate(self.model, self.test, fresh=-1, seed=0)


if __name__ == "__main__":
    unittest.main()

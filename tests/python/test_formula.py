# SPDX-License-Identifier: MIT
"""Formulas: every operator and function against NumPy, shapes, and mistakes at the user's line."""

import inspect
import itertools
import math
import os
import re
import unittest

import numpy as np

import saltus as sal
from saltus import _formula

try:
    import scipy.sparse as sparse
except ImportError:
    sparse = None
try:
    import torch
except ImportError:
    torch = None

SPIN_STATES = np.array([[1, -1, 1, 1, -1, -1], [-1, -1, 1, -1, 1, 1], [1, 1, 1, -1, -1, 1]])
MATRIX = np.random.default_rng(0).normal(size=(6, 6))
VECTOR = np.random.default_rng(1).normal(size=6)
CUBE = np.random.default_rng(5).normal(size=(2, 2, 3))
FLAT = lambda s: s.reshape(2, 3)
CUBED = lambda s: s.reshape(1, 2, 3) + CUBE
# Forms by what they show: the same code on an expression of six spins and on an array.
FORMS = {
    "comparisons": [
        lambda s: np.where(s > 0, VECTOR, 3.0), lambda s: np.where(s + 0.5 * VECTOR >= 0.2, s, 2 * s),
        lambda s: (s == 1) * VECTOR,
        lambda s: (s != 1) * VECTOR, lambda s: (VECTOR < s) * VECTOR, lambda s: (FLAT(s)[:, ::2] <= 0) * VECTOR[:2, None],
        lambda s: ((s > 0) & (np.roll(s, 1) < 0)) * VECTOR, lambda s: ((s > 0) | (np.roll(s, 1) > 0)) * VECTOR,
        lambda s: (~(s > 0)) * VECTOR, lambda s: ((s > 0) ^ (s[::-1] > 0)) * VECTOR,
        lambda s: np.where(s[:5] + s[1:] > 0.1, 2 * s[1:], 5.0),
        lambda s: np.where(s[0] + s[1] == 0, s[2], 2.0) * VECTOR, lambda s: np.logical_not(s > 0) * VECTOR,
        lambda s: np.where(s > 0, np.log(s + 1.0001), s), lambda s: np.where(np.exp(s) > 1, 1.0, VECTOR),
        lambda s: np.where(s > -5, VECTOR, 3.0), lambda s: (s.sum() > 1) * VECTOR, lambda s: (s < s[::-1]) * VECTOR],
    "elementary": [
        np.exp2, lambda s: np.log2(s + 2), lambda s: np.log10(s + 2), np.expm1, lambda s: np.expm1(1e-9 * s) * 1e9,
        np.cosh, np.sinh,
        lambda s: np.sinh(1e-9 * s) * 1e9, lambda s: np.arctan(2 * s), lambda s: np.sign(s - 0.1),
        lambda s: np.sign(s + s[::-1] + 0.1),
        lambda s: np.floor(1.5 * s), lambda s: np.ceil(1.5 * s + VECTOR), lambda s: np.rint(s * 1.7),
        lambda s: np.trunc(s * 1.7),
        lambda s: 2 ** s, lambda s: np.abs(VECTOR) ** s, lambda s: np.power(3.0, s), lambda s: (s + 2) ** np.arange(6),
        lambda s: (FLAT(s) - 1.5) ** np.array([[2], [3]]), lambda s: np.power(s + 2, VECTOR), lambda s: np.reciprocal(s + 3),
        lambda s: s ** np.array(2)],
    "clip": [
        lambda s: np.clip(s, a_min=-0.5, a_max=0.9), lambda s: np.clip(s, None, VECTOR), lambda s: s.clip(min=-0.5, max=0.7),
        lambda s: s.clip(-0.4), lambda s: np.clip(s, VECTOR - 1, VECTOR)],
    "reductions": [
        lambda s: np.prod(s + VECTOR), lambda s: CUBED(s).prod(1), lambda s: np.prod(CUBED(s), (0, 2), keepdims=True),
        lambda s: s[:5].prod(),
        lambda s: np.var(s + VECTOR), lambda s: CUBED(s).var(axis=(0, 2), ddof=1),
        lambda s: np.std(CUBED(s), -1, keepdims=True),
        lambda s: (s + VECTOR).std(ddof=1), lambda s: np.average(s + VECTOR, weights=VECTOR ** 2),
        lambda s: np.average(CUBED(s), 1),
        lambda s: np.average(CUBED(s), -1, weights=[1.0, 2, 3]), lambda s: np.average(CUBED(s), (0, 1), weights=CUBE ** 2),
        lambda s: np.average(FLAT(s) ** 2, 0, weights=FLAT(s) + 2), lambda s: np.trace(FLAT(s)), lambda s: FLAT(s).trace(1)],
    "products": [
        lambda s: np.einsum("i,ij,j", s, MATRIX, s), lambda s: np.einsum("ij,kj->ik", FLAT(s), MATRIX[:, :3]),
        lambda s: np.einsum("i->", s),
        lambda s: np.einsum("bij,bjk->ikb", CUBED(s), CUBE.transpose(0, 2, 1)),
        lambda s: np.einsum("ii->i", np.outer(s, s) + MATRIX),
        lambda s: np.einsum("ii", np.outer(s, VECTOR)), lambda s: np.einsum("ij,ij->j", FLAT(s), FLAT(s)),
        lambda s: np.einsum("i,j->ji", s, VECTOR),
        lambda s: np.einsum("ij,jk,kl->il", MATRIX, np.outer(s, s), MATRIX),
        lambda s: np.einsum("bij, j -> b", CUBED(s), VECTOR[:3]),
        lambda s: np.einsum("ij->ji", FLAT(s)), lambda s: np.einsum("ij,k->", FLAT(s), VECTOR),
        lambda s: np.einsum("abc,abd,e->cde", CUBED(s), CUBE, s[:2]),
        lambda s: np.outer(s, VECTOR), lambda s: np.inner(FLAT(s), FLAT(VECTOR)), lambda s: np.inner(s, s),
        lambda s: np.inner(s, 2.0),
        lambda s: np.tensordot(CUBED(s), FLAT(s)), lambda s: np.tensordot(CUBED(s), CUBE, ([0, 2], [1, 2])),
        lambda s: np.tensordot(s[:2], CUBE, 1),
        lambda s: np.tensordot(s[:2], VECTOR, 0), lambda s: np.tensordot(FLAT(s), MATRIX[:3], (-1, 0)),
        lambda s: CUBED(s) @ s[:3], lambda s: s[:2] @ CUBED(s), lambda s: CUBED(s) @ FLAT(s).T,
        lambda s: FLAT(s) @ CUBE.transpose(0, 2, 1),
        lambda s: s.reshape(2, 1, 1, 3) @ CUBE.transpose(0, 2, 1), lambda s: CUBED(s)[None] @ CUBE.reshape(2, 1, 3, 2),
        lambda s: MATRIX @ s,
        lambda s: s[:3] @ FLAT(s).T, lambda s: np.matmul(CUBED(s)[:1], CUBE.transpose(0, 2, 1))],
    "places": [
        lambda s: np.roll(s, 2), lambda s: np.roll(FLAT(s), 1), lambda s: np.roll(FLAT(s), (1, -1), (0, 1)),
        lambda s: np.roll(FLAT(s), -1, axis=1),
        lambda s: np.diff(s), lambda s: np.diff(CUBED(s), axis=1), lambda s: np.diff(s, n=2),
        lambda s: np.flip(CUBED(s)), lambda s: np.flip(FLAT(s), 0),
        lambda s: np.pad(s, 2), lambda s: np.pad(FLAT(s), ((1, 0), (0, 2)), constant_values=3.0),
        lambda s: np.pad(FLAT(s), 1, mode="wrap"),
        lambda s: np.pad(FLAT(s), (1, 2), "edge"), lambda s: np.tile(s, 2), lambda s: np.tile(FLAT(s), (2, 1, 2)),
        lambda s: np.repeat(s, 2),
        lambda s: FLAT(s).repeat([1, 0, 2], axis=1), lambda s: np.triu(np.outer(s, s), 1), lambda s: np.tril(CUBED(s)),
        lambda s: np.diagonal(CUBED(s), 0, 1, 2),
        lambda s: CUBED(s).swapaxes(0, -1), lambda s: np.swapaxes(FLAT(s), 0, 1),
        lambda s: np.broadcast_to(s[:2].reshape(2, 1), (3, 2, 2)),
        lambda s: np.hstack([s, s[:2], VECTOR]), lambda s: np.vstack([s, VECTOR, s]), lambda s: FLAT(s).diagonal()],
    "indices": [
        lambda s: FLAT(s)[[0, 1, 1], [2, 0, 0]], lambda s: CUBED(s)[:, [0, 1], [2, 2]],
        lambda s: CUBED(s)[[0, 1], :, [2, 2]],
        lambda s: FLAT(s)[np.ix_([1, 0], [2, 0, 0])], lambda s: FLAT(s)[FLAT(VECTOR) > 0],
        lambda s: CUBED(s)[CUBE[:, :, 0] > 0], lambda s: CUBED(s)[..., CUBE[0] > 0],
        lambda s: CUBED(s)[0, :, [1, 2]], lambda s: FLAT(s)[[[0], [1]], [0, 2]], lambda s: s[3:3].sum() + s,
        lambda s: np.concatenate([s[:0], s[2:]]),
        lambda s: np.sum(s[4:2] * VECTOR[:0]) + s, lambda s: FLAT(s)[1, [0, 2], None],
        lambda s: (FLAT(s)[:, 1:1] @ np.zeros((0, 6))) * s[0] + s],
}


def line():
    return inspect.currentframe().f_back.f_lineno


class AgainstNumPy(unittest.TestCase):
    """The same code on expressions and on arrays; `f` gets a state of six spins."""

    def check(self, f, reference=None):
        model = sal.Model(f(sal.spins(6)))
        expected = np.array([(reference or f)(s.astype(float)) for s in SPIN_STATES])
        np.testing.assert_allclose(model.value(SPIN_STATES), expected, rtol=1e-12, atol=1e-12)
        # the gradient against differences off the lattice
        x = np.random.default_rng(2).uniform(0.2, 0.8, size=(2, 6))
        gradient, h = model.gradient_at(x), 1e-6
        for i in range(6):
            step = np.zeros(6)
            step[i] = h
            slope = (model.value_at(x + step) - model.value_at(x - step)) / (2 * h)
            np.testing.assert_allclose(gradient[:, i], slope, rtol=1e-5, atol=1e-7)

    def test_operators(self):
        self.check(lambda s: (2 * s + 1 - s / 3 + (-s) * VECTOR - (1 - s)).sum())
        self.check(lambda s: (s[0] + s[1]) * s[2] / (3 + s[3]) - 2 / (5 + s[4]))
        self.check(lambda s: (VECTOR + s * s + VECTOR * s - (VECTOR - s) + (+s)).sum())
        self.check(lambda s: ((2 + s) ** 2 + (2 + s) ** 3 + (2 + s) ** 0.5).sum())
        self.check(lambda s: abs(s - 0.5).sum())

    def test_products(self):
        self.check(lambda s: s @ MATRIX @ s)
        self.check(lambda s: (MATRIX @ s).sum() + s @ VECTOR + VECTOR @ s)
        self.check(lambda s: (s.reshape(2, 3) @ s.reshape(3, 2)).sum())
        self.check(lambda s: np.dot(MATRIX, s)[2] * s[1])
        self.check(lambda s: (s.reshape(1, 2, 3) @ s.reshape(1, 3, 2)).sum())
        self.check(lambda s: sal.quad(s, MATRIX), lambda s: s @ MATRIX @ s)

    def test_numpys_functions(self):
        self.check(lambda s: np.sum(np.exp(s) + np.log(s + 2) + np.log1p(s + 1) + np.sin(s) * np.cos(s)))
        self.check(lambda s: np.sum(np.tanh(s) + np.sqrt(s + 2) + np.square(s) + np.abs(s - 0.1)))
        self.check(lambda s: np.sum(np.minimum(s, VECTOR) + np.maximum(0.1, s)) + np.mean(s) + np.max(s + VECTOR))
        self.check(lambda s: np.sum(np.where(VECTOR > 0, s, 2 * s)) + np.clip(s, -0.5, 0.9).sum())
        self.check(lambda s: np.concatenate([s, s * s]).sum() + np.stack([s, s])[1, 2] + np.cumsum(s)[3])
        self.check(lambda s: sal.sum([s[0], s[1] * s[2], 3.0]), lambda s: s[0] + s[1] * s[2] + 3)
        self.check(lambda s: np.logaddexp(s, VECTOR).sum() + np.power(s + 2, 1.5).sum() + np.negative(s)[0])
        self.check(lambda s: np.logaddexp(s.reshape(2, 3), 0.3).sum() + np.min(s + VECTOR) + np.expand_dims(s, 1)[2, 0])
        self.check(lambda s: np.squeeze(s.reshape(1, 6, 1))[3] + np.take(s.reshape(2, 3), [0, 2], axis=-1).sum())
        self.check(lambda s: np.transpose(s.reshape(2, 3))[2, 1] * np.take(s, [0, 0, 5]).sum())

    def test_forms(self):
        def weighed(form):
            def f(s):
                result = form(s) * 1.0
                return (result * np.random.default_rng(3).normal(size=result.shape)).sum()
            return f

        for group, forms in FORMS.items():
            for number, form in enumerate(forms):
                with self.subTest(group=group, number=number):
                    self.assertEqual(form(sal.spins(6)).shape, form(SPIN_STATES[0] * 1.0).shape)
                    self.check(weighed(form))
                    expected = [weighed(form)(s.astype(float)) for s in SPIN_STATES]
                    single = sal.Model(weighed(form)(sal.spins(6)), dtype="f32")
                    np.testing.assert_allclose(single.value(SPIN_STATES), expected, rtol=2e-5, atol=2e-5)

    def test_functions_of_one_variable_are_exact_for_every_kind(self):
        blocks = {"binary": sal.binary, "ordinal": lambda n: sal.ordinal(n, [-2.0, -0.3, 0.0, 1.7]),
            "count": lambda n: sal.counts(n, cap=4),
                  "two levels": lambda n: sal.ordinal(n, [0.1, 0.3]), "levels by number": lambda n: sal.ordinal(n, 3)}
        kinds = {"binary": [0, 1], "ordinal": [-2.0, -0.3, 0.0, 1.7], "count": range(5), "two levels": [0.1, 0.3],
                 "levels by number": range(3)}
        weights = np.array([1.0, -2.5])
        forms = (lambda x: (x > 0.2) * weights, lambda x: (x <= weights) * weights, lambda x: (x == 0.3) * weights,
                 lambda x: (1 != x) * weights,
                 lambda x: np.where(x > 0.2, weights, 7.0), lambda x: np.floor(0.7 * x + weights) * weights,
                 lambda x: np.arctan(x * weights),
                 lambda x: np.ceil(x.reshape(2, 1) * weights).T, lambda x: np.sign(x) * weights,
                 lambda x: np.rint(np.exp(x[::-1])),
                 lambda x: np.trunc(abs(x - 0.6) ** 2 / 0.3))
        for kind, values in kinds.items():
            states = np.array(list(itertools.product(values, repeat=2)), dtype=float)
            for number, form in enumerate(forms):
                with self.subTest(kind=kind, number=number):
                    for dtype, error in (("f64", 1e-12), ("f32", 2e-5)):
                        model = sal.Model(form(blocks[kind](2)).sum(), dtype=dtype)
                        np.testing.assert_allclose(model.value(states),
                        [form(x).sum() for x in states], rtol=error, atol=error)

    def test_comparisons_of_two_valued_variables_are_multilinear(self):
        s, c = sal.spins(6), sal.categorical(3, 4)
        f = np.where((s[:3] > 0) & (s[3:] < 0), VECTOR[:3], 2.0).sum() + ((c == 1) * MATRIX[:3, :4]).sum()
        model, rng = sal.Model(f), np.random.default_rng(7)
        x = np.concatenate([SPIN_STATES[0], [3, 0, 2]])
        gradient = model.gradient(x)
        for i in range(6):
            flipped = x.copy()
            flipped[i] *= -1
            self.assertAlmostEqual(model.value(flipped) - model.value(x), gradient[i] * (flipped[i] - x[i]), places=12)
        self.assertTrue((sal.Model((s.sum() > 1) * s[0]).gradient(SPIN_STATES)[:, 1:] == 0).all())

    def test_constants_of_other_packages(self):
        masked = np.ma.masked_array(VECTOR, mask=VECTOR > 0)
        s = sal.spins(6)
        for f in (lambda: s * masked, lambda: s + [masked[0]] * 6, lambda: np.where(masked, s, 0),
                 lambda: sal.constant(masked)):
            with self.assertRaisesRegex(sal.ArgumentError, "masked; fill them"):
                f()
        with self.assertRaisesRegex(TypeError, "write the expression first"):
            masked * s
        self.check(lambda s: (s * np.ma.masked_array(VECTOR)).sum(), lambda s: VECTOR @ s)
        if sparse:
            for kind in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.csr_array, sparse.lil_matrix):
                thin = kind(np.where(MATRIX > 0.8, MATRIX, 0))
                dense = thin.toarray()
                self.check(lambda s: (thin @ s) @ s + (s @ thin)[2], lambda s: dense @ s @ s + (s @ dense)[2])
                self.check(lambda s: (thin @ np.outer(s, VECTOR)).sum() + np.dot(thin, s)[0] + sal.quad(s, thin),
                           lambda s: (dense @ np.outer(s, VECTOR)).sum() + (dense @ s)[0] + s @ dense @ s)
                with self.assertRaisesRegex(sal.ArgumentError, "sparse matrix.*use @"):
                    s * thin
            with self.assertRaisesRegex(sal.ArgumentError, "use saltus.edges"):
                sal.constant(sparse.coo_matrix((1 << 15, 1 << 14)))
        if torch:
            for grad in (False, True):
                tensor = torch.tensor(VECTOR, requires_grad=grad)
                self.check(lambda s: (sal.constant(tensor) * s).sum() + s @ tensor + (s * tensor).sum() + sal.dot(tensor, s),
                           lambda s: 4 * (VECTOR @ s))
                self.check(lambda s: (s * tensor[0]).sum(), lambda s: (s * VECTOR[0]).sum())

    def test_refusals_name_what_works(self):
        s = sal.spins(6)
        for f, message in ((lambda: np.sort(s), "max and min work"), (lambda: np.argmax(s), "softmax"),
                 (lambda: np.linalg.norm(s), "numpy.linalg.norm .*sqrt of sum"),
                           (lambda: np.tan(s), "sin.a. / cos"), (lambda: np.heaviside(s, 1), "listed in docs/python.md"),
                           (lambda: bool(s > 0), "saltus.where"),
                           (lambda: np.clip(s, 0, 1, out=None), "clip: the argument 'out'")):
            with self.assertRaisesRegex(TypeError, message):
                f()
        for f, message in ((lambda: np.floor(s[0] + s[1]), "one variable"), (lambda: np.arctan(s * s[0]), "one variable"),
                           (lambda: s[s > 0], "no index.*use where"), (lambda: s & (s > 0), "expected comparisons"),
                           (lambda: s ** s, r"exp\(p \* log"),
                           (lambda: (-2) ** s, "bases above 0"), (lambda: np.pad(s, 1, "mean"), "'edge'"),
                           (lambda: np.einsum("...i", s), "without '...'"),
                           (lambda: np.floor(sal.counts(2)), "one variable"),
                           (lambda: np.var(s, ddof=6), "less than their number"),
                           (lambda: s.reshape(1, 1, 1, 2, 3), "4"),
                           (lambda: s * np.zeros((1, 1, 1, 1, 6)), "merge axes by reshape"),
                           (lambda: np.einsum("abc,de->abcde", FLAT(s)[None], FLAT(s)), "merge axes by reshape"),
                           (lambda: np.einsum("ij,ik", s, s), "shapes"), (lambda: FLAT(s) @ CUBE, "inner size"),
                           (lambda: FLAT(s)[[0, 9], [0, 1]], "out of bounds"), (lambda: np.roll(s, 1, 3), "axis 3")):
            with self.assertRaisesRegex(sal.SaltusError, message):
                f()

    def test_documentation_lists_the_functions(self):
        with open(os.path.join(os.environ["SALTUS_SOURCE_DIR"], "docs/python.md"), encoding="utf-8") as file:
            section = file.read().split("### NumPy's functions\n")[1].split("\n### PyTorch")[0]
        works, refused = section.split("| not | in place |\n")
        listed = re.findall(r"`([a-z0-9_]+)`", " ".join(re.findall(r"^\|.*\|$", works, re.M)))
        self.assertEqual(sorted(listed), sorted(set(_formula._UFUNCS) | set(_formula._FUNCTIONS)))
        rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", refused, re.M))
        self.assertEqual(rows, _formula._REFUSED)

    def test_own_functions(self):
        sigmoid = lambda s: 1 / (1 + np.exp(-s))
        self.check(lambda s: sal.sigmoid(s).sum(), lambda s: sigmoid(s).sum())
        self.check(lambda s: sal.softplus(s).sum(), lambda s: np.log1p(np.exp(s)).sum())
        self.check(lambda s: sal.silu(s).sum(), lambda s: (s * sigmoid(s)).sum())
        self.check(lambda s: sal.relu(s - 0.1).sum(), lambda s: np.maximum(s - 0.1, 0).sum())
        self.check(lambda s: sal.elu(s, 0.5).sum(), lambda s: np.where(s > 0, s, 0.5 * np.expm1(s)).sum())
        mills = lambda x: np.exp(x * x / 2) * np.vectorize(math.erfc)(x / np.sqrt(2)) / 2
        plus, minus = np.sqrt(1 + np.tanh(0.3)), np.sqrt(1 - np.tanh(0.3))
        self.check(lambda s: sal.drelu(s, VECTOR, 0.3).sum(),
                   lambda s: np.log(plus * mills(plus * (VECTOR - s)) + minus * mills(minus * (VECTOR + s))).sum())
        self.check(lambda s: sal.softmax(s)[1], lambda s: np.exp(s)[1] / np.exp(s).sum())
        self.check(lambda s: sal.logsumexp(s), lambda s: np.log(np.exp(s).sum()))
        pairs = [[0, 1], [2, 5], [3, 1]]
        self.check(lambda s: sal.edges(s, [0.5, 1, 2], pairs),
                   lambda s: 0.5 * s[0] * s[1] + s[2] * s[5] + 2 * s[3] * s[1])
        self.check(lambda s: sal.edges(s, 3.0, pairs), lambda s: 3 * (s[0] * s[1] + s[2] * s[5] + s[3] * s[1]))

    def test_reductions_and_axes(self):
        cube = lambda s: s.reshape(1, 2, 3)
        for axis in (None, 0, 1, -1, (0, 2), (1, -1)):
            for keep in (False, True):
                self.check(lambda s: (cube(s).sum(axis, keepdims=keep) ** 2).sum())
                self.check(lambda s: (cube(s + VECTOR).max(axis, keepdims=keep) ** 2).sum())
        self.check(lambda s: (cube(s).mean(1) * VECTOR[:3]).sum())
        self.check(lambda s: (s.reshape(2, 3) - s.reshape(2, 3).mean(axis=1, keepdims=True))[1, 2])
        self.check(lambda s: s.reshape(-1, 2).cumsum(axis=1)[2, 1] * s.reshape(3, -1).cumsum()[4])

    def test_indices(self):
        square = lambda s: s.reshape(2, 3) + VECTOR.reshape(2, 3) * s.reshape(2, 3)
        keys = [0, -1, slice(1, None), slice(None, None, 2), slice(None, None, -1), (1, 2), (slice(None), 1),
                (..., 0), (0, ...), ([1, 0, 1],), (slice(None), [2, 0]), (np.array([True, False]),), (None, 1),
                (slice(0, 1), slice(1, 3)), ([[0, 1], [1, 1]],), (1, np.array([0, 2]))]
        for key in keys:
            with self.subTest(key=key):
                self.check(lambda s: square(s)[key].sum())
                self.assertEqual(sal.spins((2, 3))[key].shape, np.zeros((2, 3))[key].shape)

    def test_transposes(self):
        for axes in ((0, 1, 2), (2, 1, 0), (1, 2, 0), (0, 2, 1), (-1, 0, 1)):
            weights = np.random.default_rng(3).normal(size=(1, 2, 3)).transpose(axes)
            self.check(lambda s: (s.reshape(1, 2, 3).transpose(axes) * weights).sum())
        self.check(lambda s: (s.reshape(2, 3).T @ s.reshape(2, 3))[1, 2])

    def test_images(self):
        image = np.random.default_rng(4).normal(size=(1, 1, 2, 2))

        def reference(s):
            x = np.pad(s.reshape(2, 3), 1)
            rows = [[(x[r:r + 2, q:q + 2] * image[0, 0]).sum() + 0.5 for q in range(4)] for r in range(3)]
            return np.square(rows).sum()

        self.check(lambda s: (sal.conv2d(s.reshape(1, 2, 3), image, [0.5], padding=1) ** 2).sum(), reference)
        self.check(lambda s: sal.avg_pool2d(s.reshape(1, 2, 3), 2, 1).sum() ** 2,
                   lambda s: (s.reshape(2, 3)[:, :2].mean() + s.reshape(2, 3)[:, 1:].mean()) ** 2)
        self.check(lambda s: sal.max_pool2d((s + VECTOR).reshape(1, 2, 3), 2, 1).sum(),
                   lambda s: (s + VECTOR).reshape(2, 3)[:, :2].max() + (s + VECTOR).reshape(2, 3)[:, 1:].max())


class Blocks(unittest.TestCase):
    def test_kinds(self):
        b = sal.binary(2, name="b")
        c = sal.categorical((2, 2), 3, name="c")
        o = sal.ordinal(1, [0.5, 1.5, 4.0], name="o")
        n = sal.counts(1, cap=5, name="n")
        self.assertEqual(c.shape, (2, 2, 3))
        weights = np.arange(12.0).reshape(2, 2, 3)
        model = sal.Model(b.sum() * o[0] + (c * weights).sum() - sal.lgamma(n + 1).sum())
        self.assertEqual([block.kind for block in model.blocks], ["binary", "categorical", "ordinal", "count"])
        self.assertEqual(model.width, 2 + 12 + 1 + 1)
        value = model.value([1, 1, 0, 1, 2, 0, 4.0, 3])
        self.assertAlmostEqual(value, 2 * 4.0 + (0 + 4 + 8 + 9) - np.log(6))
        with self.assertRaisesRegex(sal.ArgumentError, "block 'o' .ordinal.: 2 is not a value"):
            model.value([1, 1, 0, 1, 2, 0, 2.0, 3])
        with self.assertRaisesRegex(sal.ArgumentError, "block 'b' .binary.: -1 is not a value of it; expected 0 to 1"):
            model.value([-1, 1, 0, 1, 2, 0, 4.0, 3])

    def test_fixed_sums_and_labels(self):
        b = sal.binary((2, 2), name="b", total=3)
        s = sal.spins(3, name="s", total=-1)
        n = sal.counts(2, cap=5, name="n", total=7)
        c = sal.categorical(4, 3, name="c", occurrences=[2, 0, 2])
        p = sal.permutation(3, name="p")
        self.assertEqual((b.shape, c.shape, p.shape), ((2, 2), (4, 3), (3, 3)))
        model = sal.Model(b.sum() + s.sum() + n.sum() + c[0, 0] + (p * np.eye(3)).sum())
        self.assertEqual([block.total for block in model.blocks], [3, -1, 7, None, None])
        self.assertIsNone(model.blocks[0].occurrences)
        np.testing.assert_array_equal(model.blocks[3].occurrences, [2, 0, 2])
        np.testing.assert_array_equal(model.blocks[4].occurrences, [1, 1, 1])
        self.assertEqual(repr(model.blocks[1]), "<saltus block 's': 3 x spin, 2 states, total -1>")
        self.assertEqual(repr(model.blocks[4]), "<saltus block 'p': 3 x categorical, 3 states, occurrences [1, 1, 1]>")
        state = [1, 1, 0, 1, -1, 1, -1, 5, 2, 0, 2, 2, 0, 0, 2, 1]
        self.assertEqual(model.value(state), 3 - 1 + 7 + 1 + 1)
        with self.assertRaisesRegex(sal.ArgumentError, "block 'b' sums to 4; its sum is fixed to 3"):
            model.value([1] * 4 + state[4:])
        draws = sal.sample(model, draws=2000, seed=0).values
        np.testing.assert_array_equal(draws[..., :4].sum(-1), 3)
        np.testing.assert_array_equal(draws[..., 4:7].sum(-1), -1)
        np.testing.assert_array_equal(draws[..., 7:9].sum(-1), 7)
        np.testing.assert_array_equal(np.sort(draws[..., 9:13], -1), np.broadcast_to([0, 0, 2, 2], draws.shape[:2] + (4,)))
        np.testing.assert_array_equal(np.sort(draws[..., 13:], -1), np.broadcast_to([0, 1, 2], draws.shape[:2] + (3,)))

    def test_sums_and_labels_that_no_state_has(self):
        for make, message in ((lambda: sal.binary(3, total=4), "no state has the sum 4; expected 0 to 3"),
                              (lambda: sal.spins(3, total=0), "expected an odd number from -3 to 3"),
                              (lambda: sal.counts(3, total=1), "needs a cap"),
                              (lambda: sal.categorical(3, 2, occurrences=[1, 1]), "sum to 2, and it has 3"),
                              (lambda: sal.categorical(3, 2, occurrences=[1.5, 1.5]), "expected a whole number"),
                              (lambda: sal.permutation(5000), "expected 1 to 4096")):
            with self.assertRaisesRegex(sal.ArgumentError, message):
                make()
        with self.assertRaisesRegex(sal.ShapeError, "expected one for each of 2 labels"):
            sal.categorical(3, 2, occurrences=[1, 1, 1])
        with self.assertRaises(sal.ShapeError):
            sal.permutation(0)
        with self.assertRaises(TypeError):
            sal.spins(4, total=0.5)

    def test_order_is_that_of_making(self):
        a, b = sal.spins(2, name="a"), sal.binary(3, name="b")
        model = sal.Model(b.sum() + 10 * a[0])
        self.assertEqual([block.name for block in model.blocks], ["a", "b"])
        self.assertEqual(model.value([1, -1, 1, 1, 0]), 12)

    def test_parameters(self):
        s = sal.binary(4)
        W = sal.param("W", value=np.eye(4))
        model = sal.Model(s @ W @ s + sal.param("b", 4) @ s)
        self.assertEqual(dict((k, v.shape) for k, v in model.params.items()), {"W": (4, 4), "b": (4,)})
        self.assertEqual(model.value([1, 1, 1, 0]), 3)
        model.params["b"] = [1, 2, 3, 4]
        self.assertEqual(model.value([1, 1, 1, 0]), 9)
        flat = model.params.flat
        model.params.flat = 2 * flat
        np.testing.assert_array_equal(model.params["b"], [2, 4, 6, 8])
        first, second = sal.param("first", 2), sal.param("second", 2)
        self.assertEqual(list(sal.Model(second @ s[:2] + first @ s[2:]).params), ["first", "second"])
        with self.assertRaisesRegex(KeyError, "there are: W, b"):
            model.params["c"]
        with self.assertRaises(sal.ShapeError):
            model.params["b"] = [1, 2]


class Mistakes(unittest.TestCase):
    def test_shapes_that_do_not_fit_name_the_line(self):
        s = sal.spins(6)
        with self.assertRaises(sal.ShapeError) as caught:
            s + np.zeros(7)
        self.assertIn(f"test_formula.py:{line() - 1}", str(caught.exception))
        self.assertIn("[6] and [7]", str(caught.exception))
        with self.assertRaises(sal.ShapeError):
            MATRIX @ sal.spins(5)
        s.sum()  # a mistake leaves nothing behind

    def test_state_where_it_must_not_be_names_the_line(self):
        s = sal.spins(3)
        f = sal.quad(s, s.reshape(3, 1) * s)
        at = line() - 1
        with self.assertRaisesRegex(sal.SaltusError, f"test_formula.py:{at}"):
            sal.Model(f)

    def test_others(self):
        s = sal.spins(6)
        for wrong in (lambda: s[6], lambda: s[0, 0], lambda: s[[1, 9]], lambda: s["a"],
                      lambda: s.sum(axis=1), lambda: s.reshape(4), lambda: s.transpose((1,)), lambda: s ** s,
                      lambda: sal.Model(s), lambda: sal.Model(sal.constant(1.0)), lambda: sal.spins(0),
                      lambda: sal.categorical(3, 0), lambda: sal.ordinal(2, [2.0, 1.0]), lambda: sal.spins(2, name="a b"),
                      lambda: sal.operation("nothing", s), lambda: sal.param("p", 3, value=[1, 2]),
                      lambda: sal.Model(sal.spins(2, name="x").sum() + sal.spins(3, name="x").sum()),
                      lambda: sal.Model(s.sum(), dtype="f16"), lambda: sal.Model(3), lambda: sal.concatenate([])):
            with self.subTest(inspect.getsource(wrong)):
                with self.assertRaises(sal.SaltusError):
                    wrong()
        for wrong in (lambda: s + None, lambda: s + 1j, lambda: s ** "2", lambda: sal.constant("3"), lambda: s[True],
                      lambda: sal.edges(s, 1.0, [[0.5, 1]]),
                      lambda: sal.operation("sum"), lambda: sal.param("p", -1), lambda: sal.param(3, 2),
                      lambda: s * np.zeros((0, 6))):
            with self.subTest(inspect.getsource(wrong)):
                with self.assertRaises(sal.SaltusError):
                    wrong()
        with self.assertRaises(IndexError):
            s[6]
        with self.assertRaises(sal.ShapeError) as caught:
            np.concatenate([s.reshape(2, 3), s.reshape(3, 2)])
        self.assertIn(f"test_formula.py:{line() - 1}", str(caught.exception))
        for wrong in (lambda: bool(s), lambda: np.asarray(s), lambda: len(s.sum())):
            with self.assertRaises(TypeError):
                wrong()

    def test_long_formulas_need_no_recursion(self):
        s = sal.spins(2)
        f = s[0] * 0
        for _ in range(20000):
            f = f + s[1]
        self.assertEqual(sal.Model(f).value([1, 1]), 20000)


if __name__ == "__main__":
    unittest.main()

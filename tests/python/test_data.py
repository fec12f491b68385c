# SPDX-License-Identifier: MIT
"""Data sets from arrays, files and the generator."""

import gc
import os
import tempfile
import unittest
import warnings

import numpy as np

import saltus as sal


class Arrays(unittest.TestCase):
    def setUp(self):
        self.codes = np.random.default_rng(1).integers(0, 5, (20, 6)).astype(np.uint8)

    def test_codes_are_as_given_whatever_their_type(self):
        for dtype in ("uint8", "int32", "int64", "uint16", ">i4"):
            with self.subTest(dtype):
                data = sal.Data(self.codes.astype(dtype))
                np.testing.assert_array_equal(data.codes, self.codes)
                self.assertEqual(data.codes.dtype, np.uint8)
        np.testing.assert_array_equal(sal.Data(self.codes > 2).codes, self.codes > 2)
        np.testing.assert_array_equal(sal.Data(self.codes[::2, ::-1]).codes, self.codes[::2, ::-1])
        np.testing.assert_array_equal(sal.Data(np.asfortranarray(self.codes)).codes, self.codes)

    def test_arrays_are_views_that_cannot_be_written_and_outlive_the_data(self):
        data = sal.Data(self.codes, weight=np.ones(20))
        codes, weight = data.codes, data.weight
        self.assertTrue(np.shares_memory(codes, data.codes))
        self.assertFalse(np.shares_memory(codes, self.codes))
        for view in (codes, weight):
            with self.assertRaises(ValueError):
                view[0] = 0
        del data
        gc.collect()
        np.testing.assert_array_equal(codes, self.codes)
        np.testing.assert_array_equal(weight, 1)

    def test_floats_are_intensities(self):
        intensity = np.random.default_rng(2).random((30, 4))
        data = sal.Data(intensity)
        np.testing.assert_array_equal(data.intensity, intensity.astype(np.float32))
        np.testing.assert_array_equal(data.codes, intensity > 0.5)
        self.assertIn("intensity", repr(data))
        drawn = sal.Data(np.full((2000, 4), 0.3))._drawn()
        self.assertLess(abs(drawn.codes.mean() - 0.3), 5 * np.sqrt(0.21 / 8000))
        self.assertIsNone(sal.Data(self.codes).intensity)

    def test_sizes(self):
        data = sal.Data(self.codes)
        self.assertEqual((len(data), data.shape, data.rows, data.variables), (20, (20, 6), 20, 6))
        self.assertIsNone(data.picture)
        for given in (sal.Data(self.codes, shape=(2, 3)), sal.Data(self.codes.reshape(20, 2, 3))):
            self.assertEqual(given.picture, (2, 3))
            self.assertEqual(given.pictures.shape, (20, 2, 3))
            self.assertIn("2 x 3", repr(given))
        with self.assertRaisesRegex(sal.ArgumentError, "not pictures"):
            data.pictures

    def test_pictures_of_one_channel(self):
        for shape in ((20, 1, 2, 3), (20, 2, 3, 1)):
            data = sal.Data(self.codes.reshape(shape))
            self.assertEqual(data.picture, (2, 3))
            np.testing.assert_array_equal(data.codes, self.codes)
        with self.assertRaisesRegex(sal.ShapeError, r"one channel.*found \(10, 2, 2, 3\)"):
            sal.Data(self.codes.reshape(10, 2, 2, 3))

    def test_what_is_no_data_set_is_refused(self):
        def refused(error, text, *args, **kwargs):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                sal.Data(*args, **kwargs)

        refused(sal.ShapeError, r"\(3,\)", [0, 1, 1])
        refused(sal.ShapeError, r"\(0, 3\)", np.empty((0, 3), int))
        refused(sal.ArgumentError, "-1.*Model.codes", [[1, -1]])
        refused(sal.ArgumentError, "256", [[256, 0]])
        refused(sal.ArgumentError, "intensity -1.*spins.*Model.codes", [[-1.0, 1.0]])
        refused(sal.ArgumentError, "intensity 2.*astype", [[0.0, 1.0, 2.0]])
        refused(sal.ArgumentError, "numbers from 0 to 1$", [[0.5, -1.0]])
        refused(sal.ArgumentError, "complex", [[1j]])
        refused(sal.ArgumentError, "<U1", [["a"]])
        refused(sal.ArgumentError, "1.5", [[0.5, 1.5]])
        refused(sal.ArgumentError, "nan", [[np.nan]])
        refused(sal.ShapeError, "20 weights", self.codes, weight=[1, 2])
        refused(sal.ArgumentError, "weight", self.codes, weight=np.zeros(20))
        refused(sal.ArgumentError, "7 x 3", self.codes, shape=(7, 3))
        refused(sal.ArgumentError, "height", self.codes, shape=(6,))


class Splits(unittest.TestCase):
    def setUp(self):
        self.data = sal.Data(np.arange(50)[:, None], weight=np.arange(1.0, 51))

    def test_rows_move(self):
        before = self.data.codes
        held = self.data.split(10, seed=3)
        self.assertEqual((len(self.data), len(held)), (40, 10))
        np.testing.assert_array_equal(np.sort(np.concatenate([self.data.codes, held.codes]), axis=0).ravel(),
                                      np.arange(50))
        np.testing.assert_array_equal(held.weight, held.codes[:, 0] + 1.0)
        np.testing.assert_array_equal(before.ravel(), np.arange(50))  # still there, and the same

    def test_seeds(self):
        again = sal.Data(np.arange(50)[:, None])
        np.testing.assert_array_equal(self.data.split(10, seed=3).codes, again.split(10, seed=3).codes)
        self.assertFalse(np.array_equal(self.data.split(10, seed=3).codes, again.split(10, seed=4).codes))
        last = sal.Data(np.arange(50)[:, None]).split(2, last=True)
        np.testing.assert_array_equal(last.codes.ravel(), [48, 49])

    def test_one_row_stays(self):
        for rows in (0, 50):
            with self.assertRaisesRegex(sal.ArgumentError, "hold out"):
                self.data.split(rows)
        self.assertEqual(len(self.data), 50)


class Files(unittest.TestCase):
    def test_arrays(self):
        with tempfile.TemporaryDirectory() as place:
            path = os.path.join(place, "a.npy")
            codes = np.random.default_rng(1).integers(0, 4, (7, 5)).astype(np.uint8)
            np.save(path, codes)
            np.testing.assert_array_equal(sal.Data.read(path, kind="codes").codes, codes)
            np.testing.assert_array_equal(sal.Data.read(path, kind="codes", first=2, count=3).codes, codes[2:5])
            greys = np.random.default_rng(1).integers(0, 256, (7, 3, 2)).astype(np.uint8)
            np.save(path, greys)
            data = sal.Data.read(path, keep_intensity=True)
            self.assertEqual(data.picture, (3, 2))
            np.testing.assert_allclose(data.intensity, greys.reshape(7, 6) / 255, atol=1e-7)
            self.assertIsNone(sal.Data.read(path).intensity)
            data = sal.Data.read(path, levels=4)
            self.assertEqual(data.picture, (3, 2))
            np.testing.assert_array_equal(data.pictures, greys // 64)

    def test_alignments(self):
        with tempfile.TemporaryDirectory() as place:
            path = os.path.join(place, "a.fasta")
            with open(path, "w", encoding="ascii") as file:
                file.write(">a\nACGT\n>b\nACGT\n>c\nTTTT\n")
            data = sal.Data.read(path, kind="alignment", alphabet="dna", identity=0.8)
            self.assertEqual(data.shape, (3, 4))
            np.testing.assert_allclose(data.weight, [0.5, 0.5, 1])
            self.assertEqual(data.remark, f"{path}: 3 sequences of 4 sites (DNA)")
            with open(path, "w", encoding="ascii") as file:
                file.write(">a\nacgt\n>b\nacgt\n>c\nttnt\n")
            with self.assertWarnsRegex(sal.SaltusWarning, "no letter is in upper case.*1 letters in 1 sequences"):
                data = sal.Data.read(path, kind="alignment")
            np.testing.assert_array_equal(data.codes, [[1, 2, 3, 4], [1, 2, 3, 4], [4, 4, 0, 4]])
            with self.assertWarns(sal.SaltusWarning):
                data = sal.Data.read(path, kind="alignment", unknown="drop", duplicates="drop")
            self.assertEqual(data.shape, (1, 4))
            self.assertIsNone(sal.Data([[0, 1]]).remark)

    def test_an_alphabet_of_ones_own(self):
        with tempfile.TemporaryDirectory() as place:
            path, drawn, other = (os.path.join(place, name) for name in ("a.fasta", "d.fasta", "e.aln"))
            with open(path, "w", encoding="ascii") as file:
                file.write(">a\n01aA\n>b\n-1Aa\n")
            data = sal.Data.read(path, kind="alignment", alphabet="-01aA")
            np.testing.assert_array_equal(data.codes, [[1, 2, 3, 4], [0, 2, 4, 3]])
            with self.assertRaisesRegex(sal.DataError, "sequence 2 .'b'. has the gap '-' at site 1"):
                sal.Data.read(path, kind="alignment", alphabet="01aA", unknown="error")
            with self.assertRaisesRegex(sal.ArgumentError, "the letter '0' twice"):
                sal.Data.read(path, kind="alignment", alphabet="-00")
            model = sal.Model(f"potts-alignment:file={path},alphabet=-01aA")
            self.assertEqual(model.blocks[0].letters, "-01aA")
            run = sal.sample(model, chains=1, draws=3, seed=1)
            run.save(drawn)
            codes = sal.Data.read(drawn, kind="alignment", alphabet="-01aA").codes
            np.testing.assert_array_equal(codes, run.draws[0])
            run.save(other, alphabet="-WXYZ")
            codes = sal.Data.read(other, kind="alignment", alphabet="-WXYZ").codes
            np.testing.assert_array_equal(codes, run.draws[0])
            sal.convert(drawn, other, alphabet="-01aA")
            codes = sal.Data.read(other, kind="alignment", alphabet="-01aA").codes
            np.testing.assert_array_equal(codes, run.draws[0])

    def test_what_a_file_was_taken_for_is_a_warning(self):
        with tempfile.TemporaryDirectory() as place:
            path = os.path.join(place, "a.csv")
            greys = np.random.default_rng(1).integers(0, 17, (9, 4))
            greys[0, :2] = 0, 16
            np.savetxt(path, greys, fmt="%d", delimiter=",", header="0,1,2,3", comments="")
            with self.assertWarnsRegex(UserWarning, "counts the columns") as caught:
                data = sal.Data.read(path)
            self.assertEqual(caught.filename, __file__)
            np.testing.assert_array_equal(data.codes, greys > 8)
            self.assertEqual(data.remark.count("; "), 1)
            self.assertRegex(data.remark, r"a\.csv: line 1 .*; greys from 0 to 16, .* \(white says")
            data = sal.Data.read(path, white=32, levels=32)
            np.testing.assert_array_equal(data.codes, greys)
            path = os.path.join(place, "a.svm")
            with open(path, "w", encoding="ascii") as file:
                file.write("0 1:1 3:2\n")
            for given in ({"columns_from": 0}, {"columns": 4}, {"companion": os.path.join(place, "a.npy")}):
                np.save(os.path.join(place, "a.npy"), np.zeros((5, 4)))
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    np.testing.assert_array_equal(sal.Data.read(path, kind="codes", **given).codes, [[0, 1, 0, 2]])
            self.assertIsNone(sal.Data(greys).remark)
            path = os.path.join(place, "y.csv")
            with open(path, "w", encoding="ascii") as file:
                file.write("0\n.5\n-1.25\n")
            with self.assertWarnsRegex(UserWarning, "counts the columns") as caught:
                model = sal.Model(f"hmm:file={path}")
            self.assertEqual((caught.filename, model.variables), (__file__, 2))
            self.assertRegex(model.info["remark"], r"y\.csv: line 1 \(0\) counts the columns")
            self.assertNotIn("; ", model.info["remark"])
            self.assertNotIn("remark", sal.Model("ising:side=3").info)

    def test_mistakes(self):
        with self.assertRaises(sal.NotFoundError):
            sal.Data.read("/nowhere/x.npy")
        with self.assertRaisesRegex(sal.NotFoundError, "kind"):
            sal.Data.read("/nowhere/x.npy", kinds="codes")

    def test_digits(self):
        data = sal.Data.digits(50, side=10, seed=1)
        self.assertEqual((data.shape, data.picture), ((50, 100), (10, 10)))
        np.testing.assert_array_equal(data.codes, sal.Data.digits(50, side=10, seed=1).codes)
        self.assertFalse(np.array_equal(data.codes, sal.Data.digits(50, side=10, seed=2).codes))
        with self.assertRaises(sal.ArgumentError):
            sal.Data.digits(0, seed=0)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: MIT
"""Data sets: rows of codes, from arrays, files or the generator of digits."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from ._arrays import plain, reals
from ._library import (ArgumentError, Handle, Path, ShapeError, address, call, encode, lib, make, options_text,
                       own_names, seed_of, view, warn_of)


def _picture(shape: Optional[tuple[int, ...]]) -> tuple[int, int]:
    if shape is None:
        return 0, 0
    sizes = tuple(shape)
    if len(sizes) != 2 or not all(isinstance(n, (int, np.integer)) and n >= 1 for n in sizes):
        raise ArgumentError(f"data: shape {shape!r}; expected the (height, width) of a picture")
    return int(sizes[0]), int(sizes[1])


def _as_codes(array: NDArray[Any]) -> NDArray[np.uint8]:
    if array.dtype.kind == "b":
        return array.astype(np.uint8)
    if array.dtype != np.uint8:
        wrong = array[(array < 0) | (array > 255)]
        if wrong.size:
            hint = "; spins -1 and 1 have the codes 0 and 1 (see Model.codes)" if (wrong < 0).any() else ""
            raise ArgumentError(f"data: found the code {wrong.flat[0]}; expected codes from 0 to 255{hint}")
    return np.ascontiguousarray(array, dtype=np.uint8)


def _without_channel(array: NDArray[Any]) -> NDArray[Any]:
    """Pictures of one channel, before or after height and width, as pictures."""
    for axis in (1, 3):
        if array.ndim == 4 and array.shape[axis] == 1:
            return array.squeeze(axis)
    return array


def _intensity_hint(array: NDArray[Any]) -> str:
    """What whole numbers that are no intensities may have been meant to be."""
    if not np.isfinite(array).all() or (array != np.floor(array)).any():
        return ""
    if (array < 0).any():
        return "; spins -1 and 1 have the codes 0 and 1, as integers (see Model.codes)"
    return "; floats are intensities: give codes and labels as integers, by values.astype(int), and divide greys by " \
           "the largest"


class Data:
    """A data set: rows of codes, or of intensities from which codes are drawn.

    Parameters
    ----------
    values : array, shape (rows, V), (rows, H, W), (rows, 1, H, W) or (rows, H, W, 1)
        Integers or booleans: codes from 0 to 255, such as 0 and 1 of binary variables and of spins.
        Floats: intensities in [0, 1], the probabilities that two-level variables have code 1. Training
        then draws the codes of a row anew each time that it uses the row (Salakhutdinov & Murray, 2008).
        The array is copied. Several axes of a row become one, in row-major order.
    weight : array, shape (rows,), optional
        Positive weights of the rows; None: all are 1.
    shape : (int, int), optional
        Height and width, if the rows are pictures. Arrays of pictures have it already.

    Attributes
    ----------
    rows, variables : int
    picture : (int, int) or None
        Height and width of the pictures.
    remark : str or None
        What :meth:`read` found besides the rows: a heading, the range of greys, where the columns of a
        libsvm file begin.

    Raises
    ------
    ShapeError
        Another number of dimensions, no rows, or not one weight for each row.
    ArgumentError
        Codes, intensities or weights out of range; types that are no numbers; a picture of another size.

    References
    ----------
    Salakhutdinov & Murray (2008), On the quantitative analysis of deep belief networks: codes drawn anew
    from intensities.

    Examples
    --------
    >>> import saltus as sal
    >>> data = sal.Data([[0, 1, 1], [1, 1, 0]])
    >>> data
    <saltus Data: 2 rows of 3 variables>
    >>> data.codes.sum(axis=0)
    array([1, 2, 1], dtype=uint64)
    """

    def __init__(self, values: Any, weight: Any = None, shape: Optional[tuple[int, int]] = None):
        array = plain(values, "data")
        if array.dtype.kind not in "biuf":
            raise ArgumentError(f"data: expected integers (codes) or floats (intensities); found {array.dtype}")
        array = _without_channel(array)
        if array.ndim not in (2, 3) or array.size == 0:
            raise ShapeError(f"data: expected the shape (rows, variables), or (rows, height, width) of pictures "
                             f"(or one channel of them), with 1 row or more; found {array.shape}")
        height, width = _picture(array.shape[1:] if array.ndim == 3 and shape is None else shape)
        array = array.reshape(len(array), -1)
        weights = None if weight is None else reals(weight, "weight")
        if weights is not None and weights.shape != (len(array),):
            raise ShapeError(f"data: expected {len(array)} weights, one for each row; found the shape {weights.shape}")
        codes = intensity = None
        if array.dtype.kind == "f":
            intensity = np.ascontiguousarray(array, dtype=np.float32)
        else:
            codes = _as_codes(array)
        try:
            self._set(make("sal_flat_data_create", *array.shape, address(codes), address(intensity), address(weights),
                           height, width))
        except ArgumentError as failure:
            hint = _intensity_hint(array) if "has the intensity" in str(failure) else ""
            raise ArgumentError(f"{failure}{hint}") from None

    def _set(self, pointer: int) -> None:
        self._handle = Handle(pointer, "sal_flat_data_destroy")
        sizes = [ctypes.c_int64() for _ in range(4)]
        lib.sal_flat_data_size(self._handle, *(ctypes.addressof(size) for size in sizes))
        self.remark: Optional[str] = None
        self.rows, self.variables = sizes[0].value, sizes[1].value
        self.picture: Optional[tuple[int, int]] = (sizes[2].value, sizes[3].value) if sizes[2].value else None

    @classmethod
    def _of(cls, pointer: int) -> "Data":
        data = cls.__new__(cls)
        data._set(pointer)
        return data

    @classmethod
    def read(cls, path: Path, **options: Any) -> "Data":
        """Read a file of any format of arrays or alignments, compressed or not.

        Parameters
        ----------
        path : path
            ``FILE:NAME`` reads one array of a file that holds several, such as ``mnist.npz:x_train`` or
            ``usps.h5:train/data``;
            ``FILE:NAME,rows=last`` transposes it.
        **options
            kind : {'pictures', 'codes', 'draws', 'alignment'}
                What the file's numbers mean: grey pictures, made black and white (usual); whole numbers
                as they are; draws (chains, draws, variables); aligned sequences (usual in a file of
                sequences).
            grey : {'find', 'bytes', 'signed', 'unit', 'labels'}
                The range of greys: that of the file; 0 to 255; -1 to 1; 0 to 1; labels 1 to `levels`.
            white : float
                The value of white, where the range is 0 to it; instead of `grey`.
            keep_intensity : bool
                Keep the greys as `intensity`.
            levels : int
                Grey levels of pictures, equal parts of the range, as codes 0 to levels - 1; 2 to 256,
                usually 2: black and white.
            height, width, columns, first, count : int
                Of pictures; the length of a row of a libsvm file, at least; the rows to read.
            columns_from : {'find', '0', '1'}
                The index of the first column of a libsvm file. Files of scikit-learn count from 0.
            companion : path
                A file with the same columns as this libsvm file, such as the training data of test data.
            alphabet : {'auto', 'protein', 'rna', 'dna'} or str
                Of an alignment; or the letters of an alphabet of your own, the gap first, such as '-ABCD'.
            unknown : {'gap', 'drop', 'error'}
                Letters of an alignment outside the alphabet are gaps, drop their sequences, or are refused.
            duplicates : {'keep', 'drop'}
                Sequences of an alignment that equal an earlier one.
            identity : float
                Weights of sequences, by the share of sites at which they agree; usually 0.8.

        Returns
        -------
        Data
            Its ``remark`` says what reading the file found besides the rows, such as the size of an alignment
            and how many letters were dropped; None: nothing.

        Warns
        -----
        SaltusWarning
            The remark, if something was dropped or decided that may be meant otherwise.

        Raises
        ------
        NotFoundError
            There is no such file.
        DataError
            The content does not fit its kind: its shape, greys out of range, numbers that are no codes.
        ArgumentError
            An option, rows that do not exist, or a file that is no array or alignment.
        UnsupportedError
            Weights of more than 200,000 sequences.
        FileError
            Reading failed.

        Examples
        --------
        >>> train = Data.read("usps.bz2", count=7000)  # doctest: +SKIP
        """
        if "companion" in options:
            options["companion"] = os.fspath(options["companion"])
        if "columns_from" in options:
            options["columns_from"] = str(options["columns_from"])
        data = cls._of(make("sal_flat_data_read", encode(path), options_text(options)))
        warns = ctypes.c_int()
        remark = lib.sal_flat_data_remark(data._handle, ctypes.addressof(warns))
        data.remark = own_names(remark.decode("utf-8", "replace")) if remark else None
        warn_of(data.remark, warns.value)
        return data

    @classmethod
    def digits(cls, rows: int, side: int = 16, seed: Any = None) -> "Data":
        """Make black and white pictures of the digits 0 to 9: strokes with random slant, width and shift.

        Parameters
        ----------
        rows : int
        side : int
            Height and width, 8 to 64 pixels.
        seed
            As in :func:`sample`: equal numbers give equal pictures, None a fresh seed and other ones.

        Returns
        -------
        Data
            Codes 0 and 1, shape (rows, side side).

        Raises
        ------
        ArgumentError
            Less than one row, or another side.

        Examples
        --------
        >>> import saltus as sal
        >>> sal.Data.digits(100, side=12, seed=1)
        <saltus Data: 100 pictures of 12 x 12>
        """
        return cls._of(make("sal_flat_data_digits", rows, side, seed_of(seed)))

    def split(self, rows: int, seed: Any = None, last: bool = False) -> "Data":
        """Hold out rows: they leave this data set, and are the data set that is returned.

        Parameters
        ----------
        rows : int
            1 or more; one must stay.
        seed
            As in :func:`sample`: the same rows for equal numbers, None a fresh seed and other rows.
        last : bool
            Hold out the last rows instead of random ones.

        Returns
        -------
        Data
            The rows that were held out. Both parts keep their order.

        Raises
        ------
        ArgumentError
            Less than one row is asked for, or none would stay; a seed beside ``last=True``. Nothing has then changed.

        Notes
        -----
        Arrays that :attr:`codes` and so on gave before, and trainings that began before, keep all rows.

        Examples
        --------
        >>> import saltus as sal
        >>> data = sal.Data([[0, 0], [0, 1], [1, 0], [1, 1]])
        >>> test = data.split(1, last=True)
        >>> test.codes
        array([[1, 1]], dtype=uint8)
        >>> len(data)
        3
        """
        if last and seed is not None:
            raise ArgumentError("split: the last rows need no seed; give seed= or last=True")
        copy = Handle(make("sal_flat_data_copy", self), "sal_flat_data_destroy")
        number = ctypes.c_uint64(0 if last else seed_of(seed))
        held = Data._of(make("sal_flat_data_split", copy, rows, None if last else ctypes.addressof(number)))
        pointer = copy._as_parameter_
        copy._finalizer.detach()
        self._set(pointer)
        return held

    @property
    def _as_parameter_(self) -> int:
        return self._handle._as_parameter_

    @property
    def codes(self) -> NDArray[np.uint8]:
        """The codes, shape (rows, V), uint8; of intensities cut in the middle. A view that cannot be written."""
        return view(lib.sal_flat_data_codes(self), ctypes.c_uint8, (self.rows, self.variables), self._handle)

    @property
    def intensity(self) -> Optional[NDArray[np.float32]]:
        """The intensities, shape (rows, V), float32, a view; None if there are none."""
        pointer = lib.sal_flat_data_intensity(self)
        return view(pointer, ctypes.c_float, (self.rows, self.variables), self._handle) if pointer else None

    @property
    def weight(self) -> Optional[NDArray[np.float64]]:
        """The weights, shape (rows,), a view; None: all are 1."""
        pointer = lib.sal_flat_data_weight(self)
        return view(pointer, ctypes.c_double, (self.rows,), self._handle) if pointer else None

    @property
    def pictures(self) -> NDArray[np.uint8]:
        """The codes as pictures, shape (rows, H, W), a view.

        Raises
        ------
        ArgumentError
            The rows are not pictures.
        """
        if self.picture is None:
            raise ArgumentError("data: the rows are not pictures; give shape=(height, width)")
        return self.codes.reshape((self.rows,) + self.picture)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, variables)."""
        return self.rows, self.variables

    def __len__(self) -> int:
        return self.rows

    def __repr__(self) -> str:
        what = "pictures of {} x {}".format(*self.picture) if self.picture else f"rows of {self.variables} variables"
        more = [name for name in ("intensity", "weight") if getattr(self, name) is not None]
        return f"<saltus Data: {self.rows} {what}{', with ' + ' and '.join(more) if more else ''}>"

    def _shared(self) -> "Data":
        """The same rows, which stay as they are when this data set is split."""
        shared = Data.__new__(Data)
        shared.__dict__.update(self.__dict__)
        return shared

    def _drawn(self) -> "Data":
        """With codes that are drawn from the intensities once, as the program does; itself if there are none."""
        if self.intensity is None:
            return self
        drawn = Data._of(make("sal_flat_data_copy", self))
        call("sal_data_binarise", drawn, 0, 0)
        return drawn


def as_data(data: Any) -> Data:
    """A data set as it is, or made from an array."""
    return data if isinstance(data, Data) else Data(data)


def fitting(data: Any, variables: int, what: str, levels: int = 0) -> Data:
    """A data set for a model of so many variables; of one with levels, rows of all but the level will do."""
    made = as_data(data)
    if made.variables != variables and not (levels > 0 and made.variables == variables - 1):
        raise ShapeError(f"{what}: rows of {made.variables} variables; the model has {variables}")
    return made

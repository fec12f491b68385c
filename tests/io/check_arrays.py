#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_arrays.py SALTUS: arrays as NumPy writes them into files of several arrays, and compressed files, become
the same numbers in .npy. Parts whose writer is not installed, or whose reader was not built, are named as skipped; the exit
status is 77 if all are."""
import importlib
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError as error:
    system = '/usr/bin/python3'  # Debian's packages, where another Python comes first
    if os.path.exists(system) and os.path.realpath(sys.executable) != os.path.realpath(system):
        os.execv(system, [system] + sys.argv)
    print('SKIPPED: this needs python3-numpy:', error)
    sys.exit(77)

saltus = os.path.abspath(sys.argv[1])
random = np.random.default_rng(1)


class NotBuilt(Exception):
    pass


def convert(path):
    """The array that the path names, and what the program says of it."""
    done = subprocess.run([saltus, 'convert', path, 'out.npy'], capture_output=True, text=True)
    if 'was built without' in done.stderr:
        raise NotBuilt(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return np.load('out.npy'), done.stderr


def check(path, expected, remark=''):
    got, said = convert(path)
    expected = np.asarray(expected)
    assert got.shape == expected.shape and (got == expected).all(), (path, got.shape, expected.shape)
    assert remark in said if remark else not said, (path, said)


def npz():
    x = random.integers(0, 256, (500, 28, 28)).astype(np.uint8)
    y = random.normal(size=70)
    wide = np.asfortranarray(random.normal(size=(3, 400)).astype('>f4'))
    for save in np.savez, np.savez_compressed:
        save('several.npz', x, y=y, wide=wide, empty=np.zeros((0, 3)), words=np.array(['a', 'b']))
        check('several.npz:arr_0', x)
        check('several.npz:y', y)
        check('several.npz:wide', wide)
        check('several.npz:wide,rows=last', wide.T)
        check('several.npz:arr_0,pixels=columns,ink=0', 255 - x.swapaxes(1, 2))
        check('several.npz', x, "'arr_0' is read, the largest of 5 arrays")
        save('one.npz', x=y > 0)
        check('one.npz', y > 0)
    with open('forced.npz', 'wb') as file:  # without seeking back: sizes follow the bytes
        class Pipe:
            write, flush = file.write, file.flush
        import zipfile
        with zipfile.ZipFile(Pipe(), 'w', zipfile.ZIP_DEFLATED) as z, z.open('x.npy', 'w', force_zip64=True) as member:
            np.save(member, x)
    check('forced.npz:x', x)


def compressed(module):
    x = random.integers(0, 2, (30, 9)).astype(np.uint8)
    np.save('plain.npy', x)
    with open('plain.npy', 'rb') as file:
        content = file.read()
    with open('packed.npy.' + module, 'wb') as file:
        file.write(importlib.import_module(module).compress(content))
    check('packed.npy.' + module, x)


def gzip():
    compressed('gzip')


def bz2():
    compressed('bz2')


def lzma():
    compressed('lzma')


skipped = []
parts = [npz, gzip, bz2, lzma]
with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    for part in parts:
        try:
            part()
        except (ImportError, NotBuilt) as error:
            skipped.append(part.__name__)
            print(f'SKIPPED: {part.__name__}: {error}')
    os.chdir('/')
sys.exit(77 if len(skipped) == len(parts) else 0)

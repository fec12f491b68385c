#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_arrays.py SALTUS: arrays as NumPy and SciPy write them, and compressed files, become the same
numbers in .npy. Parts whose writer is not installed, or whose reader was not built, are named as skipped;
the exit status is 77 if all are."""
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


def pictures(rows, side, ink):
    """Pictures of 0 and 1 whose borders are white paper."""
    x = np.full((rows, side, side), 1 - ink, np.uint8)
    x[:, 2:-2, 2:-2] = random.integers(0, 2, (rows, side - 4, side - 4))
    return x


def mat():
    import scipy.io
    omniglot = random.random((784, 900)).astype(np.float32)
    caltech = pictures(300, 28, 0).reshape(300, 784)
    frey = random.integers(0, 256, (560, 965)).astype(np.uint8)
    for options in {}, {'do_compression': True}, {'format': '4'}:
        scipy.io.savemat('chardata.mat', {'data': omniglot, 'target': np.eye(50)[:, :9],
                                          'testdata': omniglot[:, :100]}, **options)
        check('chardata.mat:testdata', omniglot[:, :100].T, 'its last dimension, of 100, is taken')
        check('chardata.mat:testdata,rows=first,pixels=rows', omniglot[:, :100])
        check('chardata.mat', omniglot.T, "'data' is read, the largest of 3 arrays: data, target, testdata")
        turned = omniglot.T.reshape(900, 28, 28).swapaxes(1, 2).reshape(900, 784)
        check('chardata.mat:data,pixels=columns', turned, 'its last dimension')
        scipy.io.savemat('caltech.mat', {'train_data': caltech, 'classnames': ['a', 'b']}, **options)
        check('caltech.mat', caltech, 'the pixels of a picture are taken row by row')
        check('caltech.mat:train_data,rows=first,pixels=rows,ink=0', 1 - caltech)
        scipy.io.savemat('frey.mat', {'ff': frey}, **options)
        check('frey.mat', frey.T, 'its last dimension, of 965, is taken')
    cells = np.empty(2, object)
    cells[:] = [omniglot, 'text']
    many = {'t' + kind: random.integers(0, 100, (3, 5)).astype(kind)
            for kind in ('i1', 'u1', 'i2', 'u2', 'i4', 'u4', 'i8', 'u8', 'f4', 'f8')}
    scipy.io.savemat('many.mat', dict(many, cells=cells, record={'a': frey}, flag=np.eye(3) > 0, z=np.eye(5) * 1j,
                                      cube=np.arange(75).reshape(5, 5, 3), sparse=scipy.sparse.eye(30)))
    for name, x in many.items():
        check(f'many.mat:{name},rows=first', x)
    check('many.mat:flag,rows=first,pixels=rows', np.eye(3))
    check('many.mat:cube', np.arange(75).reshape(5, 5, 3).transpose(2, 0, 1), 'its last dimension, of 3')
    for name in 'cells', 'record', 'z', 'sparse', 'none':
        done = subprocess.run([saltus, 'convert', f'many.mat:{name}', 'out.npy'], capture_output=True, text=True)
        assert f"holds no array of numbers '{name}'; there are: ti1, tu1," in done.stderr, done.stderr
    scipy.io.savemat('silhouettes.mat', {'train_data': caltech})
    done = subprocess.run([saltus, 'train', 'rbm:hidden=4', '--data', 'silhouettes.mat', '--iterations', '2', '--out', 'dir'],
                          capture_output=True, text=True)
    assert done.returncode == 0 and 'ink is taken for 0' in done.stderr, done.stderr


skipped = []
parts = [npz, mat, gzip, bz2, lzma]
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

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


def refuse(path, message):
    done = subprocess.run([saltus, 'convert', path, 'out.npy'], capture_output=True, text=True)
    if 'was built without' in done.stderr:
        raise NotBuilt(done.stderr.strip())
    assert done.returncode != 0 and message in done.stderr and 'HDF5-DIAG' not in done.stderr, (path, done.stderr)


def hdf5():
    import h5py
    import scipy.io
    x = random.random((90, 256)).astype(np.float32)
    with h5py.File('usps.h5', 'w') as file:  # as Kaggle's
        for name, n in ('train', 90), ('test', 30):
            group = file.create_group(name)
            group['data'], group['target'] = x[:n], np.arange(n)
    check('usps.h5:train/data', x)
    check('usps.h5:/test/data', x[:30])
    check('usps.h5:train/target', np.arange(90))
    check('usps.h5', x, "'train/data' is read, the largest of 4 arrays: test/data, test/target, train/data, ")
    check('usps.h5:train/data,rows=last', x.T)
    refuse('usps.h5:train', "holds no array of numbers 'train'; there are: test/data,")
    many = {'t' + kind: random.integers(0, 100, (3, 5)).astype(kind)
            for kind in ('i1', 'u1', 'i2', '>u2', '>i4', 'u4', 'i8', 'u8', 'f2', 'f4', '>f8')}
    many['flag'] = np.eye(3) > 0
    with h5py.File('many.h5', 'w', userblock_size=512) as file:
        for name, array in many.items():
            file[name] = array
        file.create_dataset('packed', data=x, compression='gzip', shuffle=True, fletcher32=True, chunks=(7, 11))
        file.create_dataset('offset', data=(x * 99).astype('i4'), scaleoffset=0)
        file.create_dataset('lzf', data=x, compression='lzf')
        file['text'], file['record'] = 'text', np.zeros(3, 'i4, f8')
        file.create_dataset('reference', data=file['packed'].ref, dtype=h5py.ref_dtype)
        file.create_dataset('vlen', (3,), dtype=h5py.vlen_dtype('i4'))
        file.create_dataset('outside', (4,), 'u1', external=[('/etc/passwd', 0, 4)])
        file.create_dataset('large', (1 << 20, 1 << 12), 'u1', chunks=(1 << 10, 1 << 10))
        file.create_dataset('five', data=np.zeros((1, 1, 1, 1, 1)))
        file.create_dataset('scalar', data=3.)
        file.create_dataset('none', data=np.zeros((0, 3)))
        file['soft'], file['other'] = h5py.SoftLink('/packed'), h5py.ExternalLink('usps.h5', '/train/data')
        layout = h5py.VirtualLayout((90, 256), 'f4')
        layout[:] = h5py.VirtualSource('usps.h5', 'train/data', (90, 256))
        file.create_virtual_dataset('virtual', layout)
        file['deep/er/data'] = x
        file['deep/er/again'] = file['deep']
        hidden = file['t' + 'i1'].attrs
        hidden['note'] = 'x'
    for name, array in many.items():
        check(f'many.h5:{name}', array)
    for name, array in ('packed', x), ('offset', (x * 99).astype('i4')), ('deep/er/data', x):
        check(f'many.h5:{name}', array)
    for name, message in (('lzf', 'is packed by filter 32000'), ('text', 'holds texts'),
                          ('record', 'holds records (a compound type)'), ('reference', 'holds references to objects'),
                          ('vlen', 'holds no numbers'), ('outside', 'has its numbers in another file'),
                          ('virtual', 'is virtual: its numbers are in other files'),
                          ('large', 'claims more numbers than'), ('five', 'has not 1 to 4 dimensions'),
                          ('scalar', 'has not 1 to 4 dimensions'), ('none', 'has no numbers'),
                          ('soft', 'is a soft link'), ('other', 'is a link into another file')):
        refuse(f'many.h5:{name}', f"many.h5: '{name}' {message}")
    with open('usps.h5', 'rb') as file:
        content = file.read()
    for n in 0, 7, 8, 100, len(content) // 2, len(content) - 1:
        with open('cut.h5', 'wb') as file:
            file.write(content[:n])
        refuse('cut.h5:train/data', 'cut.h5: is no HDF5 file, or is damaged or cut')
    with h5py.File('v73.mat', 'w', userblock_size=512) as file:  # as MATLAB writes it: dimensions reversed
        file['data'] = x
        file['#refs#/a'] = np.zeros((300, 300))
    with open('v73.mat', 'r+b') as file:
        file.write(b'MATLAB 7.3 MAT-file, Platform: GLNXA64'.ljust(116) + bytes(8) + b'\0\2IM')
    check('v73.mat:data,rows=first', x.T)
    check('v73.mat', x, 'its last dimension, of 90, is taken')


skipped = []
parts = [npz, mat, hdf5, gzip, bz2, lzma]
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

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""faulty_system.py SALTUS SHIM: commands on a system that kills them, or fails, at each of their system
calls in turn (strace injects that), and one whose reads are short (SHIM, preloaded).

  killed:  what is resumed, or begun again, ends with the bytes of a run that nothing happened to
  failed:  the exit code says so and a file that was there before is as it was; or all is well
  short:   the same results

Exits 77, skipped, where there is no strace, or processes may not be traced."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

saltus, shim = (os.path.abspath(path) for path in sys.argv[1:3])
CALLS = ['write', 'pwrite64', 'fsync', 'rename', 'ftruncate', 'unlink', 'openat']
# Places of one call and command, evenly spaced: openat is called often. At night twice as many.
MOST = 12 if os.environ.get('SALTUS_SLOW') else 6
environment = dict(os.environ, OPENBLAS_NUM_THREADS='1')


class Case:
    """A command that writes `outputs`; `resume` goes on with it after a kill, `read` turns an output
    into bytes that are the same whenever the result is."""

    def __init__(self, words, outputs, resume=None, read=None):
        self.words, self.outputs, self.resume, self.read = words, outputs, resume, read


SAMPLE = 'sample ising:side=4 --sampler gwg --chains 4 --warmup 200 --draws 2600 --seed 3 --threads 1 '
TRAIN = ('train rbm:hidden=6 --data digits --objective pcd --sampler gibbs --iterations 30 --batch 20 '
         '--report 10 --checkpoint 10 --fresh 0 --seed 2 --threads 1 ')
CASES = {
    'run.npy': Case(SAMPLE + '--out run.npy', ['run.npy']),
    'run.nc': Case(SAMPLE + '--out run.nc', ['run.nc'], 'sample --resume run.nc --threads 1', 'convert'),
    'marginals': Case('exact ising:side=3 --threads 1 --marginals m.json', ['m.json']),
    'report': Case('report given.npy --out page.html', ['page.html']),
    'training': Case(TRAIN + '--out dir', ['dir/model.safetensors', 'dir/model.xml'],
                     TRAIN + '--out dir --resume'),
}


def run(words, folder, *before, **more):
    return subprocess.run([*before, saltus, *words.split()], cwd=folder, capture_output=True, text=True,
                          env=dict(environment, **more), timeout=120)


def results(case, folder):
    found = []
    for name in case.outputs:
        path = pathlib.Path(folder, name)
        if case.read == 'convert' and path.exists():
            done = run(f'convert {name} converted.npy', folder)
            assert done.returncode == 0, f'{name} cannot be read: {done.stderr}'
            path = pathlib.Path(folder, 'converted.npy')
        found.append(path.read_bytes() if path.exists() else None)
    return found


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    shutil.copy(given, folder)
    return folder


def trace(case, folder, call, *inject):
    """The command under strace, and how often it made the call."""
    log = os.path.join(home, 'log')
    done = run(case.words, folder, 'strace', '-f', '-qq', '-o', log, '-e', f'trace={call}',
               *(['-e', f'inject={call}:' + ':'.join(inject)] if inject else []))
    return done, sum(call + '(' in line for line in open(log, errors='replace'))


def places(n):
    return sorted({1 + k * (n - 1) // (MOST - 1) for k in range(MOST)}) if n > 0 else []


def check_kill(name, case, want, call, n):
    folder = fresh(os.path.join(home, 'killed'))
    trace(case, folder, call, 'signal=KILL', f'when={n}')
    for words in [case.resume, case.words] if case.resume else [case.words]:
        done = run(words, folder)
        if done.returncode == 0:
            break
    where = f'{name}, killed at {call} {n}'
    assert done.returncode == 0, f'{where}: {words}: {done.stderr}'
    assert results(case, folder) == want, f'{where}: other results'
    left = [p.name for p in pathlib.Path(folder).rglob('*') if p.name.endswith(('.tmp', '.draws'))]
    assert not left, f'{where}: {left} stay'


def check_failure(name, case, want, call, n, error):
    """Over an older file, which is replaced by a whole one or stays; a training has none."""
    folder = fresh(os.path.join(home, 'failed'))
    old = b'old'
    if case.resume is None:
        for output in case.outputs:
            pathlib.Path(folder, output).write_bytes(old)
    done, _ = trace(case, folder, call, f'error={error}', f'when={n}')
    where = f'{name}, {error} at {call} {n}'
    assert done.returncode >= 0, f'{where}: died by signal {-done.returncode}'
    if done.returncode == 0:
        assert results(case, folder) == want, f'{where}: exit 0 and other results'
        return 'well'
    assert done.stderr.strip() or 'lib' in call or call == 'openat' or call == 'write', f'{where}: not a word'
    for output, result in zip(case.outputs, want):
        path = pathlib.Path(folder, output)
        whole = not path.exists() or case.read or case.resume or path.read_bytes() in (old, result)
        assert whole, f'{where}: {output} is neither old nor new'
    if case.resume:
        for words in [case.resume, case.words]:
            again = run(words, folder)
            if again.returncode == 0:
                break
        assert again.returncode == 0, f'{where}: then {words}: {again.stderr}'
        assert results(case, folder) == want, f'{where}: other results when resumed'
    return 'told'


with tempfile.TemporaryDirectory() as home:
    given = os.path.join(home, 'given.npy')
    try:
        probe = subprocess.run(['strace', '-qq', '-o', '/dev/null', '-e', 'trace=none', 'true'],
                               capture_output=True)
        if probe.returncode != 0:
            raise OSError(probe.stderr.decode())
    except OSError as error:
        print('SKIPPED: this needs strace, and to trace processes:', error)
        sys.exit(77)
    assert run('sample ising:side=3 --chains 2 --draws 50 --out given.npy', home).returncode == 0
    counts = {'kills': 0, 'failures': 0, 'told': 0}
    for name, case in CASES.items():
        folder = fresh(os.path.join(home, 'reference'))
        done = run(case.words, folder)
        if done.returncode != 0 and 'without libnetcdf' in done.stderr:
            continue
        assert done.returncode == 0, f'{name}: {done.stderr}'
        want = results(case, folder)
        for call in CALLS:
            for n in places(trace(case, fresh(folder), call)[1]):
                check_kill(name, case, want, call, n)
                counts['kills'] += 1
                for error in {'write': ['ENOSPC'], 'openat': ['EMFILE']}.get(call, ['EIO']):
                    counts['told'] += check_failure(name, case, want, call, n, error) == 'told'
                    counts['failures'] += 1
        done = run(case.words, fresh(folder), LD_PRELOAD=shim)
        assert done.returncode == 0 and results(case, folder) == want, f'{name}: short reads: {done.stderr}'
    print(f"{counts['kills']} kills, {counts['failures']} failures, {counts['told']} of them told: all well")

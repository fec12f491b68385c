#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs and trainings shared by the ranks of an mpi4py communicator: bit by bit what one process makes."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import saltus as sal


def alone():
    run = sal.sample("ising:side=4,theta=0.1", "gwg", chains=70, draws=50, seed=2, threads=1)
    model, training = trained(None)
    return run.draws, model.params.flat, training.samples, judged(model, training, None)


def trained(comm, directory=None):
    rng = np.random.default_rng(3)
    data = (rng.random((300, 9)) < np.linspace(0.2, 0.8, 9)).astype(int)
    s = sal.binary(9)
    model = sal.Model((sal.param("b", 9) * s).sum() + (sal.param("J", 8) * s[1:] * s[:-1]).sum())
    training = sal.train(model, data, iterations=30, batch=70, buffer=200, sampler="gibbs", steps=9,
                         report_every=10, seed=1, threads=1, directory=directory, comm=comm)
    training.run(10)
    return model, training


def judged(model, training, comm):
    test = training.data.codes[:40]
    result = sal.evaluate(model, test, training.data, chains=70, temperatures=50, fresh=0, seed=4, threads=1, comm=comm)
    assert (result is None) == (comm is not None and comm.rank > 0)
    return result and (result.forward, result.reverse, result.independent)


def on_ranks():
    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    run = sal.sample("ising:side=4,theta=0.1", "gwg", chains=70, draws=50, seed=2, threads=1, comm=comm)
    assert (run is None) == (comm.rank > 0)
    draws, params, samples, figures = alone()
    assert run is None or (run.draws == draws).all()
    model, training = trained(comm)
    assert (model.params.flat == params).all() and (training.samples == samples).all()
    assert bool(training.reports) == (comm.rank == 0)
    result = judged(model, training, comm)
    assert result is None or result == figures, (result, figures)
    place = comm.bcast(tempfile.mkdtemp() if comm.rank == 0 else None)
    model, training = trained(comm, os.path.join(place, "training"))
    assert (model.params.flat == params).all()
    try:
        sal.sample("ising:side=4,theta=0.1", chains=70 + (comm.rank == comm.size - 1), comm=comm, seed=0)
        raise AssertionError("ranks that differ were not refused")
    except sal.ArgumentError as error:
        assert "has another 'chains'" in str(error), error
    fresh_seeds(comm, model, training)
    interrupts(comm)
    failures_to_write(comm, place)
    comm.Barrier()
    if comm.rank == 0:
        shutil.rmtree(place)


def fresh_seeds(comm, model, training):
    """All ranks have the seed that rank 0 drew; the library refuses ranks whose options differ."""
    run = sal.sample("ising:side=4,theta=0.1", chains=70, draws=20, comm=comm)
    again = sal.sample("ising:side=4,theta=0.1", chains=70, draws=20, seed=np.random.default_rng(comm.rank), comm=comm)
    assert comm.rank > 0 or run.seed != again.seed
    seeds = comm.allgather(sal.train(model, training.data, iterations=2, batch=70, threads=1, comm=comm).seed)
    assert len(set(seeds)) == 1, seeds
    sal.evaluate(model, training.data.codes[:40], chains=70, temperatures=5, threads=1, comm=comm)
    try:
        sal.sample("ising:side=4,theta=0.1", chains=70, seed=comm.rank, comm=comm)
        raise AssertionError("seeds that differ were not refused")
    except sal.ArgumentError as error:
        assert "has another 'seed'" in str(error), error


def interrupts(comm):
    """Ctrl-C at rank 0 ends the call at all ranks."""
    def progress(done, total):
        os.kill(os.getpid(), signal.SIGINT)

    try:
        sal.sample("ising:side=4,theta=0.1", "gibbs", chains=70, draws=10 ** 5, keep=False,
                   progress=progress, comm=comm)
        raise AssertionError("an interrupt was lost")
    except KeyboardInterrupt as error:
        assert (error.run is not None and error.run.summary["stopped"]) == (comm.rank == 0)


def failures_to_write(comm, place):
    """Where rank 0 cannot write, all ranks raise, instead of waiting for it."""
    try:
        sal.sample("ising:side=4,theta=0.1", "gibbs", chains=70, draws=20, seed=0, comm=comm,
                   out=os.path.join(place, "missing", "run.nc"))
        raise AssertionError("a directory that is missing was not noticed")
    except sal.SaltusError as error:
        assert "missing" in str(error) or isinstance(error, sal.UnsupportedError), error


class Ranks(unittest.TestCase):
    def test_the_same_bits_on_three_ranks(self):
        if shutil.which("mpirun") is None or subprocess.run([sys.executable, "-c", "import mpi4py"],
                                                            capture_output=True).returncode:
            self.skipTest("mpirun or mpi4py is not installed")
        env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1")
        said = subprocess.run(["mpirun", "--oversubscribe", "-n", "3", sys.executable, __file__, "on-ranks"], env=env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200)
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)


if __name__ == "__main__":
    if sys.argv[1:] == ["on-ranks"]:
        on_ranks()
    else:
        unittest.main()

# SPDX-License-Identifier: MIT
"""How a program uses the package, for mypy alone: each assertion has the type that a user sees.

A line that has to be an error bears ``type: ignore``, of which mypy says so if there is no error.
"""

from typing import Any, Union

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

import saltus as sal


def formulas(weights: NDArray[np.float64]) -> None:
    s = sal.spins((2, 3), name="s", coords={"row": ["a", "b"]})
    assert_type(s, sal.Expr)
    for row in s:
        assert_type(row, sal.Expr)
    assert_type((s == 1) & (s[0] > weights), sal.Expr)
    assert_type(2 * s + weights, sal.Expr)
    assert_type(sal.sum(s) + sal.max(s) - sal.min(s) * sal.abs(s).mean(), sal.Expr)
    sal.Model((weights * s).sum())
    sal.Model(weights @ s)
    sal.Model(np.sum(np.log(s + 2)))
    sal.Model(3)  # type: ignore[arg-type]
    sal.no_such_function(s)  # type: ignore[attr-defined]


def models(model: sal.Model) -> None:
    assert_type(model.codes([1, 1]), NDArray[np.int32])
    assert_type(model.gradient([1, 1]), NDArray[np.float64])
    assert_type(model.params["W"], NDArray[np.float64])
    model.params["W"] = [1, 2]
    assert_type(dict(model.params), dict[str, NDArray[np.float64]])
    assert_type([block.name for block in model.blocks], list[str])
    assert_type(model.exact().log_z, float)
    assert_type(sal.exact("ising:side=3").marginals, list[NDArray[np.float64]])
    assert_type(sal.from_torch(None, shape=(2,)), sal.Model)


def runs(model: sal.Model, training: sal.Training) -> None:
    run = sal.sample(model, "gwg", chains=2, temperatures=np.geomspace(1, 4, 8), init=np.zeros(3), seed=1)
    assert_type(run, sal.Run)
    assert_type(run.draws, Union[NDArray[Any], Any])
    assert_type(run.log_prob, NDArray[np.float64])
    assert_type(run.summary, sal.Summary)
    assert_type(run.summary.verdict, str)
    assert_type(list(run), list[str])
    assert_type(run.best(), tuple[NDArray[Any], float])
    assert_type(sal.resume("run.nc", model=model), sal.Run)
    assert_type(sal.sample(training), sal.Run)
    assert_type([summary["ess"] for summary in sal.compare(model, ["gwg"])], list[Any])
    sal.sample(model, chains="two")  # type: ignore[arg-type]


def chains() -> None:
    chain = sal.Chain("ising:side=3", "gibbs")
    assert_type(chain.step(2).adapt(3), sal.Chain)
    assert_type(chain.codes, NDArray[np.int32])
    assert_type(chain.log_prob, NDArray[np.float64])


def trainings(data: sal.Data) -> None:
    training = sal.train("rbm:hidden=3", data, test=data.split(3), preconditioner="data")
    assert_type(training, sal.Training)
    assert_type(training.reports, list[dict[str, Any]])
    result = sal.evaluate(training, data)
    assert_type(result, sal.Evaluation)
    assert_type(result.log_z, float)
    assert_type(result.samples, Union[NDArray[np.uint8], Any])
    assert_type(sal.ladder(training)[0], dict[str, Any])
    assert_type(data.codes, NDArray[np.uint8])
    assert_type(sal.rbm.RBM(3).fit(data.codes).score_samples(data.codes), NDArray[np.float64])


def failures() -> None:
    try:
        sal.sample("ising:side=3", out="run.nc")
    except sal.FileError as failure:
        assert_type(failure.run, sal.Run)
    except sal.ModelError as failure:
        assert_type(failure.training, sal.Training)


sampler = sal.Sampler("flip", lambda origin, random: origin.codes ^ (random.uniform(3) < random.uniform()),
                      lambda origin, to: origin.f + float(to.sum()))
sal.sample("ising:side=3", own=sampler)
sal.sample("ising:side=3", own=[sampler])

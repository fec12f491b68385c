# SPDX-License-Identifier: MIT
"""Gradient-based MCMC on discrete spaces.

>>> import saltus as sal
>>> s = sal.spins(20, name="spin")
>>> model = sal.Model(0.5 * (s[:-1] * s[1:]).sum())
>>> run = sal.sample(model, "gwg", chains=4, draws=1000, seed=1)
>>> run.values.shape
(4, 1000, 20)

Energies are formulas with NumPy's operators over blocks of variables (:func:`spins`, :func:`binary`,
:func:`categorical`, :func:`permutation`, :func:`ordinal`, :func:`counts`), ready-made models and files by
name, Python functions (:meth:`Model.from_function`) and PyTorch modules (:func:`from_torch`).
"""

from . import _formula, _library, rbm
from ._chain import Chain
from ._data import Data
from ._evaluate import Evaluation, evaluate
from ._formula import (Expr, at_most, avg_pool2d, binary, categorical, clip, concatenate, constant, conv2d, cos,
                       counts, cumsum, dot, drelu, edges, elu, erf, exp, expand_dims, gelu, lgamma, log, log1p, logsumexp,
                       matmul, max_pool2d, maximum, mean, minimum, operation, ordinal, param, permutation,
                       power, quad, relu, reshape, sigmoid, silu, sin, softmax, softplus, spins, sqrt, square, squeeze,
                       stack, take, tanh, transpose, where)
from ._formula_numpy import (arctan, average, broadcast_to, cosh, diagonal, diff, einsum, exp2, expm1, flip, floor, inner,
                             log2, log10, outer, pad, prod, repeat, roll, sign, sinh, std, swapaxes, tensordot, tile, trace,
                             tril, triu, var)
from ._library import (ArgumentError, DataError, FileError, InternalError, ModelError,
                       NotFoundError, OutOfRangeError, SaltusError, ShapeError, UnsupportedError)
from ._log_z import LogZ, log_z
from ._meeting import MeetingTimes, meeting_times
from ._model import Block, Exact, Model, Params, check, exact, list_of, read
from ._run import Comparison, Run, SaltusWarning, Summary, Tuning, compare, resume, sample
from ._sampler import Sampler
from ._tools import (Ladder, convert, diagnose, inpaint, ladder, load_marginals, report, save_marginals,
                     save_pictures)
from ._torch import from_torch, to_torch_state_dict
from ._train import Training, train

__version__ = _library.VERSION

# Public too, but not in `__all__`: `from saltus import *` leaves Python's own functions alone.
abs, max, min, sum = _formula.abs_, _formula.max, _formula.min, _formula.sum

__all__ = [
    "ArgumentError", "Block", "Chain", "Comparison", "Data", "DataError", "Evaluation", "Exact", "Expr",
    "FileError", "InternalError", "Ladder", "LogZ", "MeetingTimes", "Model", "ModelError", "NotFoundError",
    "OutOfRangeError", "Params", "Run", "SaltusError", "SaltusWarning", "Sampler", "ShapeError", "Summary",
    "Training", "Tuning", "UnsupportedError", "arctan", "at_most", "average", "avg_pool2d", "binary",
    "broadcast_to", "categorical", "check", "clip", "compare", "concatenate", "constant", "conv2d", "convert",
    "cos", "cosh", "counts", "cumsum", "diagnose", "diagonal", "diff", "dot", "drelu", "edges", "einsum", "elu", "erf",
    "evaluate", "exact", "exp", "exp2", "expand_dims", "expm1", "flip", "floor", "from_torch", "gelu", "inner",
    "inpaint", "ladder", "lgamma", "list_of", "load_marginals", "log", "log10", "log1p", "log2", "log_z",
    "logsumexp", "matmul", "max_pool2d", "maximum", "mean", "meeting_times", "minimum", "operation", "ordinal",
    "outer", "pad", "param", "permutation", "power", "prod", "quad", "rbm", "read", "relu", "repeat", "report",
    "reshape", "resume", "roll", "sample", "save_marginals", "save_pictures", "sigmoid", "sign", "silu", "sin",
    "sinh", "softmax", "softplus", "spins", "sqrt", "square", "squeeze", "stack", "std", "swapaxes", "take", "tanh",
    "tensordot", "tile", "to_torch_state_dict", "trace", "train", "transpose", "tril", "triu", "var", "where",
]

# SPDX-License-Identifier: MIT
"""Restricted Boltzmann machines as estimators of scikit-learn, which need not be installed."""

from __future__ import annotations

import sys
import warnings
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from . import _library, _train
from ._arrays import plain, reals
from ._chain import Chain
from ._data import Data
from ._library import ArgumentError, ShapeError
from ._model import Model
from ._run import SaltusWarning

__all__ = ["RBM"]

_PARAMETERS: dict[str, Any] = {"n_components": 256, "learning_rate": 0.1, "batch_size": 10, "n_iter": 10, "steps": 1,
                               "verbose": 0, "random_state": None, "train_options": None}
_ROUNDING = 1e-6  # of numbers that are to be probabilities
_ROWS = 1000  # of which score_samples keeps the differences at a time


class NotFittedError(ValueError, AttributeError):
    """The estimator has no weights yet. Where scikit-learn is loaded, its own exception of this name is raised."""


class RBM:
    """A restricted Boltzmann machine of binary units, as an estimator of scikit-learn.

    p(v, h) is proportional to exp(h' W v + b' v + c' h), v and h in {0, 1}. What has the name that
    ``sklearn.neural_network.BernoulliRBM`` gives it has the same meaning and sign; the notes say where results differ.

    Parameters
    ----------
    n_components : int
        Number of hidden units.
    learning_rate : float
        Of the mean gradient of a minibatch.
    batch_size : int
        Rows of a minibatch, and persistent chains; all rows if there are fewer.
    n_iter : int
        Passes over the rows.
    steps : int
        Sweeps of block Gibbs of the persistent chains in each update.
    verbose : int
        Whether to show progress.
    random_state : int, numpy.random.Generator or RandomState, optional
        The same number gives the same bits. None: other ones each time.
    train_options : dict, optional
        Options of :func:`saltus.train` that come in addition to those above or in their place, such as
        ``{"optimiser": "adam", "weight_decay": 1e-4, "threads": 1}``.

    Attributes
    ----------
    components_ : array, shape (n_components, n_features)
        W.
    intercept_visible_, intercept_hidden_ : array
        b and c.
    n_features_in_ : int
    feature_names_in_ : array of str
        Where :meth:`fit` was given a table whose columns have names.
    reports_ : list of dict
        What the training reported: see :class:`saltus.Training`.

    Notes
    -----
    X has rows of numbers, dense or sparse. :meth:`fit` takes numbers from 0 to 1. Where some lie between, it draws the
    units of a row anew from these probabilities each time that it uses the row. Formulas such as that of
    :meth:`transform` take any numbers, so that held-out rows may be scaled a little beyond 0 and 1.

    Different from ``BernoulliRBM``: b starts at the log-odds of the columns' means, not at 0. Training is in single
    precision, and counts units from their means (``{"centring": "off"}`` does not). :meth:`score_samples` is the
    log pseudo-likelihood itself, of which that of ``BernoulliRBM`` is a random estimate. There is no ``partial_fit``:
    ``saltus.train(rbm.to_model(), X, ..)`` goes on, and :meth:`from_model` makes an estimator of the result.

    Visible units are binary. RBMs of letters, greys or spins are models for :func:`saltus.train`.

    References
    ----------
    Tieleman (2008), Training restricted Boltzmann machines using approximations to the likelihood gradient.
    Salakhutdinov & Murray (2008): units drawn anew from probabilities.

    Examples
    --------
    >>> import numpy as np, saltus as sal
    >>> X = np.repeat([[0, 0, 1, 1], [1, 1, 0, 0]], 50, axis=0)
    >>> rbm = sal.rbm.RBM(n_components=2, n_iter=100, random_state=1).fit(X)
    >>> rbm.reconstruct([[1, 1, 0, 0]]).round().astype(int)
    array([[1, 1, 0, 0]])
    >>> known = np.array([0, np.nan, np.nan, np.nan])
    >>> rbm.sample(500, clamp=known, steps=100, random_state=1).mean(axis=0).round().astype(int)
    array([0, 0, 1, 1])
    """

    def __init__(self, n_components: int = 256, *, learning_rate: float = 0.1, batch_size: int = 10, n_iter: int = 10,
                 steps: int = 1, verbose: int = 0, random_state: Any = None,
                 train_options: Optional[dict[str, Any]] = None):
        self.n_components = n_components
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.n_iter = n_iter
        self.steps = steps
        self.verbose = verbose
        self.random_state = random_state
        self.train_options = train_options

    # ---- what makes it an estimator

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters that the estimator was made with, by name."""
        return {name: getattr(self, name) for name in _PARAMETERS}

    def set_params(self, **params: Any) -> "RBM":
        """Set parameters by name. ArgumentError for a name that is none."""
        for name in params:
            if name not in _PARAMETERS:
                raise ArgumentError(f"RBM has no parameter {name!r}; there are: {', '.join(_PARAMETERS)}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        given = [f"{name}={value!r}" for name, value in self.get_params().items()
                 if not (value is _PARAMETERS[name] or np.array_equal(value, _PARAMETERS[name]))]
        return f"{type(self).__name__}({', '.join(given)})"

    def _more_tags(self) -> dict[str, Any]:
        return {"preserves_dtype": [np.float64]}

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags  # scikit-learn 1.6 and later
        return Tags(estimator_type=None, target_tags=TargetTags(required=False),
                    transformer_tags=TransformerTags(preserves_dtype=["float64"]), input_tags=InputTags(sparse=True))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "components_")

    def set_output(self, *, transform: Optional[str] = None) -> "RBM":
        """What :meth:`transform` returns: 'default', an array, or 'pandas', a DataFrame. None changes nothing."""
        if transform not in (None, "default", "pandas"):
            raise ArgumentError(f"set_output: transform={transform!r}; expected 'default' or 'pandas'")
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of what :meth:`transform` returns: rbm0, rbm1, .."""
        self._check_fitted()
        return np.array([f"{type(self).__name__.lower()}{k}" for k in range(len(self.components_))], dtype=object)

    # ---- training

    def fit(self, X: Any, y: Any = None) -> "RBM":
        """Fit to rows, by persistent contrastive divergence. What was learned before is forgotten.

        Parameters
        ----------
        X : array or sparse matrix, shape (rows, features)
            Numbers from 0 to 1.
        y
            Ignored.

        Returns
        -------
        RBM
            Itself.

        Raises
        ------
        ArgumentError
            X is no table of numbers from 0 to 1; a parameter is out of range.
        ModelError
            Training diverged.
        """
        rows = self._in_range(self._rows(X, reset=True))
        most = 2 ** 31 - 1
        hidden, passes, batch = (_library.whole(getattr(self, name), most, name)
                                 for name in ("n_components", "n_iter", "batch_size"))
        if hidden < 1 or batch < 1:
            raise ArgumentError(f"n_components={hidden}, batch_size={batch}; expected 1 or more")
        batch = min(batch, len(rows))
        given: dict[str, Any] = {"objective": "pcd", "sampler": "block-gibbs", "steps": self.steps, "batch": batch,
                 "learning_rate": self.learning_rate, "iterations": passes * -(-len(rows) // batch)}
        if not isinstance(self.train_options, (dict, type(None))):
            raise ArgumentError(f"train_options: expected a dict; found {type(self.train_options).__name__}")
        extra = dict(self.train_options or {})
        if "optimiser" not in extra:
            given.update(optimiser="sgd", momentum=0)
        given.update(extra)
        name, seed = f"rbm:hidden={hidden}", _library.seed_of(self.random_state)
        data = Data(_codes_or_intensities(rows))
        if passes == 0 and "iterations" not in extra:
            self.reports_: list[dict[str, Any]] = []
            return self._take(_train._new_model(name, data, False, seed, None))
        training = _train.train(name, data, seed=seed, progress=bool(self.verbose), **given)
        self.reports_ = training.reports
        return self._take(training.model)

    def _take(self, model: Model) -> "RBM":
        self.components_, self.intercept_visible_, self.intercept_hidden_ = (model.params[name].copy()
                                                                             for name in "Wbc")
        self.n_features_in_ = self.components_.shape[1]
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """:meth:`fit`, then :meth:`transform` of the same rows."""
        return self.fit(X, y).transform(X)

    @classmethod
    def from_model(cls, model: Any) -> "RBM":
        """A fitted estimator of a model ``rbm``, or of a training of one.

        Raises
        ------
        ArgumentError
            The model is no RBM with its hidden units summed out.

        Examples
        --------
        >>> import saltus as sal
        >>> training = sal.train("rbm:hidden=3", [[0, 1], [1, 0]], iterations=5, batch=2, objective="pcd")
        >>> sal.rbm.RBM.from_model(training).transform([[0, 1]]).shape
        (1, 3)
        """
        made = model.model if isinstance(model, _train.Training) else model
        if not isinstance(made, Model):
            raise ArgumentError(f"from_model: expected a Model or a Training; found {type(model).__name__}")
        shapes = {name: value.shape for name, value in made.params.items()}
        hidden = shapes.get("W", (0,))[0]
        if [block.kind for block in made.blocks] != ["binary"] or \
                shapes != {"W": (hidden, made.variables), "b": (made.variables,), "c": (hidden,)}:
            raise ArgumentError(f"from_model: {made.name or 'the model'} is no RBM of binary units with the parameters "
                                "W, b and c")
        rbm = cls(hidden)._take(made)
        states = np.random.default_rng(0).integers(0, 2, (8, made.variables))
        if not np.allclose(made.value(states), -rbm.free_energy(states), rtol=1e-4, atol=1e-4):
            raise ArgumentError(f"from_model: f of {made.name or 'the model'} is not that of an RBM")
        return rbm

    def to_model(self, dtype: Any = None) -> Model:
        """The model of the visible units, f(v) = -F(v), with copies of the weights: for :func:`saltus.sample` and
        all else.

        Examples
        --------
        >>> import saltus as sal
        >>> rbm = sal.rbm.RBM(2, n_iter=1, random_state=1).fit([[0, 1], [1, 0]])
        >>> bool(abs(rbm.to_model("f64").value([0, 1]) + rbm.free_energy([[0, 1]])[0]) < 1e-12)
        True
        """
        self._check_fitted()
        return _model_of(self.components_, self.intercept_visible_, self.intercept_hidden_, dtype)

    # ---- what is known of rows

    def transform(self, X: Any) -> Any:
        """Probabilities of the hidden units, P(h = 1 | v = X), shape (rows, n_components)."""
        probabilities = _sigmoid(self._fitting(X) @ self.components_.T + self.intercept_hidden_)
        if self._output() != "pandas":
            return probabilities
        import pandas
        return pandas.DataFrame(probabilities, index=getattr(X, "index", None), columns=self.get_feature_names_out())

    def _output(self) -> str:
        """'pandas' where that was asked for, by :meth:`set_output` or in scikit-learn's configuration."""
        if hasattr(self, "_sklearn_output_config"):
            return self._sklearn_output_config["transform"]
        sklearn = sys.modules.get("sklearn")
        return "default" if sklearn is None else sklearn.get_config().get("transform_output", "default")

    def free_energy(self, X: Any) -> NDArray[np.float64]:
        """F(v) = -b'v - sum_j log(1 + exp(c_j + W_j v)), shape (rows,); p(v) is proportional to exp(-F(v))."""
        rows = self._fitting(X)
        return -self.to_model("f64").value_at(rows)

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """The log pseudo-likelihood of rows, sum_i log p(v_i | all others), in nats, shape (rows,).

        Where numbers lie between 0 and 1, the other value of a unit is 1 - v_i, as that of ``BernoulliRBM``.
        """
        rows = self._fitting(X)
        model = self.to_model("f64")
        scores = np.empty(len(rows))
        binary = _is_binary(rows).all(axis=1)
        whole = np.flatnonzero(binary)
        for some in np.split(whole, range(_ROWS, len(whole), _ROWS)):
            changes = model.differences(rows[some].astype(np.int8)).reshape(len(some), rows.shape[1], 2).sum(axis=2)
            scores[some] = -np.logaddexp(0, changes).sum(axis=1)
        for k in np.flatnonzero(~binary):
            flipped = np.tile(rows[k], (rows.shape[1], 1))
            np.fill_diagonal(flipped, 1 - rows[k])
            scores[k] = -np.logaddexp(0, model.value_at(flipped) - model.value_at(rows[k])).sum()
        return scores

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of :meth:`score_samples`, for searches over parameters."""
        return float(self.score_samples(X).mean())

    def reconstruct(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the visible units given those of the hidden ones, P(v = 1 | h = transform(X))."""
        return _sigmoid(self.to_model("f64").gradient_at(self._fitting(X)))  # df/dv is b + W' transform(v)

    # ---- drawing

    def gibbs(self, v: Any, random_state: Any = None) -> NDArray[np.int8]:
        """One sweep of block Gibbs: h from p(h | v), then new visible units from p(v | h).

        Parameters
        ----------
        v : array, shape (rows, features), of 0 and 1
        random_state
            None: that of the estimator, so that a number gives the same draws each time.

        Returns
        -------
        array of int8, of the same shape
        """
        rows = self._fitting(v)
        if not _is_binary(rows).all():
            raise ArgumentError("gibbs: expected units of 0 and 1")
        chain = Chain(self.to_model(), "block-gibbs", chains=len(rows), warmup=0, init=rows.astype(np.int8),
                      seed=self._seed(random_state))
        return np.asarray(chain.step(1).state)

    def sample(self, n_samples: int = 1, *, clamp: Any = None, steps: int = 1000,
               random_state: Any = None) -> NDArray[np.int8]:
        """Draw visible units by block Gibbs, each sample by a chain of its own from a random state.

        Parameters
        ----------
        n_samples : int
            Samples; with rows of `clamp` samples of each.
        clamp : dict or array, optional
            Units that stay fixed, the others being drawn given these: {index: value}, or an array of shape
            (features,) or (rows, features) that is NaN where units are free.
        steps : int
            Sweeps of each chain.
        random_state
            None: that of the estimator, so that a number gives the same draws each time.

        Returns
        -------
        array of int8, shape (n_samples, features)
            With rows of `clamp` (rows, n_samples, features).

        Raises
        ------
        ArgumentError, ShapeError
            Values other than 0, 1 and NaN; units that are not there.

        Notes
        -----
        Given some visible units, the others are those of an RBM whose hidden biases have c + W v of the known ones,
        which is sampled. Samples are those of the model once the chains have forgotten their starts. Chains of block
        Gibbs may stay in one mode for long: ``saltus.sample(rbm.to_model(), tempering=16)`` says whether they do.

        Examples
        --------
        In-painting, or classification where some of the units are labels:

        >>> import numpy as np, saltus as sal
        >>> X = np.repeat([[0, 0, 1, 1], [1, 1, 0, 0]], 50, axis=0)
        >>> rbm = sal.rbm.RBM(n_components=2, n_iter=100, random_state=1).fit(X)
        >>> rows = np.array([[0, 0, np.nan, np.nan], [1, 1, np.nan, np.nan]])
        >>> rbm.sample(200, clamp=rows, random_state=1).mean(axis=1).round().astype(int)
        array([[0, 0, 1, 1],
               [1, 1, 0, 0]])
        """
        self._check_fitted()
        n, steps = (_library.whole(number, 2 ** 31 - 1, name)
                    for number, name in ((n_samples, "n_samples"), (steps, "steps")))
        if n < 1:
            raise ArgumentError(f"n_samples={n}; expected 1 or more")
        known = self._known(clamp)
        rows = known.reshape(-1, self.n_features_in_)
        seeds = np.random.SeedSequence(self._seed(random_state)).generate_state(len(rows), np.uint64)
        drawn = np.empty((len(rows), n, self.n_features_in_), dtype=np.int8)
        for row, seed, samples in zip(rows, seeds, drawn):
            self._draw(row, steps, int(seed), samples)
        return drawn.reshape(known.shape[:-1] + (n, self.n_features_in_))

    def _known(self, clamp: Any) -> NDArray[np.float64]:
        """What `clamp` fixes, NaN where units are free, shape (features,) or (rows, features)."""
        features = self.n_features_in_
        if clamp is None or isinstance(clamp, dict):
            known: NDArray[np.float64] = np.full(features, np.nan)
            for unit, value in (clamp or {}).items():
                known[_library.whole(unit, features - 1, "clamp: unit")] = reals(value, f"clamp of unit {unit}")
        else:
            known = reals(clamp, "clamp")
            if known.ndim not in (1, 2) or known.shape[-1] != features or known.size == 0:
                raise ShapeError(f"clamp: expected the shape ({features},) or (rows, {features}); found {known.shape}")
        wrong = known[~(_is_binary(known) | np.isnan(known))]
        if wrong.size:
            raise ArgumentError(f"clamp: found {wrong[0]:g}; expected 0 or 1, or NaN for a free unit")
        return known

    def _draw(self, known: NDArray[Any], steps: int, seed: int, samples: NDArray[Any]) -> None:
        """Fill samples (n, features) given the units that are known."""
        free = np.isnan(known)
        samples[:, ~free] = known[~free]
        if free.any():
            model = _model_of(self.components_[:, free], self.intercept_visible_[free],
                              self.intercept_hidden_ + self.components_[:, ~free] @ known[~free])
            chain = Chain(model, "block-gibbs", chains=len(samples), warmup=0, seed=seed)
            samples[:, free] = chain.step(steps).state

    def _seed(self, random_state: Any) -> int:
        return _library.seed_of(self.random_state if random_state is None else random_state)

    # ---- checks, with the messages of scikit-learn's

    def _check_fitted(self) -> None:
        if hasattr(self, "components_"):
            return
        module = sys.modules.get("sklearn.exceptions")
        raise getattr(module, "NotFittedError", NotFittedError)(
            f"This {type(self).__name__} instance is not fitted yet. Call 'fit' first.")

    def _fitting(self, X: Any) -> NDArray[Any]:
        """Rows for the weights that were learned."""
        self._check_fitted()
        return self._rows(X, reset=False)

    def _rows(self, X: Any, reset: bool) -> NDArray[Any]:
        """X as doubles (rows, features), with the names and the number of features of `fit`."""
        self._check_names(X, reset)
        rows = plain(X, "X")
        if rows.dtype.kind == "O":
            rows = rows.astype(np.float64)
        if rows.dtype.kind == "c":
            raise ArgumentError("Complex data not supported: X has complex numbers")
        rows = reals(rows, "X")
        if rows.ndim != 2:
            raise ShapeError(f"Expected 2D array, got {rows.ndim}D array instead, of shape {rows.shape}. Reshape your "
                             "data: X.reshape(-1, 1) of one feature, X.reshape(1, -1) of one row")
        for number, what in zip(rows.shape, ("sample", "feature")):
            if number == 0:
                raise ShapeError(f"Found array with 0 {what}(s) (shape={rows.shape}) while a minimum of 1 is required.")
        if not reset and rows.shape[1] != self.n_features_in_:
            raise ShapeError(f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting "
                             f"{self.n_features_in_} features as input")
        if not np.isfinite(rows).all():
            raise ArgumentError(f"Input X contains {'NaN' if np.isnan(rows).any() else 'infinity'}.")
        return rows

    def _in_range(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Rows of probabilities, which a scaler may have rounded beyond 0 and 1."""
        wrong = rows[(rows < -_ROUNDING) | (rows > 1 + _ROUNDING)]
        if wrong.size:
            raise ArgumentError(f"X has the number {wrong[0]:g}; expected numbers from 0 to 1, which are the "
                                "probabilities of units: scale X, as MinMaxScaler does")
        return np.clip(rows, 0, 1)

    def _check_names(self, X: Any, reset: bool) -> None:
        """Keep the names of a table's columns in `fit`, and compare them later."""
        columns = getattr(X, "columns", None)
        names = None if columns is None else np.asarray(columns, dtype=object)
        if names is not None and not all(isinstance(name, str) for name in names):
            names = None
        known = getattr(self, "feature_names_in_", None)
        if reset:
            if names is not None:
                self.feature_names_in_ = names
            elif known is not None:
                del self.feature_names_in_
            return
        own = type(self).__name__
        if names is None or known is None:
            if names is not None or known is not None:
                text = (f"X has feature names, but {own} was fitted without feature names" if known is None else
                        f"X does not have valid feature names, but {own} was fitted with feature names")
                warnings.warn(text, SaltusWarning, stacklevel=4)
        elif list(names) != list(known):
            raise ArgumentError(_names_differ(list(names), list(known)))


def _names_differ(names: list[str], known: list[str]) -> str:
    parts = ["The feature names should match those that were passed during fit."]
    for title, some in (("Feature names unseen at fit time:", sorted(set(names) - set(known))),
                        ("Feature names seen at fit time, yet now missing:", sorted(set(known) - set(names)))):
        if some:
            parts += [title] + [f"- {name}" for name in some[:5]] + (["- ..."] if len(some) > 5 else [])
    if len(parts) == 1:
        parts.append("Feature names must be in the same order as they were in fit.")
    return "\n".join(parts) + "\n"


def _model_of(W: NDArray[Any], b: NDArray[Any], c: NDArray[Any], dtype: Any = None) -> Model:
    """The model `rbm` with these parameters."""
    hidden, visible = W.shape
    model = Model(f"rbm:visible={visible},hidden={hidden}", dtype=dtype)
    model.params.update(W=W, b=b, c=c)
    return model


def _sigmoid(x: NDArray[Any]) -> NDArray[Any]:
    return np.exp(-np.logaddexp(0, -x))


def _is_binary(rows: NDArray[Any]) -> NDArray[Any]:
    return (rows == 0) | (rows == 1)


def _codes_or_intensities(rows: NDArray[Any]) -> NDArray[Any]:
    """Rows as :class:`saltus.Data` takes them: integers are codes, and floats probabilities of code 1."""
    return rows.astype(np.uint8) if _is_binary(rows).all() else rows

# SPDX-License-Identifier: MIT
"""PyTorch's attention, recurrent layers and embeddings, and modules whose own code cannot be traced.

Some modules of PyTorch branch on their input: on its rank, or on whether a fast path is open. PLAIN has the same
computation for them in PyTorch's functions alone, in evaluation mode and for a batch of states.
"""

from __future__ import annotations

import math
import types
from typing import Any, Callable, Optional, Sequence

import numpy as np

from . import _formula as sal
from ._formula import Expr
from ._torch_operations import OPERATIONS, CannotTurn, Condition, Labels, Tensor, mixes, turns

# ---- attention


@turns("scaled_dot_product_attention")
def _attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Any = None, dropout_p: float = 0.0,
               is_causal: bool = False, scale: Optional[float] = None, enable_gqa: bool = False) -> Tensor:
    if dropout_p:
        raise CannotTurn(f"dropout_p={dropout_p}: it draws random numbers")
    if enable_gqa:
        raise CannotTurn("enable_gqa=True")
    factor = 1 / math.sqrt(query.expr.shape[-1]) if scale is None else scale
    product = OPERATIONS["matmul"]
    scores = product(query.like(query.expr * factor), OPERATIONS["transpose"](key, -2, -1))
    if is_causal:
        rows, columns = scores.expr.shape[-2:]
        attn_mask = _truths(np.tri(rows, columns, dtype=bool))
    if isinstance(attn_mask, Condition) or attn_mask is not None and attn_mask.array is not None \
            and attn_mask.array.dtype.kind == "b":
        scores = OPERATIONS["where"](attn_mask, scores, -math.inf)
    elif attn_mask is not None:
        scores = OPERATIONS["add"](scores, attn_mask)
    return product(OPERATIONS["softmax"](scores, -1), value)


def _truths(array: np.ndarray) -> Tensor:
    return Tensor(sal.constant(array), False, array)


# ---- embeddings


@turns("embedding")
def _embedding(input: Any, weight: Tensor, padding_idx: Optional[int] = None, max_norm: Optional[float] = None,
               norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    if max_norm is not None:
        raise CannotTurn(f"max_norm={max_norm}: it changes the weights")
    table = weight.expr
    if padding_idx is not None and padding_idx >= 0 and table.op == "param":  # a row that PyTorch does not train
        kept = np.ones(table.shape)
        kept[padding_idx] = 0
        table = sal.where(kept, table, np.where(kept, 0, table.extra["value"]))
    if not isinstance(input, Labels):
        if input.array is None:
            raise CannotTurn("labels that are no variables of the state; from_torch(.., labels=True) gives the module labels")
        return Tensor(table.take(input.array, 0), False)
    states = input.one_hot.shape[-1]
    if states > table.shape[0]:
        raise CannotTurn(f"the variables have {states} labels, the weight has {table.shape[0]} rows")
    return input.like(sal.matmul(input.one_hot, table if states == table.shape[0] else table[:states]))


@turns("aten.embedding")
def _aten_embedding(weight: Tensor, indices: Any, padding_idx: int = -1, *_: Any) -> Tensor:
    return _embedding(indices, weight, padding_idx)


@turns("one_hot")
def _one_hot(input: Any, num_classes: int = -1) -> Tensor:
    if not isinstance(input, Labels):
        raise CannotTurn("one_hot of what are no labels of the state")
    e, states = input.one_hot, input.one_hot.shape[-1]
    if num_classes < states:
        raise CannotTurn(f"one_hot with num_classes={num_classes}; the variables have {states} labels")
    more = num_classes - states
    return input.like(e if more == 0 else sal.concatenate([e, np.zeros(e.shape[:-1] + (more,))], e.ndim - 1))


# operations that put labels in other places
MOVES = {"view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "transpose", "swapaxes", "t", "permute",
         "getitem", "select", "slice", "narrow", "contiguous", "clone", "flip", "roll", "repeat", "expand", "long",
         "alias", "index_select", "movedim"}


def moved_labels(labels: Labels, move: Callable[[np.ndarray], np.ndarray]) -> Labels:
    """The labels that `move` takes of an array with an axis of one state and then those of the labels."""
    e = labels.one_hot
    shape = e.shape[:-1]
    places = move(np.arange(math.prod(shape)).reshape(((1,) if labels.batched else ()) + shape))
    if labels.batched:
        if places.ndim == 0 or places.shape[0] != 1:
            raise mixes("a change of the shape of labels")
        places = places[0]
    rows = sal.reshape(e, (-1, e.shape[-1])).take(places.ravel(), 0)
    return Labels(sal.reshape(rows, places.shape + e.shape[-1:]), labels.batched)


# ---- recurrent layers


def _parts(e: Expr, n: int) -> list[Expr]:
    """Equal parts of the last axis."""
    size = e.shape[-1] // n
    return [e[..., k * size:(k + 1) * size] for k in range(n)]


def _next(mode: str, x: Expr, h: Expr, c: Optional[Expr], weight: Expr, bias: Optional[Expr]) -> tuple[Expr, Optional[Expr]]:
    """The next hidden state, and of an LSTM the cell's; x has the gates of the input."""
    own = sal.matmul(weight, h) if h.ndim == 1 else sal.matmul(h, sal.transpose(weight))
    own = own if bias is None else own + bias
    if mode == "gru":
        (xr, xz, xn), (hr, hz, hn) = (_parts(e, 3) for e in (x, own))
        z, n = sal.sigmoid(xz + hz), sal.tanh(xn + sal.sigmoid(xr + hr) * hn)
        return n + z * (h - n), None
    if mode == "lstm":
        i, f, g, o = _parts(x + own, 4)
        c = sal.sigmoid(f) * c + sal.sigmoid(i) * sal.tanh(g)
        return sal.sigmoid(o) * sal.tanh(c), c
    return (sal.tanh if mode == "rnn_tanh" else sal.relu)(x + own), None


def _layer(mode: str, rows: Expr, h: Expr, c: Optional[Expr], weights: Sequence[Expr], biased: bool,
           backward: bool) -> tuple[Expr, Expr, Optional[Expr]]:
    """The outputs of one direction of a layer, (L, features), and its last states."""
    inner, hidden = weights[:2]
    biases: tuple[Any, Any] = (weights[2], weights[3]) if biased else (None, None)
    project = weights[2 + 2 * biased] if len(weights) > 2 + 2 * biased else None
    gates = sal.matmul(rows, sal.transpose(inner))
    gates = gates if biases[0] is None else gates + biases[0]
    order = range(rows.shape[0])
    outputs = {}
    for k in (reversed(order) if backward else order):
        h, c = _next(mode, gates[k], h, c, hidden, biases[1])
        h = h if project is None else sal.matmul(project, h)
        outputs[k] = h
    return sal.stack([outputs[k] for k in order]), h, c


def _recurrent(mode: str) -> Callable[..., tuple[Any, ...]]:
    def turned(input: Tensor, hx: Any, params: Sequence[Tensor], has_biases: bool, num_layers: int, dropout: float,
               train: bool, bidirectional: bool, batch_first: bool) -> tuple[Any, ...]:
        if train and dropout:
            raise CannotTurn("it draws random numbers, train=True")
        if not batch_first:
            input = OPERATIONS["transpose"](input, 0, 1)
        if input.ndim != 3 or not input.batched and input.expr.shape[0] != 1:
            raise CannotTurn(f"a recurrent layer of the shape {input.shape}; expected (B, L, features)")
        rows = input.expr if input.batched else sal.reshape(input.expr, input.expr.shape[1:])
        starts = [start.expr for start in (hx if mode == "lstm" else (hx,))]
        if any(start.batched for start in (hx if mode == "lstm" else (hx,))) or any(e.shape[1] != 1 for e in starts):
            raise CannotTurn("states to start from that differ from state to state")
        directions = 1 + bidirectional
        per = len(params) // (num_layers * directions)
        lasts: list[list[Expr]] = [[], []]
        for layer in range(num_layers):
            outputs = []
            for k in range(directions):
                at = layer * directions + k
                h, c = ([e[at, 0] for e in starts] + [None])[:2]
                out, h, c = _layer(mode, rows, h, c, [w.expr for w in params[at * per:(at + 1) * per]], has_biases, k == 1)
                outputs.append(out)
                lasts[0].append(h)
                lasts[1].append(c)
            rows = outputs[0] if directions == 1 else sal.concatenate(outputs, 1)
        output = input.like(rows if input.batched else sal.reshape(rows, (1,) + rows.shape))
        if not batch_first:
            output = OPERATIONS["transpose"](output, 0, 1)
        return (output, *(_states(input, own) for own in lasts[:1 + (mode == "lstm")]))

    return turned


def _states(input: Tensor, states: Sequence[Expr]) -> Any:
    """The last states of all layers: a tensor, or with states at axis 1 the parts along axis 0."""
    if input.batched:
        return tuple(input.like(e) for e in states)
    return input.like(sal.stack([sal.reshape(e, (1,) + e.shape) for e in states]))


def _cell(mode: str) -> Callable[..., Any]:
    def turned(input: Tensor, hx: Any, w_ih: Tensor, w_hh: Tensor, b_ih: Optional[Tensor] = None,
               b_hh: Optional[Tensor] = None) -> Any:
        starts = []
        for start in (hx if mode == "lstm" else (hx,)):
            alone = input.batched and not start.batched
            if alone and start.expr.shape[0] != 1:
                raise mixes("a state to start from for each state")
            starts.append(sal.reshape(start.expr, start.expr.shape[1:]) if alone else start.expr)
        gates = OPERATIONS["linear"](input, w_ih, b_ih).expr
        h, c = _next(mode, gates, starts[0], starts[-1], w_hh.expr,
                     None if b_hh is None else b_hh.expr)
        return (input.like(h), input.like(c)) if c is not None else input.like(h)

    return turned


for _mode in ("rnn_tanh", "rnn_relu", "gru", "lstm"):
    OPERATIONS[_mode], OPERATIONS[_mode + "_cell"] = _recurrent(_mode), _cell(_mode)


# ---- modules whose code cannot be traced


def _plain(torch: Any) -> dict[type, Callable[..., Any]]:
    """The forward of each of these modules in functions of PyTorch that can be traced."""
    nn, F = torch.nn, torch.nn.functional

    def hidden(scores: Any, mask: Any) -> Any:
        if isinstance(mask, torch.Tensor) and mask.is_floating_point():
            return scores + mask
        return scores.masked_fill(mask, -math.inf)

    def attention(self: Any, query: Any, key: Any, value: Any, key_padding_mask: Any = None, need_weights: bool = True,
                  attn_mask: Any = None, average_attn_weights: bool = True, is_causal: bool = False) -> Any:
        if not self.batch_first:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        if isinstance(attn_mask, torch.Tensor) and attn_mask.dim() != 2:
            raise NotImplementedError(f"attn_mask with {attn_mask.dim()} axes")
        if self.in_proj_weight is not None:
            weights = [self.in_proj_weight[k * self.embed_dim:(k + 1) * self.embed_dim] for k in range(3)]
        else:
            weights = [self.q_proj_weight, self.k_proj_weight, self.v_proj_weight]
        biases: list[Any] = [None] * 3
        if self.in_proj_bias is not None:
            biases = [self.in_proj_bias[k * self.embed_dim:(k + 1) * self.embed_dim] for k in range(3)]
        query, key, value = (F.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases))
        more = 0
        if self.bias_k is not None:
            key, value = (torch.cat([x, bias.expand(x.shape[0], 1, self.embed_dim)], 1)
                          for x, bias in ((key, self.bias_k), (value, self.bias_v)))
            more += 1
        if self.add_zero_attn:
            key, value = (F.pad(x, (0, 0, 0, 1)) for x in (key, value))
            more += 1
        query, key, value = (x.reshape(x.shape[0], x.shape[1], self.num_heads, self.head_dim).transpose(1, 2)
                             for x in (query, key, value))
        scores = torch.matmul(query / math.sqrt(self.head_dim), key.transpose(2, 3))
        if attn_mask is not None:
            scores = hidden(scores, F.pad(attn_mask, (0, more)) if more else attn_mask)
        if key_padding_mask is not None:
            mask = F.pad(key_padding_mask, (0, more)) if more else key_padding_mask
            scores = hidden(scores, mask.unsqueeze(1).unsqueeze(2))
        shares = torch.softmax(scores, -1)
        rows = F.linear(torch.matmul(shares, value).transpose(1, 2).flatten(2), self.out_proj.weight, self.out_proj.bias)
        if not self.batch_first:
            rows = rows.transpose(0, 1)
        return rows, (shares.mean(1) if average_attn_weights else shares) if need_weights else None

    def encoder_layer(self: Any, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None,
                      is_causal: bool = False) -> Any:
        def attend(x: Any) -> Any:
            return self.dropout1(self.self_attn(x, x, x, attn_mask=src_mask, key_padding_mask=src_key_padding_mask,
                                                need_weights=False)[0])

        def feed(x: Any) -> Any:
            return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))

        if self.norm_first:
            x = src + attend(self.norm1(src))
            return x + feed(self.norm2(x))
        x = self.norm1(src + attend(src))
        return self.norm2(x + feed(x))

    def encoder(self: Any, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: Any = None) -> Any:
        for layer in self.layers:
            src = layer(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask)
        return src if self.norm is None else self.norm(src)

    def recurrent(self: Any, input: Any, hx: Any = None) -> Any:
        weights = [getattr(self, name) for names in self._all_weights for name in names]
        if hx is None:
            layers = self.num_layers * (1 + self.bidirectional)
            alike = dict(dtype=next(self.parameters()).dtype)
            hx = torch.zeros(layers, 1, getattr(self, "proj_size", 0) or self.hidden_size, **alike)
            hx = (hx, torch.zeros(layers, 1, self.hidden_size, **alike)) if self.mode == "LSTM" else hx
        result = getattr(torch, self.mode.lower())(input, hx, weights, self.bias, self.num_layers, self.dropout, False,
                                                   self.bidirectional, self.batch_first)
        return result[0], (result[1], result[2]) if self.mode == "LSTM" else result[1]

    def cell(self: Any, input: Any, hx: Any = None) -> Any:
        mode = {nn.GRUCell: "gru", nn.LSTMCell: "lstm"}.get(kind_of(self)) or "rnn_" + self.nonlinearity
        if hx is None:
            hx = torch.zeros(1, self.hidden_size, dtype=self.weight_ih.dtype)
            hx = (hx, hx) if mode == "lstm" else hx
        result = getattr(torch, mode + "_cell")(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return (result[0], result[1]) if mode == "lstm" else result

    def kind_of(module: Any) -> type:
        return next(kind for kind in type(module).__mro__ if kind in plain)

    def batch_norm(self: Any, input: Any) -> Any:
        return F.batch_norm(input, self.running_mean, self.running_var, self.weight, self.bias,
                            self.running_mean is None, 0.0, self.eps)

    def instance_norm(self: Any, input: Any) -> Any:
        return F.instance_norm(input, self.running_mean, self.running_var, self.weight, self.bias,
                               not self.track_running_stats, 0.0, self.eps)

    def softmax_of_channels(self: Any, input: Any) -> Any:
        return F.softmax(input, -3)

    plain: dict[type, Callable[..., Any]] = {
        nn.MultiheadAttention: attention, nn.TransformerEncoderLayer: encoder_layer, nn.TransformerEncoder: encoder,
        nn.RNN: recurrent, nn.GRU: recurrent, nn.LSTM: recurrent, nn.RNNCell: cell, nn.GRUCell: cell, nn.LSTMCell: cell,
        nn.Softmax2d: softmax_of_channels}
    plain.update((getattr(nn, f"BatchNorm{rank}d"), batch_norm) for rank in (1, 2, 3))
    plain.update((getattr(nn, f"InstanceNorm{rank}d"), instance_norm) for rank in (1, 2))
    return plain


def make_plain(torch: Any, module: Any) -> Any:
    """Give the parts of a module forwards that can be traced, where their own cannot; the module is changed."""
    plain = _plain(torch)
    for part in module.modules():
        kind = next((kind for kind in type(part).__mro__ if kind in plain), None)
        if kind is not None and type(part).forward is getattr(kind, "forward") and "forward" not in vars(part):
            part.forward = types.MethodType(plain[kind], part)
    return module

# SPDX-License-Identifier: MIT
"""PyTorch's operations on images and sequences: convolutions, pools, padding, resizing and norms.

An image is (C, H, W) and a sequence (C, L). PyTorch has an axis of states before these; a graph about one state has
an axis of one element there, or none.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Optional, Sequence

import numpy as np

from . import _formula as sal
from . import _formula_numpy as elements
from ._formula import Expr
from ._torch_operations import OPERATIONS, CannotTurn, Tensor, axes_of, axis_of, mixes, root, turns

Sizes = Sequence[int]


def _each(value: Any, n: int) -> list[int]:
    """One number for each of n axes, of a number or a sequence."""
    values = [value] if isinstance(value, (int, np.integer)) else list(value)
    return [int(v) for v in (values * n if len(values) == 1 else values)]


def _of_states(name: str, spatial: int) -> Callable[[Callable[..., Expr]], Callable[..., Tensor]]:
    """Make a function of one image, with `spatial` axes after its channels, one of tensors with states or without."""

    def wrapped(function: Callable[..., Expr]) -> Callable[..., Tensor]:
        def turned(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
            e, states = input.expr, input.ndim - spatial - 1
            if states not in (0, 1) or (input.batched and states == 0):
                raise CannotTurn(f"{name} of the shape {input.shape}; expected the states, channels and {spatial} axes")
            if states == 0 or input.batched:
                return input.like(function(e, *args, **kwargs))
            if e.shape[0] != 1:
                raise CannotTurn(f"{name} of several images of one state")
            result = function(sal.reshape(e, e.shape[1:]), *args, **kwargs)
            return input.like(sal.reshape(result, (1,) + result.shape))

        turned.__name__ = name
        return turned

    return wrapped


def _as_images(e: Expr) -> Expr:
    """A sequence as an image of one row."""
    return sal.reshape(e, (e.shape[0], 1, e.shape[1]))


def _sequence(image: Expr) -> Expr:
    return sal.reshape(image, (image.shape[0], image.shape[2]))


def _cut_or_extended(e: Expr, axis: int, before: int, after: int, value: float = 0) -> Expr:
    """An expression with more elements, or fewer, at the ends of an axis."""
    n = e.shape[axis]
    e = e[(slice(None),) * axis + (slice(max(0, -before), n - max(0, -after)),)]
    return _extended(e, axis, max(0, before), max(0, after), value)


def _extended(e: Expr, axis: int, before: int, after: int, value: float = 0) -> Expr:
    frames = [np.full(e.shape[:axis] + (n,) + e.shape[axis + 1:], float(value)) for n in (before, after)]
    return e if before == after == 0 else sal.concatenate([frames[0], e, frames[1]], axis)


def _spread(e: Expr, axis: int, step: int) -> Expr:
    """The elements of an axis `step` apart, with zeros between them."""
    if step == 1 or e.shape[axis] == 1:
        return e
    n, rows = e.shape[axis], math.prod(e.shape[:axis + 1])
    columns = e.size // rows
    apart = sal.concatenate([sal.reshape(e, (rows, 1, columns)), np.zeros((rows, step - 1, columns))], 1)
    apart = sal.reshape(apart, (rows // n, n * step, columns))[:, :(n - 1) * step + 1]
    return sal.reshape(apart, e.shape[:axis] + ((n - 1) * step + 1,) + e.shape[axis + 1:])


# ---- padding

_MODES: dict[str, Any] = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@turns("pad", "constant_pad_nd")
def _pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: Optional[float] = None) -> Tensor:
    if mode != "constant" and mode not in _MODES:
        raise CannotTurn(f"padding with mode={mode!r}")
    e = input.expr
    for k in range(len(pad) // 2):
        before, after = int(pad[2 * k]), int(pad[2 * k + 1])
        if before == after == 0:
            continue
        axis = axis_of(input, -1 - k, "pad")
        if mode == "constant":
            e = _cut_or_extended(e, axis, before, after, value or 0)
        else:
            places = np.pad(np.arange(e.shape[axis]), (before, after), _MODES[mode])
            e = e.take(places, axis)
    return input.like(e)


def _pad_by(mode: str) -> Callable[..., Tensor]:
    return lambda input, pad: _pad(input, pad, mode)


for _rank in (1, 2):
    OPERATIONS[f"reflection_pad{_rank}d"] = _pad_by("reflect")
    OPERATIONS[f"replication_pad{_rank}d"] = _pad_by("replicate")


# ---- convolutions


def _sides(padding: Any, kernel: Sizes, dilation: Sizes, stride: Sizes) -> list[tuple[int, int]]:
    """The numbers of zeros before and after each axis."""
    if not isinstance(padding, str):
        return [(n, n) for n in _each(padding, len(kernel))]
    if padding == "valid":
        return [(0, 0)] * len(kernel)
    if set(stride) != {1}:
        raise CannotTurn("padding='same' with a stride")
    whole = [d * (k - 1) for k, d in zip(kernel, dilation)]
    return [(n // 2, n - n // 2) for n in whole]


def _convolved(x: Expr, weight: Expr, bias: Optional[Expr], stride: Sizes, sides: Sequence[tuple[int, int]],
               dilation: Sizes, groups: int) -> Expr:
    """A convolution of an image by what the library has: equal strides and margins, no dilation, one group."""
    margin = sides[0][0] if len({n for pair in sides for n in pair}) == 1 else 0
    if margin == 0:
        for axis, (before, after) in enumerate(sides):
            x = _cut_or_extended(x, axis + 1, before, after)
    for axis, step in enumerate(dilation):
        weight = _spread(weight, axis + 2, step)
    common = math.gcd(*stride)
    per, into = x.shape[0] // groups, weight.shape[0] // groups
    parts = [sal.conv2d(x if groups == 1 else x[k * per:(k + 1) * per],
                        weight if groups == 1 else weight[k * into:(k + 1) * into], None, common, margin)
             for k in range(groups)] if groups > 1 or bias is None else [
                 sal.conv2d(x, weight, bias, common, margin)]
    result = parts[0] if groups == 1 else sal.concatenate(parts, 0)
    if groups > 1 and bias is not None:
        result = result + sal.reshape(bias, (-1, 1, 1))
    return result[:, ::stride[0] // common, ::stride[1] // common]


def _transposed(x: Expr, weight: Expr, bias: Optional[Expr], stride: Sizes, padding: Sizes, more: Sizes,
                groups: int, dilation: Sizes) -> Expr:
    """A transposed convolution: that of the image with zeros between its pixels by the turned kernel."""
    channels, into = weight.shape[:2]
    turned = elements.flip(weight, (2, 3))
    per = channels // groups
    turned = sal.concatenate([sal.transpose(turned[k * per:(k + 1) * per], (1, 0, 2, 3)) for k in range(groups)], 0) \
        if groups > 1 else sal.transpose(turned, (1, 0, 2, 3))
    sides = []
    for axis in (0, 1):
        x = _spread(x, axis + 1, stride[axis])
        margin = dilation[axis] * (weight.shape[axis + 2] - 1) - padding[axis]
        sides.append((margin, margin + more[axis]))
    return _convolved(x, turned, bias, (1, 1), sides, dilation, groups)


def _weights(what: str, weight: Tensor, bias: Optional[Tensor], spatial: int) -> tuple[Expr, Optional[Expr]]:
    """The kernel with two spatial axes, and the bias."""
    if weight.batched or (bias is not None and bias.batched):
        raise CannotTurn(f"{what} by a kernel that depends on the state")
    w = weight.expr
    return (w if spatial == 2 else sal.reshape(w, w.shape[:2] + (1,) + w.shape[2:])), None if bias is None else bias.expr


def _with_row(spatial: int, row: Any, *given: Any) -> list[list[Any]]:
    """Settings of the axes of an image, of those of an image or of a sequence."""
    return [([row] if spatial == 1 else []) + list(values) for values in given]


def _conv(spatial: int) -> Callable[..., Expr]:
    def conv(x: Expr, weight: Tensor, bias: Optional[Tensor] = None, stride: Any = 1, padding: Any = 0,
             dilation: Any = 1, groups: int = 1) -> Expr:
        steps, spread = _each(stride, spatial), _each(dilation, spatial)
        sides = _sides(padding, weight.expr.shape[2:], spread, steps)
        w, b = _weights("a convolution", weight, bias, spatial)
        steps, spread = _with_row(spatial, 1, steps, spread)
        sides, = _with_row(spatial, (0, 0), sides)
        if spatial == 2:
            return _convolved(x, w, b, steps, sides, spread, groups)
        steps[0] = steps[1]  # of the only row
        return _sequence(_convolved(_as_images(x), w, b, steps, sides, spread, groups))

    return conv


def _conv_transpose(spatial: int) -> Callable[..., Expr]:
    def conv(x: Expr, weight: Tensor, bias: Optional[Tensor] = None, stride: Any = 1, padding: Any = 0,
             output_padding: Any = 0, groups: int = 1, dilation: Any = 1) -> Expr:
        w, b = _weights("a convolution", weight, bias, spatial)
        steps, spread = _with_row(spatial, 1, _each(stride, spatial), _each(dilation, spatial))
        margins, more = _with_row(spatial, 0, _each(padding, spatial), _each(output_padding, spatial))
        if spatial == 2:
            return _transposed(x, w, b, steps, margins, more, groups, spread)
        return _sequence(_transposed(_as_images(x), w, b, steps, margins, more, groups, spread))

    return conv


for _rank in (1, 2):
    OPERATIONS[f"conv{_rank}d"] = _of_states(f"conv{_rank}d", _rank)(_conv(_rank))
    OPERATIONS[f"conv_transpose{_rank}d"] = _of_states(f"conv_transpose{_rank}d", _rank)(_conv_transpose(_rank))


@turns("aten.convolution")
def _convolution(input: Tensor, weight: Tensor, bias: Optional[Tensor], stride: Sizes, padding: Sizes, dilation: Sizes,
                 transposed: bool, output_padding: Sizes, groups: int) -> Tensor:
    rank = weight.expr.ndim - 2
    if rank not in (1, 2):
        raise CannotTurn(f"a convolution over {rank} axes")
    if transposed:
        return OPERATIONS[f"conv_transpose{rank}d"](input, weight, bias, stride, padding, output_padding, groups, dilation)
    return OPERATIONS[f"conv{rank}d"](input, weight, bias, stride, padding, dilation, groups)


def _unfold(x: Expr, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Expr:
    kernel, spread, margin, step = (_each(value, 2) for value in (kernel_size, dilation, padding, stride))
    for axis in (0, 1):
        x = _extended(x, axis + 1, margin[axis], margin[axis])
    places = np.arange(x.size).reshape(x.shape)
    for axis in (0, 1):  # (C, h, H', ..), then (C, h, H', w, W')
        n = (x.shape[axis + 1] - spread[axis] * (kernel[axis] - 1) - 1) // step[axis] + 1
        places = places.take(spread[axis] * np.arange(kernel[axis])[:, None] + step[axis] * np.arange(n), 1 + 2 * axis)
    places = places.transpose(0, 1, 3, 2, 4).reshape(x.shape[0] * kernel[0] * kernel[1], -1)
    return sal.reshape(x.ravel().take(places.ravel(), 0), places.shape)


OPERATIONS["unfold"] = OPERATIONS["im2col"] = _of_states("unfold", 2)(_unfold)


# ---- pools


def _windows(n: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> list[list[int]]:
    """The places of each window along an axis, also those in the margins."""
    room = n + 2 * padding - dilation * (kernel - 1) - 1
    count = (-(-room // stride) if ceil_mode else room // stride) + 1
    if ceil_mode and (count - 1) * stride >= n + padding:  # PyTorch has no window that starts in the margin at the end
        count -= 1
    if count < 1 or padding > kernel // 2:
        raise CannotTurn(f"windows of {kernel} and padding={padding} along an axis of {n}")
    return [[k * stride - padding + dilation * j for j in range(kernel)] for k in range(count)]


def _adaptive(n: int, count: Optional[int]) -> list[list[int]]:
    """The places of each of `count` windows that cover an axis."""
    count = n if count is None else count
    return [list(range(k * n // count, -(-(k + 1) * n // count))) for k in range(count)]


def _maxima(x: Expr, windows: Sequence[list[list[int]]]) -> Expr:
    """Maxima over windows, axis by axis. Short windows repeat a place, which changes no maximum."""
    for axis, own in enumerate(windows):
        n, longest = x.shape[axis + 1], max(map(len, own))
        inside = [[p for p in places if 0 <= p < n] for places in own]
        places = np.array([(p + [p[-1]] * longest)[:longest] for p in inside])
        x = sal.max(x.take(places, axis + 1), axis + 2)
    return x


def _sums(x: Expr, windows: Sequence[list[list[int]]], divisors: Sequence[np.ndarray]) -> Expr:
    """Sums over windows, each along an axis divided by its number, as products with matrices."""
    for axis, (own, divisor) in enumerate(zip(windows, divisors)):
        n = x.shape[axis + 1]
        matrix = np.zeros((len(own), n))
        for k, places in enumerate(own):
            for p in places:
                if 0 <= p < n:
                    matrix[k, p] += 1 / divisor[k]
        x = _along(x, matrix, axis + 1)
    return x


def _along(x: Expr, matrix: np.ndarray, axis: int) -> Expr:
    """The product of a matrix and an axis."""
    order = [k for k in range(x.ndim) if k != axis]
    others = tuple(x.shape[k] for k in order)
    rows = sal.reshape(sal.transpose(x, order + [axis]), (-1, x.shape[axis]))
    result = sal.reshape(sal.matmul(rows, np.ascontiguousarray(matrix.T)), others + matrix.shape[:1])
    return sal.transpose(result, list(np.argsort(order + [axis])))


def _counts(windows: list[list[int]], low: int, high: int) -> np.ndarray:
    """How many places of each window are in low .. high - 1."""
    return np.array([sum(low <= p < high for p in places) for places in windows], dtype=np.float64)


def _settings(spatial: int, kernel_size: Any, stride: Any, padding: Any) -> tuple[list[int], list[int], list[int]]:
    kernel = _each(kernel_size, spatial)
    no_stride = stride is None or (isinstance(stride, (list, tuple)) and not stride)
    return kernel, kernel if no_stride else _each(stride, spatial), _each(padding, spatial)


def _max_pool(spatial: int) -> Callable[..., Expr]:
    def pool(x: Expr, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
             ceil_mode: bool = False, return_indices: bool = False) -> Expr:
        if return_indices:
            raise CannotTurn("return_indices=True")
        kernel, step, margin = _settings(spatial, kernel_size, stride, padding)
        spread = _each(dilation, spatial)
        if spatial == 2 and set(margin) == {0} and set(spread) == {1} and not ceil_mode \
                and len(set(kernel)) == len(set(step)) == 1:
            return sal.max_pool2d(x, kernel[0], step[0])
        return _maxima(x, [_windows(x.shape[k + 1], kernel[k], step[k], margin[k], spread[k], ceil_mode)
                           for k in range(spatial)])

    return pool


def _avg_pool(spatial: int) -> Callable[..., Expr]:
    def pool(x: Expr, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
             count_include_pad: bool = True, divisor_override: Optional[int] = None) -> Expr:
        kernel, step, margin = _settings(spatial, kernel_size, stride, padding)
        if spatial == 2 and set(margin) == {0} and not ceil_mode and divisor_override is None \
                and len(set(kernel)) == len(set(step)) == 1:
            return sal.avg_pool2d(x, kernel[0], step[0])
        windows = [_windows(x.shape[k + 1], kernel[k], step[k], margin[k], 1, ceil_mode) for k in range(spatial)]
        if divisor_override is not None:
            divisors = [np.full(len(own), divisor_override if k == 0 else 1.0) for k, own in enumerate(windows)]
        else:
            divisors = [_counts(own, -m, x.shape[k + 1] + m) if count_include_pad else _counts(own, 0, x.shape[k + 1])
                        for k, (own, m) in enumerate(zip(windows, margin))]
        return _sums(x, windows, divisors)

    return pool


def _adaptive_windows(spatial: int, x: Expr, output_size: Any) -> list[list[list[int]]]:
    sizes = [output_size] * spatial if output_size is None or isinstance(output_size, int) else list(output_size)
    return [_adaptive(n, size) for n, size in zip(x.shape[1:], sizes * (spatial if len(sizes) == 1 else 1))]


def _adaptive_avg_pool(spatial: int) -> Callable[..., Expr]:
    def pool(x: Expr, output_size: Any) -> Expr:
        windows = _adaptive_windows(spatial, x, output_size)
        if all(len(own) == 1 for own in windows):
            return sal.mean(x, tuple(range(1, spatial + 1)), True)
        lengths = {len(places) for own in windows for places in own}
        if spatial == 2 and len(lengths) == 1 and all(n % len(own) == 0 for n, own in zip(x.shape[1:], windows)):
            return sal.avg_pool2d(x, lengths.pop())
        return _sums(x, windows, [np.array([len(places) for places in own], dtype=np.float64) for own in windows])

    return pool


def _adaptive_max_pool(spatial: int) -> Callable[..., Expr]:
    def pool(x: Expr, output_size: Any, return_indices: bool = False) -> Expr:
        if return_indices:
            raise CannotTurn("return_indices=True")
        return _maxima(x, _adaptive_windows(spatial, x, output_size))

    return pool


def _lp_pool(spatial: int) -> Callable[..., Expr]:
    def pool(x: Expr, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Expr:
        kernel, step, margin = _settings(spatial, kernel_size, stride, 0)
        windows = [_windows(x.shape[k + 1], kernel[k], step[k], 0, 1, ceil_mode) for k in range(spatial)]
        if ceil_mode:
            raise CannotTurn("ceil_mode=True")
        sums = _sums(x ** norm_type, windows, [np.ones(len(own)) for own in windows])
        return sal.relu(sums) ** (1 / norm_type)

    return pool


for _rank in (1, 2):
    for _name, _make in (("max_pool", _max_pool), ("avg_pool", _avg_pool), ("adaptive_avg_pool", _adaptive_avg_pool),
                         ("adaptive_max_pool", _adaptive_max_pool), ("lp_pool", _lp_pool)):
        OPERATIONS[f"{_name}{_rank}d"] = _of_states(f"{_name}{_rank}d", _rank)(_make(_rank))


def _with_indices(name: str) -> Callable[..., tuple[Tensor, None]]:
    """An operation whose graph also has the places of the maxima, which nothing may use."""
    return lambda *args: (OPERATIONS[name](*args), None)


for _rank in (1, 2):
    for _name in ("max_pool", "adaptive_max_pool"):
        own = _with_indices(f"{_name}{_rank}d")
        OPERATIONS[f"{_name}{_rank}d_with_indices"] = own
    OPERATIONS[f"aten.adaptive_max_pool{_rank}d"] = _with_indices(f"adaptive_max_pool{_rank}d")


# ---- other sizes


def _resizing(n: int, size: int, mode: str, align_corners: Optional[bool], scale: Optional[float]) -> np.ndarray:
    """The matrix that makes an axis of n elements one of another size."""
    ratio = 1 / scale if scale is not None else n / size
    matrix = np.zeros((size, n))
    for k in range(size):
        if mode == "nearest":
            matrix[k, min(int(k * ratio), n - 1)] = 1
            continue
        at = (k * (n - 1) / (size - 1) if size > 1 else 0.0) if align_corners else max((k + 0.5) * ratio - 0.5, 0)
        low = min(int(at), n - 1)
        high = min(low + 1, n - 1)
        matrix[k, low] += 1 - (at - low)
        matrix[k, high] += at - low
    return matrix


@turns("interpolate")
def _interpolate(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
                 align_corners: Optional[bool] = None, recompute_scale_factor: Optional[bool] = None,
                 antialias: bool = False) -> Tensor:
    spatial = input.ndim - 2
    if mode not in ("nearest", "linear", "bilinear") or antialias or spatial not in (1, 2):
        raise CannotTurn(f"interpolate with mode={mode!r}, antialias={antialias} of the shape {input.shape}")

    def resized(x: Expr) -> Expr:
        scales: list[Optional[float]] = [None] * spatial
        if size is None:
            scales = [float(s) for s in ([scale_factor] * spatial if np.ndim(scale_factor) == 0 else scale_factor)]
        sizes = [math.floor(n * s) for n, s in zip(x.shape[1:], scales) if s is not None] or _each(size, spatial)
        for axis, n in enumerate(sizes):
            own = None if recompute_scale_factor else scales[axis]
            x = _along(x, _resizing(x.shape[axis + 1], n, mode, align_corners, own), axis + 1)
        return x

    return _of_states("interpolate", spatial)(resized)(input)


def _resized_by(mode: str, corners: bool) -> Callable[..., Tensor]:
    def turned(input: Tensor, output_size: Any, *more: Any) -> Tensor:
        scales = more[-1] if more and isinstance(more[-1], (list, tuple)) else None
        return _interpolate(input, output_size, None if output_size is not None else scales, mode,
                            more[0] if corners else None)

    return turned


for _name, _mode, _corners in (("nearest1d", "nearest", False), ("nearest2d", "nearest", False),
                               ("linear1d", "linear", True), ("bilinear2d", "linear", True)):
    OPERATIONS[f"upsample_{_name}"] = _resized_by(_mode, _corners)


def _pixel_shuffle(x: Expr, upscale_factor: int) -> Expr:
    r, (channels, height, width) = upscale_factor, x.shape
    places = np.arange(x.size).reshape(channels // r ** 2, r, r, height, width).transpose(0, 3, 1, 4, 2)
    return sal.reshape(x.ravel().take(places.ravel(), 0), (channels // r ** 2, height * r, width * r))


def _pixel_unshuffle(x: Expr, downscale_factor: int) -> Expr:
    r, (channels, height, width) = downscale_factor, x.shape
    places = np.arange(x.size).reshape(channels, height // r, r, width // r, r).transpose(0, 2, 4, 1, 3)
    return sal.reshape(x.ravel().take(places.ravel(), 0), (channels * r ** 2, height // r, width // r))


OPERATIONS.update(pixel_shuffle=_of_states("pixel_shuffle", 2)(_pixel_shuffle),
                  pixel_unshuffle=_of_states("pixel_unshuffle", 2)(_pixel_unshuffle))


# ---- norms


def _channels(input: Tensor, what: str) -> tuple[int, tuple[int, ...]]:
    """The axis of the channels, and the shape of what differs from channel to channel."""
    axis = axis_of(input, 1, what)
    return axis, (-1,) + (1,) * (input.expr.ndim - axis - 1)


def _scaled(result: Expr, weight: Optional[Tensor], bias: Optional[Tensor], shape: Optional[tuple[int, ...]] = None) -> Expr:
    for part, combined in ((weight, lambda a, b: a * b), (bias, lambda a, b: a + b)):
        if part is not None:
            result = combined(result, part.expr if shape is None else sal.reshape(part.expr, shape))
    return result


@turns("batch_norm")
def batch_norm(input: Tensor, running_mean: Optional[Tensor], running_var: Optional[Tensor],
               weight: Optional[Tensor] = None, bias: Optional[Tensor] = None, training: bool = False,
               momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """Normalisation by stored statistics."""
    if training or running_mean is None or running_var is None or running_var.array is None:
        raise mixes("batch normalisation by the statistics of the batch")
    shape = _channels(input, "batch_norm")[1]
    factor = 1 / np.sqrt(running_var.array.astype(np.float64) + eps)
    result = (input.expr - sal.reshape(running_mean.expr, shape)) * factor.reshape(shape)
    return input.like(_scaled(result, weight, bias, shape))


@turns("aten.batch_norm")
def _aten_batch_norm(input: Tensor, weight: Optional[Tensor], bias: Optional[Tensor], running_mean: Optional[Tensor],
                     running_var: Optional[Tensor], training: bool, momentum: float, eps: float, *_: Any) -> Tensor:
    return batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


@turns("aten._native_batch_norm_legit_no_training")
def _native_batch_norm(input: Tensor, weight: Optional[Tensor], bias: Optional[Tensor], running_mean: Tensor,
                       running_var: Tensor, momentum: float, eps: float) -> tuple[Optional[Tensor], ...]:
    return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps), None, None


@turns("instance_norm")
def _instance_norm(input: Tensor, running_mean: Optional[Tensor] = None, running_var: Optional[Tensor] = None,
                   weight: Optional[Tensor] = None, bias: Optional[Tensor] = None, use_input_stats: bool = True,
                   momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    axis, shape = _channels(input, "instance_norm")
    if axis + 1 >= input.expr.ndim:
        raise CannotTurn(f"instance_norm of the shape {input.shape}")
    e = _standardised(input.expr, tuple(range(axis + 1, input.expr.ndim)), eps)
    return input.like(_scaled(e, weight, bias, shape))


@turns("aten.instance_norm")
def _aten_instance_norm(input: Tensor, weight: Optional[Tensor], bias: Optional[Tensor], running_mean: Optional[Tensor],
                        running_var: Optional[Tensor], *rest: Any) -> Tensor:
    return _instance_norm(input, running_mean, running_var, weight, bias, *rest[:3])


def _standardised(e: Expr, axes: tuple[int, ...], eps: float) -> Expr:
    centred = e - sal.mean(e, axes, True)
    return centred / sal.sqrt(sal.mean(sal.square(centred), axes, True) + eps)


def _last_axes(input: Tensor, shape: Sequence[int], what: str) -> tuple[int, ...]:
    return tuple(axis_of(input, -1 - k, what) for k in range(len(shape)))


@turns("layer_norm")
def _layer_norm(input: Tensor, normalized_shape: Sequence[int], weight: Optional[Tensor] = None,
                bias: Optional[Tensor] = None, eps: float = 1e-5, *_: Any) -> Tensor:
    axes = _last_axes(input, normalized_shape, "layer_norm")
    return input.like(_scaled(_standardised(input.expr, axes, eps), weight, bias))


@turns("aten.native_layer_norm")
def _native_layer_norm(*args: Any) -> tuple[Optional[Tensor], ...]:
    return _layer_norm(*args), None, None


@turns("rms_norm")
def _rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Optional[Tensor] = None,
              eps: Optional[float] = None) -> Tensor:
    axes = _last_axes(input, normalized_shape, "rms_norm")
    eps = float(np.finfo(np.float64).eps) if eps is None else eps  # of the type that the formula computes in
    return input.like(_scaled(input.expr / sal.sqrt(sal.mean(sal.square(input.expr), axes, True) + eps), weight, None))


@turns("group_norm")
def _group_norm(input: Tensor, num_groups: int, weight: Optional[Tensor] = None, bias: Optional[Tensor] = None,
                eps: float = 1e-5, *_: Any) -> Tensor:
    axis, shape = _channels(input, "group_norm")
    if axis == 1 and input.expr.shape[0] != 1:
        raise CannotTurn(f"group_norm of the shape {input.shape}")
    groups = _standardised(sal.reshape(input.expr, (num_groups, -1)), (1,), eps)
    return input.like(_scaled(sal.reshape(groups, input.expr.shape), weight, bias, shape))


@turns("local_response_norm")
def _local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    axis = _channels(input, "local_response_norm")[0]
    n = input.expr.shape[axis]
    band = np.array([[float(-(size // 2) <= j - i <= (size - 1) // 2) for j in range(n)] for i in range(n)])
    means = _along(sal.square(input.expr), band / size, axis)
    return input.like(input.expr / (k + alpha * means) ** beta)


@turns("_weight_norm")
def _weight_norm(v: Tensor, g: Tensor, dim: int = 0) -> Tensor:
    axes = tuple(k for k in range(v.expr.ndim) if k != dim)
    return v.like(v.expr * (g.expr / sal.sqrt(sal.sum(sal.square(v.expr), axes, True))))


@turns("normalize")
def _normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: None = None) -> Tensor:
    norm = OPERATIONS["linalg_vector_norm"](input, p, dim, True)
    return input.like(input.expr / sal.maximum(norm.expr, eps))


@turns("cosine_similarity")
def _cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    units = [x.like(x.expr / sal.maximum(OPERATIONS["linalg_vector_norm"](x, 2, dim, True).expr, eps)) for x in (x1, x2)]
    return OPERATIONS["sum"](OPERATIONS["mul"](*units), dim)


@turns("pairwise_distance")
def _pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    difference = OPERATIONS["sub"](x1, x2)
    return OPERATIONS["linalg_vector_norm"](difference.like(difference.expr + eps), p, -1, keepdim)


@turns("linalg_vector_norm")
def _vector_norm(input: Tensor, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    axes = axes_of(input, dim, "norm")
    e = input.expr
    if ord == 2:
        return input.like(root(sal.sum(sal.square(e), axes, keepdim)))
    if ord in (math.inf, -math.inf):
        e = sal.abs_(e)
        return input.like(sal.max(e, axes, keepdim) if ord > 0 else sal.min(e, axes, keepdim))
    if ord == 1:
        return input.like(sal.sum(sal.abs_(e), axes, keepdim))
    if ord <= 0:
        raise CannotTurn(f"a norm of order {ord}")
    return input.like(sal.sum(sal.abs_(e) ** float(ord), axes, keepdim) ** (1 / float(ord)))


@turns("norm")
def _norm(input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, out: None = None,
          dtype: Any = None) -> Tensor:
    return _vector_norm(input, 2 if p in ("fro", None) else p, dim, keepdim)


@turns("linalg_norm")
def _linalg_norm(input: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    axes = axes_of(input, dim, "norm")
    matrices = (input.ndim if axes is None else len(axes)) == 2
    if ord not in (None, "fro") and matrices or ord == "nuc":
        raise CannotTurn(f"a norm of matrices of order {ord}")
    return _vector_norm(input, 2 if ord in (None, "fro") else ord, dim, keepdim)

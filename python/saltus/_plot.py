# SPDX-License-Identifier: MIT
"""Pictures of runs, by matplotlib."""

from __future__ import annotations

import math
from typing import Any, Callable, Optional

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from matplotlib.ticker import MaxNLocator

from ._library import ArgumentError
from ._model import Block

# Okabe & Ito (2008), colours that all readers can tell apart; without yellow, which is too light for lines.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_STYLES = ("-", "--", ":", "-.")
_GREY = "#767676"
_MOST_CHAINS = len(_COLOURS)  # in panels that have a line or a row for each chain
_MOST_POINTS = 4000  # of a trace
_BINS = 20  # of ranks
_COLUMNS, _ROWS = 10, 4  # of a sheet of pictures

_Panel = Callable[[Any, NDArray[Any], str, int], None]


def _chains(values: NDArray[Any]) -> tuple[NDArray[Any], str]:
    """The chains that are shown, and a remark if these are not all."""
    shown = values[:_MOST_CHAINS]
    return shown, "" if len(shown) == len(values) else f" ({len(shown)} of {len(values)} chains)"


def _trace(axes: Any, values: NDArray[Any], label: str, thin: int) -> None:
    shown, remark = _chains(values)
    stride = -(-values.shape[1] // _MOST_POINTS)
    at = np.arange(0, values.shape[1], stride)
    for chain, row in enumerate(shown):
        axes.plot(at, row[::stride], color=_COLOURS[chain], linewidth=0.7, alpha=0.8, label=str(chain),
                  marker="." if len(at) < 30 else None)
    axes.set(title=f"trace{remark}", xlabel="draw" + (f" (every {thin} steps)" if thin > 1 else ""), ylabel=label)
    axes.margins(x=0.01)
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))


def _ranks(axes: Any, values: NDArray[Any], label: str, _thin: int) -> None:
    if np.ptp(values) == 0:
        _say_constant(axes)
    # Ties are broken at random, as the ranks of discrete values would else pile up.
    order = np.lexsort((np.random.default_rng(0).random(values.size), values.reshape(-1)))
    ranks = np.empty(values.size)
    ranks[order] = np.arange(values.size)
    shown, remark = _chains(ranks.reshape(values.shape))
    bins = max(1, min(_BINS, values.shape[1] // 5))
    edges = np.linspace(0, values.size, bins + 1)
    for chain, row in enumerate(shown):
        height = np.histogram(row, edges)[0] * bins / len(row)  # 1 where chains agree
        axes.bar(edges[:-1], 0.4 * np.minimum(height, 2.2), width=np.diff(edges), align="edge", bottom=chain,
                 color=_COLOURS[chain], edgecolor="white", linewidth=0.5)
        axes.plot(edges[[0, -1]], [chain + 0.4] * 2, color="black", linewidth=0.8, linestyle=(0, (4, 2)))
    axes.set(title=f"ranks of {label.split(' (')[0]}{remark}", xlabel="rank among all draws", ylabel="chain",
             ylim=(-0.1, len(shown) - 0.05))
    axes.set_yticks([chain + 0.4 for chain in range(len(shown))], range(len(shown)))
    axes.margins(x=0.01)
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))


def _say_constant(axes: Any) -> None:
    """A remark instead of a picture of values that are all the same."""
    axes.text(0.5, 0.6, "no chain varies", transform=axes.transAxes, ha="center", color="black",
              bbox={"color": "white", "alpha": 0.8})


def autocorrelation(row: NDArray[Any]) -> Optional[NDArray[Any]]:
    """The autocorrelation of one chain by lag; None if it does not vary."""
    centred = row - row.mean()
    if not np.isfinite(centred).all() or np.ptp(row) == 0:
        return None
    size = 1 << (2 * len(row) - 1).bit_length()
    covariance = np.fft.irfft(np.abs(np.fft.rfft(centred, size)) ** 2, size)[:len(row)]
    return covariance / covariance[0]


def _autocorrelation(axes: Any, values: NDArray[Any], label: str, thin: int) -> None:
    shown, remark = _chains(values)
    curves = [autocorrelation(row) for row in shown]
    band = 1.96 / math.sqrt(values.shape[1])
    # Twice as far as the slowest chain needs to come within the band.
    inside = [int(np.argmax(curve < band)) or len(curve) for curve in curves if curve is not None]
    last = min(values.shape[1] // 2, max([20] + [2 * n for n in inside]))
    axes.axhspan(-band, band, color="0.88", zorder=0)
    axes.axhline(0, color=_GREY, linewidth=0.6)
    for chain, curve in enumerate(curves):
        if curve is not None:
            axes.plot(curve[:last + 1], color=_COLOURS[chain], linewidth=1.2, linestyle=_STYLES[chain % len(_STYLES)],
                      label=str(chain))
    lowest = min([-0.15] + [float(curve[:last + 1].min()) for curve in curves if curve is not None])
    if not inside:
        _say_constant(axes)
    axes.set(title=f"autocorrelation{remark}", xlabel="lag (draws)", ylabel=f"of {label.split(' (')[0]}",
             xlim=(0, max(last, 1)), ylim=(min(lowest, -band) - 0.03, 1.03))
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))


_PANELS: dict[str, _Panel] = {"trace": _trace, "ranks": _ranks, "autocorrelation": _autocorrelation}
_SIZES = {"trace": 1.35, "ranks": 1.0, "autocorrelation": 1.0}


def _picture_shape(block: Block, shape: Optional[tuple[int, int]]) -> Optional[tuple[int, int]]:
    """Height and width of the pictures that the states of a block are; None if they are no pictures."""
    if shape is not None:
        return shape if math.prod(shape) == block.count else None
    sides = [n for n in block.shape if n > 1]
    return (sides[0], sides[1]) if len(sides) == 2 and min(sides) >= 4 and len(block.shape) <= 4 else None


def _sheet(figure: Any, draws: NDArray[Any], block: Any, size: tuple[int, int]) -> None:
    """Pictures of draws, a row for each of the first chains."""
    chains, n = draws.shape[:2]
    at = np.unique(np.linspace(0, n - 1, min(n, _COLUMNS)).round().astype(int))
    shown = min(chains, _ROWS)
    pictures = draws[:shown, at].reshape((shown, len(at)) + size)
    low, high = (-1, 1) if block.kind == "spin" else (0, 1) if block.kind == "binary" else (
        float(draws.min()), float(draws.max()))
    colours: Any = "viridis"
    if block.states == 2:
        colours = "gray"
    elif draws.dtype.kind != "f" and high - low < 12:  # a colour for each value
        low, high = low - 0.5, high + 0.5
        colours = plt.get_cmap("viridis", int(high - low))
    axes = figure.subplots(shown, len(at), squeeze=False)
    for chain in range(shown):
        for k, draw in enumerate(at):
            one = axes[chain, k]
            image = one.imshow(pictures[chain, k], cmap=colours, vmin=low, vmax=high, interpolation="nearest")
            one.set(xticks=[], yticks=[])
            for side in one.spines.values():
                side.set(color=_GREY, linewidth=0.5)
            if chain == 0:
                one.set_title(f"{'draw ' if k == 0 else ''}{draw}", fontsize=8)
        axes[chain, 0].set_ylabel(f"chain {chain}", fontsize=8)
    figure.suptitle(f"draws of {block.name}" + (f" ({shown} of {chains} chains)" if shown < chains else ""), fontsize=10)
    if block.states == 2:
        names = ("−1", "1") if block.kind == "spin" else ("0", "1")
        figure.supxlabel(f"black {names[0]}, white {names[1]}", fontsize=8)
    else:
        bar = figure.colorbar(image, ax=axes, shrink=0.8, pad=0.01, label="label" if block.kind == "categorical" else "value")
        bar.locator = MaxNLocator(6, integer=draws.dtype.kind != "f")
        bar.update_ticks()


def _series(run: Any, blocks: list[Block], every: bool) -> list[tuple[str, NDArray[Any]]]:
    """What traces and so on are of: f, and the means of blocks."""
    found = [("f (nats)", np.asarray(run.log_prob))] if every else []
    if run.draws is None:
        return found
    for block in blocks[:3]:
        if block.kind == "categorical":
            values = (run[block.name] == 0).mean(axis=tuple(range(2, 2 + len(block.shape))))
            found.append((f"share of label 0 in {block.name}", values))
        else:
            found.append((f"mean of {block.name}", run[block.name].mean(axis=tuple(range(2, 2 + len(block.shape))))))
    return found


def _blocks(run: Any, name: Optional[str]) -> list[Block]:
    blocks = [block for block in run.model.blocks if name in (None, block.name)]
    if not blocks:
        raise ArgumentError(f"plot: there is no block {name!r}; there are: {', '.join(run.keys())}")
    return blocks


def _sheets(run: Any, blocks: list[Block], shape: Optional[tuple[int, int]], kind: Optional[str]) -> list[Any]:
    """The blocks whose draws are shown as pictures, with height and width."""
    if kind not in (None, "pictures"):
        return []
    found = [(block, size) for block, size in ((block, _picture_shape(block, shape)) for block in blocks) if size]
    if not found and (kind == "pictures" or shape is not None):
        raise ArgumentError("plot: no block is a picture: give shape=(height, width), whose product is the number of "
                            f"variables; the blocks are {blocks}")
    if run.draws is None:
        if kind == "pictures":
            raise ArgumentError("plot: the run did not keep its draws; give keep=True")
        return []
    return found[:2]


def plot(run: Any, kind: Optional[str], block: Optional[str], shape: Optional[tuple[int, int]]) -> Any:
    """See :meth:`Run.plot`."""
    if kind is not None and kind != "pictures" and kind not in _PANELS:
        raise ArgumentError(f"plot: kind {kind!r}; expected {', '.join(map(repr, _PANELS))} or 'pictures'")
    if run.log_prob.shape[1] == 0:
        raise ArgumentError("plot: the run has no draws")
    blocks = _blocks(run, block)
    sheets = _sheets(run, blocks, shape, kind)
    series = [] if kind == "pictures" else _series(run, blocks, block is None)
    if not series and not sheets:
        raise ArgumentError("plot: the run did not keep its draws; give keep=True")
    kinds = list(_PANELS) if kind is None else [] if kind == "pictures" else [kind]
    heights = [2.5 * len(series) + 0.3] * bool(series)
    for _, (height, width) in sheets:
        rows = min(len(run.log_prob), _ROWS)
        heights.append(min(8.0, 0.7 + rows * (0.15 + 0.95 * height / width)))
    figure = plt.figure(figsize=(10.5 if kind != "trace" else 8, sum(heights) + 0.7), layout="constrained")
    if "inline" in plt.get_backend().lower():
        plt.close(figure)  # which would else be shown twice in a notebook: by the cell's value, and at its end
    parts = figure.subfigures(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    if series:
        grid = parts[0].subplots(len(series), len(kinds), squeeze=False, width_ratios=[_SIZES[k] for k in kinds])
        for row, (label, values) in zip(grid, series):
            for axes, one in zip(row, kinds):
                _PANELS[one](axes, values, label, run.summary.get("thin") or 1)
                axes.spines[["top", "right"]].set_visible(False)
                axes.title.set_fontsize(10)
        if len(run.log_prob) > 1 and kinds != ["ranks"]:
            lines, names = grid[0, 0].get_legend_handles_labels()
            grid[0, -1].legend(lines, names, title="chain", loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False,
                               fontsize=8, title_fontsize=8)
            for line in grid[0, -1].get_legend().get_lines():
                line.set(linewidth=2, linestyle="-", alpha=1, marker="")
    for part, (sheet, size) in zip(parts[bool(series):], sheets):
        _sheet(part, run[sheet.name], sheet, size)
    summary = run.summary
    doubt = bool(summary["warnings"])
    figure.suptitle(f"{summary.get('model') or 'a formula'} by {summary['sampler']}\n{_heading(summary)}", fontsize=10,
                    color="#A00000" if doubt else "black")
    return figure


def _heading(summary: Any) -> str:
    """The verdict, without the list that it announces."""
    return summary.verdict.rstrip(":") + (" (see run.summary)." if summary["warnings"] else "")

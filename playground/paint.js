// SPDX-License-Identifier: MIT
// Pictures on canvases: cells, and lines over axes. Colours suit colour-blind readers.
import { number } from "./ui.js";

// Okabe and Ito's, for labels and series.
export const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#9a8c1c", "#777777"];

export const dashes = [[], [6, 3], [2, 3], [8, 3, 2, 3]];

// From dark to light through blue and green, evenly for the eye (after viridis).
const stops = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

function ramp(t) {
    const at = Math.min(Math.max(t, 0), 1) * (stops.length - 1), k = Math.min(Math.floor(at), stops.length - 2);
    return stops[k].map((a, i) => Math.round(a + (stops[k + 1][i] - a) * (at - k)));
}

const hex = (c) => [1, 3, 5].map((k) => parseInt(c.slice(k, k + 2), 16));

export function style(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Cells of colours [r, g, b], colour(row, column), row 0 at the top.
export function cells(canvas, rows, columns, colour) {
    const image = new ImageData(columns, rows);
    for (let r = 0, at = 0; r < rows; r++) {
        for (let c = 0; c < columns; c++, at += 4) {
            const [red, green, blue] = colour(r, c);
            image.data[at] = red;
            image.data[at + 1] = green;
            image.data[at + 2] = blue;
            image.data[at + 3] = 255;
        }
    }
    const small = document.createElement("canvas");
    small.width = columns;
    small.height = rows;
    small.getContext("2d").putImageData(image, 0, 0);
    const g = canvas.getContext("2d");
    g.imageSmoothingEnabled = false;
    g.drawImage(small, 0, 0, canvas.width, canvas.height);
    return g;
}

// Values from 0 to 1 on a plane of n x n: value k is at column k mod n, and rows go upwards.
export function plane(canvas, n, values) {
    return cells(canvas, n, n, (r, c) => ramp(values[(n - 1 - r) * n + c]));
}

// Marks the cell (column, row) of a plane.
export function mark(canvas, n, column, row, label = "", colour = "#ffffff") {
    const g = canvas.getContext("2d"), cell = canvas.width / n;
    const x = (column + 0.5) * cell, y = canvas.height - (row + 0.5) * cell;
    g.beginPath();
    g.arc(x, y, Math.max(cell * 0.9, 5), 0, 2 * Math.PI);
    g.lineWidth = 4;
    g.strokeStyle = "#000000";
    g.stroke();
    g.lineWidth = 2;
    g.strokeStyle = colour;
    g.stroke();
    if (label) {
        g.font = "12px system-ui, sans-serif";
        g.fillStyle = colour;
        g.fillText(label, x + cell, y - cell);
    }
}

// States of a square lattice: two colours, or one for each label.
export function lattice(canvas, side, codes, states) {
    const two = [hex(style("--low")), hex(style("--high"))], many = colours.map(hex);
    cells(canvas, side, side, (r, c) => (states === 2 ? two[codes[r * side + c]] : many[codes[r * side + c] % many.length]));
}

// Grey pictures next to each other.
export function pictures(canvas, side, across, down, codes, tint = null) {
    const gap = 2, step = side + gap, paper = hex(style("--low")), ink = hex(style("--high")), frame = hex(style("--frame"));
    cells(canvas, down * step - gap, across * step - gap, (r, c) => {
        const row = r % step, column = c % step;
        if (row >= side || column >= side) return frame;
        const k = (Math.floor(r / step) * across + Math.floor(c / step)) * side * side + row * side + column;
        const base = codes[k] ? ink : paper;
        return tint && tint[k % (side * side)] ? base.map((x, i) => Math.round((x + hex(colours[1])[i]) / 2)) : base;
    });
}

// ---- lines over axes

function ticks(low, high, log) {
    const list = [];
    if (log) {
        const parts = high - low < 2 ? [1, 2, 5] : [1];
        for (let p = Math.floor(low); p <= Math.min(high, low + 40); p++) {
            list.push(...parts.map((k) => p + Math.log10(k)));
        }
        return list.filter((x) => x >= low - 1e-9 && x <= high + 1e-9);
    }
    const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((k) => k * power >= rough * 0.999), first = Math.ceil(low / step);
    for (let k = 0; k < 12; k++) list.push((first + k) * step);
    return list.filter((x) => x <= high + step / 1e6);
}

// Series {name, x, y, colour, dash}; range y: [low, high] or of the data.
export function chart(canvas, { series, x: xAxis = {}, y: yAxis = {} }) {
    const g = canvas.getContext("2d"), W = canvas.width, H = canvas.height;
    const left = 52, right = 8, top = 8, bottom = 36;
    const scaled = (axis, v) => (axis.log ? (v > 0 ? Math.log10(v) : NaN) : v);
    const limits = (axis, key) => {
        let low = Infinity, high = -Infinity;
        for (const s of series) {
            for (const v of s[key]) {
                const t = scaled(axis, v);
                if (Number.isFinite(t)) {
                    low = Math.min(low, t);
                    high = Math.max(high, t);
                }
            }
        }
        if (axis.range) [low, high] = axis.range.map((v) => scaled(axis, v));
        if (!(low < high)) [low, high] = Number.isFinite(low) ? [low - 0.5, low + 0.5] : [0, 1];
        return [low, high];
    };
    const [x0, x1] = limits(xAxis, "x"), [y0, y1] = limits(yAxis, "y");
    const px = (v) => left + ((v - x0) / (x1 - x0)) * (W - left - right);
    const py = (v) => H - bottom - ((v - y0) / (y1 - y0)) * (H - top - bottom);
    g.clearRect(0, 0, W, H);
    g.font = "12px system-ui, sans-serif";
    g.fillStyle = style("--text");
    g.strokeStyle = style("--frame");
    g.lineWidth = 1;
    g.textAlign = "center";
    for (const t of ticks(x0, x1, xAxis.log)) {
        g.beginPath();
        g.moveTo(px(t), top);
        g.lineTo(px(t), H - bottom);
        g.stroke();
        g.fillText(number(xAxis.log ? 10 ** t : t), px(t), H - bottom + 14);
    }
    g.textAlign = "right";
    for (const t of ticks(y0, y1, yAxis.log)) {
        g.beginPath();
        g.moveTo(left, py(t));
        g.lineTo(W - right, py(t));
        g.stroke();
        g.fillText(number(yAxis.log ? 10 ** t : t), left - 5, py(t) + 4);
    }
    g.textAlign = "center";
    g.fillText(xAxis.label ?? "", (left + W - right) / 2, H - 5);
    g.save();
    g.translate(11, (top + H - bottom) / 2);
    g.rotate(-Math.PI / 2);
    g.fillText(yAxis.label ?? "", 0, 0);
    g.restore();
    for (const s of series) {
        g.beginPath();
        g.strokeStyle = s.colour;
        g.setLineDash(s.dash ?? []);
        g.lineWidth = 2;
        let pen = false;
        for (let k = 0; k < s.y.length; k++) {
            const a = scaled(xAxis, s.x[k]), b = scaled(yAxis, s.y[k]);
            if (!Number.isFinite(a) || !Number.isFinite(b)) {
                pen = false;
                continue;
            }
            g[pen ? "lineTo" : "moveTo"](px(a), py(Math.min(Math.max(b, y0), y1)));
            pen = true;
        }
        g.stroke();
    }
    g.setLineDash([]);
}

// SPDX-License-Identifier: MIT
// What the two models of digits share: parameters, and pictures of the chains.
import { canvas, element } from "../ui.js";
import { pictures } from "../paint.js";

export const SIDE = 16, V = SIDE * SIDE, ACROSS = 8, DOWN = 4, CHAINS = ACROSS * DOWN;

// Trained numbers: codes of -127 to 127 with one scale, or one for each row.
export function numbers({ scale, codes }) {
    const scales = [scale].flat(), each = codes.length / scales.length;
    return Float64Array.from(codes, (v, k) => v * scales[Math.floor(k / each)]);
}

export function makeSheet() {
    return canvas(ACROSS * 72, DOWN * 72, "Samples of the model");
}

export function makePad(description) {
    return canvas(320, 320, description);
}

// tint: pixels that are given, if there are any.
export function paintChains(sheet, codes, tint = null) {
    pictures(sheet, SIDE, ACROSS, DOWN, codes, tint);
}

export function paintMean(pad, codes) {
    const mean = new Float64Array(V), g = pad.getContext("2d"), cell = pad.width / SIDE;
    for (let c = 0; c < CHAINS; c++) for (let v = 0; v < V; v++) mean[v] += codes[c * V + v] / CHAINS;
    for (let v = 0; v < V; v++) {
        const grey = Math.round(255 * mean[v]);
        g.fillStyle = `rgb(${grey},${grey},${grey})`;
        g.fillRect((v % SIDE) * cell, Math.floor(v / SIDE) * cell, cell, cell);
    }
}

// The chains, and their mean.
export function beside(sheet, below, pad, belowPad) {
    return element("div", { class: "beside" },
        element("figure", {}, sheet, element("figcaption", {}, below)),
        element("figure", {}, pad, element("figcaption", {}, belowPad)));
}

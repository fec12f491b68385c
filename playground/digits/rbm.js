// SPDX-License-Identifier: MIT
// Digits of an RBM: chains at equilibrium, and pixels that are given.
import { Model, Walk } from "../engine.js";
import { button, choice, element, notice, player, slider } from "../ui.js";
import data from "../digits.json";
import { CHAINS, SIDE, V, beside, makePad, makeSheet, numbers, paintChains, paintMean } from "./shared.js";

const samplers = ["block-gibbs", "gibbs", "gwg", "ncg"];
export const allowed = { temperature: [0.3, 3], sampler: samplers, each: [1, 100, 1] };

const [W, b, c] = ["W", "b", "c"].map((name) => numbers(data.rbm[name])), H = c.length;

// The model of the pixels that are free, given the others: again such a machine, whose hidden units
// have the given pixels' part in their biases.
function makeModel(places, given) {
    const n = places.length, model = Model.ready(`rbm:visible=${n},hidden=${H}`), part = c.slice();
    given.forEach((g, v) => { if (g > 0) for (let h = 0; h < H; h++) part[h] += W[h * V + v]; });
    model.set("W", Float64Array.from({ length: H * n }, (_, k) => W[Math.floor(k / n) * V + places[k % n]]));
    model.set("b", Float64Array.from(places, (v) => b[v]));
    model.set("c", part);
    return model;
}

export function showRbm(state, save) {
    const problem = notice(), said = element("p", { class: "said", "aria-live": "polite" });
    const sheet = makeSheet(), pad = makePad("Pixels that are given: draw with the mouse, or move with the arrow keys and press space");
    pad.tabIndex = 0;
    pad.setAttribute("role", "application");
    pad.classList.add("draggable");
    const given = new Int8Array(V).fill(-1); // -1: free
    let walk = null, model = null, places = [], codes = new Int32Array(CHAINS * V), seed = 1, cursor = (SIDE / 2) * SIDE + SIDE / 2, brush = 1, drawing = false;

    function end() {
        walk?.close();
        model?.close();
        walk = model = null;
    }

    // Chains over the pixels that are not given; they go on from where they are.
    function rebuild(afresh) {
        end();
        problem.tell("");
        places = [];
        given.forEach((g, v) => {
            if (g < 0) places.push(v);
            for (let c = 0; g >= 0 && c < CHAINS; c++) codes[c * V + v] = g;
        });
        said.textContent = places.length < V ? `${V - places.length} pixels are given.` : "";
        if (places.length === 0) {
            problem.tell("All pixels are given: clear some.");
            paint();
            return;
        }
        model = makeModel(places, given);
        const init = afresh ? null : Int32Array.from({ length: CHAINS * places.length }, (_, k) =>
            codes[Math.floor(k / places.length) * V + places[k % places.length]]);
        try {
            walk = new Walk(model, state.sampler, { chains: CHAINS, seed: seed++, init });
            walk.setTemperature(state.temperature);
        } catch (refusal) {
            problem.tell(refusal.message);
        }
        read();
        paint();
    }

    function read() {
        if (!walk) return;
        const now = walk.codes(), n = places.length;
        for (let c = 0; c < CHAINS; c++) {
            for (let k = 0; k < n; k++) codes[c * V + places[k]] = now[c * n + k];
        }
    }

    function paint() {
        paintChains(sheet, codes, given.some((g) => g >= 0) ? given.map((g) => (g >= 0 ? 1 : 0)) : null);
        paintMean(pad, codes); // of given pixels their value
        const g = pad.getContext("2d"), cell = pad.width / SIDE;
        for (let v = 0; v < V; v++) {
            const x = (v % SIDE) * cell, y = Math.floor(v / SIDE) * cell;
            if (given[v] >= 0) {
                g.strokeStyle = "#d55e00";
                g.lineWidth = 2;
                g.strokeRect(x + 1, y + 1, cell - 2, cell - 2);
            }
        }
        if (document.activeElement === pad) {
            g.strokeStyle = "#56b4e9";
            g.lineWidth = 3;
            g.strokeRect((cursor % SIDE) * cell + 1, Math.floor(cursor / SIDE) * cell + 1, cell - 2, cell - 2);
        }
    }

    function give(v, value) {
        if (given[v] === value) return;
        given[v] = value;
        rebuild(false);
    }

    function at(event) {
        const box = pad.getBoundingClientRect(), place = (x, size) => Math.min(Math.max(Math.floor((x / size) * SIDE), 0), SIDE - 1);
        return place(event.clientY - box.top, box.height) * SIDE + place(event.clientX - box.left, box.width);
    }
    pad.addEventListener("pointerdown", (e) => { drawing = true; pad.setPointerCapture(e.pointerId); give(at(e), brush); });
    pad.addEventListener("pointermove", (e) => { if (drawing) give(at(e), brush); });
    for (const stop of ["pointerup", "pointercancel"]) pad.addEventListener(stop, () => { drawing = false; });
    pad.addEventListener("keydown", (e) => {
        const move = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -SIDE, ArrowDown: SIDE }[e.key];
        if (move) cursor = (cursor + move + V) % V;
        else if (e.key === " ") give(cursor, brush);
        else return;
        e.preventDefault();
        paint();
    });

    function advance() {
        if (!walk) return;
        walk.step(state.each);
        read();
        paint();
    }

    const play = player(advance, problem);
    rebuild(true);
    return {
        controls: [
            slider("Temperature", { range: allowed.temperature, value: state.temperature, scale: "log", change: (v) => { state.temperature = v; save(); walk?.setTemperature(v); } }),
            choice("Sampler", samplers, state.sampler, (v) => { state.sampler = v; save(); rebuild(false); }),
            slider("Steps a picture", { range: allowed.each, value: state.each, change: (v) => { state.each = v; save(); } }),
            choice("Brush", [["1", "ink"], ["0", "paper"], ["-1", "free again"]], "1", (v) => { brush = Number(v); }),
            button("Clear", () => { given.fill(-1); rebuild(false); }),
            button("Start at random", () => rebuild(true)),
            play,
        ],
        body: [problem, beside(sheet, `${CHAINS} chains; given pixels are tinted`, pad, "Their mean: draw here to give pixels"), said],
        start: () => play.begin(end),
    };
}

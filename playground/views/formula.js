// SPDX-License-Identifier: MIT
import { BINARY, Model, SPINS, Walk } from "../engine.js";
import { chart, colours, cells, lattice } from "../paint.js";
import { canvas, choice, element, notice, number, player, slider, textBox } from "../ui.js";

const KEPT = 400;

const usual = { f: "0.4 sum(i~j: x[i] x[j]) + 0.02 sum(i: x[i])", kind: "spins", side: 24, sampler: "gwg", each: 50 };

const samplers = ["gwg", "gibbs", "lb", "pas", "ncg", "dlmc", "mana", "avg"];
const allowed = { kind: ["spins", "binary"], side: [2, 64, 1], sampler: samplers, each: [1, 2000, 1] };

const examples = [
    ["0.4 sum(i~j: x[i] x[j]) + 0.02 sum(i: x[i])", "Ising with a field"],
    ["-0.4 sum(i~j: x[i] x[j])", "antiferromagnet"],
    ["-0.01 sum(i: x[i])^2", "as many up as down"],
    ["sum(i~j: x[i] x[j]) - 0.001 (sum(i: x[i]) - 200)^2", "a drop of a given size"],
    ["2 sum(i~j: tanh(3 x[i] x[j] - 1))", "not quadratic"],
];

// A map of values around 0: blue below, orange above.
function signed(picture, side, values) {
    const most = Math.max(...values.map(Math.abs)) || 1;
    cells(picture, side, side, (r, c) => {
        const t = values[r * side + c] / most, from = [240, 240, 240], to = t < 0 ? [0, 114, 178] : [213, 94, 0];
        return from.map((a, i) => Math.round(a + (to[i] - a) * Math.abs(t)));
    });
    return most;
}

function show(root, state, save) {
    const problem = notice(), program = element("pre", { tabindex: "0", "aria-label": "The program that computes f" }), said = element("p", { class: "said" });
    const picture = canvas(300, 300, "The state"), slope = canvas(300, 300, "Change of f by each flip as the gradient promises it"), exact = canvas(300, 300, "Exact change of f by each flip");
    const slopeText = element("figcaption"), exactText = element("figcaption");
    const energy = canvas(720, 180, "f over steps");
    let model = null, walk = null, side = 0, spins = true, trace = [], steps = 0, frame = 0;

    function end() {
        walk?.close();
        walk = null;
        model?.close();
        model = null;
    }

    function rebuild() {
        let next;
        const kind = state.kind === "spins" ? SPINS : BINARY;
        try {
            next = Model.formula(state.f, { kind, rows: state.side, columns: state.side });
        } catch (refusal) {
            const at = refusal.place;
            problem.tell(at < 0 ? refusal.message : `${refusal.message} (here: ${state.f.slice(0, at)}▸${state.f.slice(at)})`);
            if (at >= 0 && document.activeElement !== box.input) box.input.setSelectionRange(at, at);
            box.input.setAttribute("aria-invalid", "true");
            return;
        }
        box.input.setAttribute("aria-invalid", "false");
        end();
        model = next;
        side = state.side;
        spins = kind === SPINS;
        trace = [];
        steps = frame = 0;
        program.textContent = model.program();
        try {
            walk = new Walk(model, state.sampler, { seed: 1 });
            problem.tell("");
        } catch (refusal) {
            problem.tell(refusal.message);
        }
        paint();
    }

    function advance() {
        if (!walk) return;
        walk.step(state.each);
        steps += state.each;
        trace.push([steps, walk.f()[0]]);
        if (trace.length > KEPT) trace.shift();
        frame++;
        paint();
    }

    function paint() {
        if (!walk) return;
        const codes = walk.codes();
        lattice(picture, side, codes, 2);
        if (frame % 4 === 0) {
            const { gradient, differences } = model.derivatives(codes);
            const flips = Float64Array.from(codes, (code, v) => differences[2 * v + 1 - code]);
            const promised = gradient.map((g, v) => g * (codes[v] ? -1 : 1) * (spins ? 2 : 1));
            slopeText.textContent = `change of f by a flip as the gradient promises it (largest ${number(signed(slope, side, promised))}); blue falls, orange rises`;
            exactText.textContent = `the exact change (largest ${number(signed(exact, side, flips))})`;
            chart(energy, { series: [{ name: "f", colour: colours[0], x: trace.map((t) => t[0]), y: trace.map((t) => t[1]) }],
                x: { label: "steps" }, y: { label: "f" } });
        }
        if (frame % 15 === 1) {
            const { acceptance } = walk.means();
            said.textContent = `f = ${number(walk.f()[0], 5)} after ${steps} steps of ${state.sampler}, ${number(acceptance)} of them accepted.`;
        }
    }

    const box = textBox("f =", state.f, (t) => { state.f = t; save(); rebuild(); }, { rows: 2 });
    const play = player(advance, problem);
    const change = (key) => (v) => { state[key] = v; save(); rebuild(); };
    root.append(
        element("div", { class: "controls" }, box,
            choice("Examples", [["", "choose"], ...examples], "", (v) => { if (v) { state.f = box.input.value = v; save(); rebuild(); } }),
            choice("Variables", [["spins", "spins, −1 and +1"], ["binary", "binary, 0 and 1"]], state.kind, change("kind")),
            slider("Side", { range: allowed.side, value: state.side, change: change("side") }),
            choice("Sampler", samplers, state.sampler, change("sampler")),
            slider("Steps a picture", { range: allowed.each.slice(0, 2), value: state.each, scale: "log", change: (v) => { state.each = Math.max(1, Math.round(v)); save(); } }),
            play),
        problem,
        element("div", { class: "beside" },
            element("figure", {}, picture, element("figcaption", {}, "the state")),
            element("figure", {}, slope, slopeText), element("figure", {}, exact, exactText)),
        said,
        element("figure", {}, energy, element("figcaption", {}, "f over steps")),
        element("details", {}, element("summary", {}, "The program that computes f"), program));
    rebuild();
    return play.begin(end);
}

export default {
    id: "formula", title: "Own formula", usual, allowed, show,
    text: [
        "Write f over the variables x[i] of a lattice, with sum(i: ..) over all and sum(i~j: ..) over neighbours, and it is sampled at once; exp(f) is the unnormalised probability.",
        "From the formula come its gradient, which promises how f changes by each flip, and the exact changes: where the two pictures look alike, samplers that trust the gradient do well.",
        "Below is the program that a formula becomes: expressions as they were written, and as they run after passes have simplified them.",
    ],
    paper: "Grathwohl et al. 2021, section 3 (gradients as estimates of differences); Zanella 2020",
};

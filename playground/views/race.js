// SPDX-License-Identifier: MIT
import { Model, Walk, ess, rhat, tune } from "../engine.js";
import { chart, colours, dashes, lattice } from "../paint.js";
import { canvas, choice, element, legend, notice, number, player, slider } from "../ui.js";

// A frame has BUDGET milliseconds for each sampler, and notes f about NOTES times in it.
const CHAINS = 4, KEPT = 2400, BUDGET = 4, NOTES = 8;

const usual = { model: "ising", side: 40, theta: 0.2, field: 0, labels: 4, by: "time",
    a: "gwg", b: "ncg", c: "gibbs", d: "none" };

const names = ["none", "gibbs", "block-gibbs", "gwg", "pas", "pafs", "ncg", "dlmc", "avg", "pavg", "mana", "dula"];

const allowed = { model: ["ising", "potts"], side: [8, 100, 1], theta: [0, 1, 0.005], field: [-0.5, 0.5, 0.01], labels: [2, 8, 1], by: ["time", "steps"],
    a: names, b: names, c: names, d: names };

function specification(s) {
    return s.model === "ising" ? `ising:side=${s.side},theta=${s.theta},bias=${s.field}`
                               : `potts:side=${s.side},states=${s.labels},theta=${s.theta}`;
}

// |m| of the infinite lattice without field (Yang 1952); the coupling of a pair is 2 theta.
function exactMagnetisation(s) {
    if (s.model !== "ising" || s.field !== 0) return NaN;
    const sinh = Math.sinh(4 * s.theta);
    return sinh > 1 ? (1 - sinh ** -4) ** 0.125 : 0;
}

function show(root, state, save) {
    const problem = notice(), board = element("div", { class: "lanes" });
    const energy = canvas(720, 220, "f of each sampler's first chain over its steps");
    let model = null, lanes = [], frame = 0;

    function end() {
        lanes.forEach((lane) => lane.walk?.close());
        lanes = [];
        frame = 0;
        model?.close();
        model = null;
    }

    // A sampler's chains, and what is known of them.
    function begin(name, k) {
        const picture = canvas(state.side * 4, state.side * 4, `State of ${name}`);
        const figures = element("dl", { class: "figures" });
        board.append(element("figure", { class: "lane" }, element("figcaption", {}, legend([[name, colours[k], dashes[k]]])), picture, figures));
        const lane = { name, k, picture, figures, steps: 0, seconds: 0, trace: [], unit: 1, sumM: 0, counted: 0 };
        const step = tune(model, name === "dula" ? "ncg" : name, CHAINS, 300, k + 1);
        lane.walk = new Walk(model, name, { chains: CHAINS, seed: k + 1, step: step > 0 ? step : 0 });
        return lane;
    }

    function rebuild() {
        end();
        board.replaceChildren();
        problem.tell("");
        try {
            model = Model.ready(specification(state));
        } catch (refusal) {
            problem.tell(refusal.message);
            return;
        }
        ["a", "b", "c", "d"].forEach((key, k) => {
            if (state[key] === "none") return;
            try {
                lanes.push(begin(state[key], k));
            } catch (refusal) {
                problem.tell(`${state[key]}: ${refusal.message}`);
            }
        });
        paint();
    }

    // So many steps, with f noted after each `unit` of them.
    function run(lane, steps) {
        for (let made = 0; made < steps; made += lane.unit) {
            const before = performance.now();
            lane.walk.step(lane.unit);
            lane.seconds += (performance.now() - before) / 1000;
            lane.steps += lane.unit;
            lane.trace.push({ f: Array.from(lane.walk.f()), steps: lane.steps, seconds: lane.seconds });
        }
        lane.trace.splice(0, Math.max(0, lane.trace.length - KEPT));
    }

    // Steps that a sampler makes within the budget.
    const affordable = (lane) => (lane.steps / Math.max(lane.seconds, 1e-6)) * (BUDGET / 1000);

    function advance() {
        if (lanes.length === 0) return;
        if (frame === 2) { // how fast they are is known
            for (const lane of lanes) lane.unit = Math.max(1, Math.round(affordable(lane) / NOTES));
            if (state.by === "steps") lanes.forEach((lane) => { lane.unit = Math.min(...lanes.map((l) => l.unit)); });
        }
        if (state.by === "steps") {
            const steps = Math.max(1, Math.round(Math.min(...lanes.map(affordable))));
            lanes.forEach((lane) => run(lane, frame < 2 ? 1 : steps));
        } else { // who is ahead in time waits
            const until = Math.min(...lanes.map((lane) => lane.seconds)) + BUDGET / 1000;
            for (const lane of lanes) while (lane.seconds < until) run(lane, 1);
        }
        lanes.forEach(note);
        frame++;
        paint();
    }

    function note(lane) {
        if (state.model === "ising" && lane.trace.length > 20) {
            const codes = lane.walk.codes(), V = model.variables;
            for (let c = 0; c < CHAINS; c++) {
                let m = 0;
                for (let v = 0; v < V; v++) m += 2 * codes[c * V + v] - 1;
                lane.sumM += Math.abs(m) / V;
                lane.counted++;
            }
        }
    }

    function tell(lane) {
        const n = lane.trace.length, half = lane.trace.slice(Math.floor(n / 2));
        const rows = [["steps", number(lane.steps, 4)], ["steps a second", number(lane.steps / lane.seconds)]];
        const { acceptance, jump } = lane.walk.means();
        if (Number.isFinite(acceptance)) {
            rows.push(["accepted", number(acceptance)], ["moved a step", number(jump)]);
        }
        if (half.length > 20) {
            const f = new Float64Array(CHAINS * half.length);
            half.forEach((t, i) => t.f.forEach((v, c) => { f[c * half.length + i] = v; }));
            let all = 0;
            for (let c = 0; c < CHAINS; c++) all += ess(f.slice(c * half.length, (c + 1) * half.length));
            const share = (half.at(-1).steps - half[0].steps) / lane.steps;
            const most = all > 0.8 * CHAINS * half.length ? "at least " : ""; // as many as were noted
            rows.push(["ESS a second", most + number(all / (lane.seconds * share))], ["R-hat", number(rhat(CHAINS, f))]);
        }
        if (lane.counted > 0) {
            const exact = exactMagnetisation(state);
            rows.push(["mean |m|", number(lane.sumM / lane.counted) + (Number.isNaN(exact) ? "" : ` (infinite lattice ${number(exact)})`)]);
        }
        lane.figures.replaceChildren(...rows.flatMap(([a, b]) => [element("dt", {}, a), element("dd", {}, b)]));
    }

    function paint() {
        const states = state.model === "ising" ? 2 : state.labels;
        for (const lane of lanes) {
            lattice(lane.picture, state.side, lane.walk.codes().subarray(0, model.variables), states);
            if (frame % 15 === 1) tell(lane);
        }
        if (frame % 5 === 0) {
            chart(energy, {
                series: lanes.map((lane) => ({ name: lane.name, colour: colours[lane.k], dash: dashes[lane.k],
                    x: lane.trace.map((t) => t[state.by === "time" ? "seconds" : "steps"]), y: lane.trace.map((t) => t.f[0]) })),
                x: { label: state.by === "time" ? "seconds" : "steps" }, y: { label: "f" },
            });
        }
    }

    const play = player(advance, problem);
    let waiting = 0;
    const change = (key, done = () => {}) => (v) => { // once the slider rests: warm-up takes a moment
        state[key] = v;
        done();
        save();
        clearTimeout(waiting);
        waiting = setTimeout(rebuild, 120);
    };
    const labels = slider("Labels", { range: allowed.labels, value: state.labels, change: change("labels") });
    const field = slider("Field", { range: allowed.field, value: state.field, change: change("field") });
    const fit = () => { labels.hidden = state.model !== "potts"; field.hidden = state.model !== "ising"; };
    fit();
    root.append(
        element("div", { class: "controls" },
            choice("Lattice", [["ising", "Ising"], ["potts", "Potts"]], state.model, change("model", fit)),
            slider("Side", { range: allowed.side, value: state.side, change: change("side") }),
            slider("Coupling θ", { range: allowed.theta, value: state.theta, change: change("theta") }),
            field, labels,
            choice("In equal", allowed.by, state.by, change("by")),
            ...["a", "b", "c", "d"].map((key, k) => choice(`Sampler ${k + 1}`, names, state[key], change(key))),
            play),
        problem, board,
        element("figure", {}, energy, element("figcaption", {}, "f of the first chain of each; lines as in the titles above")));
    rebuild();
    return play.begin(() => {
        clearTimeout(waiting);
        end();
    });
}

export default {
    id: "race", title: "Race", usual, allowed, show,
    text: [
        "Up to four samplers on the same lattice, four chains each, for equal times or equal numbers of steps.",
        "ESS a second says how many independent draws a sampler is worth, and R-hat above 1.01 that its chains do not agree yet; the lines of f show how fast each forgets where it started.",
        "At θ = 0.2203 the Ising lattice is critical: below it pictures are noise, above it whole regions agree, and samplers that change few spins are slow.",
    ],
    paper: "Grathwohl et al. 2021, section 6 and figure 4; Yang 1952 for the magnetisation",
};

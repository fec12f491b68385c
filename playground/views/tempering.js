// SPDX-License-Identifier: MIT
import { Model, ORDINAL, Walk, statesOfPair } from "../engine.js";
import { chart, colours, mark, plane } from "../paint.js";
import { canvas, choice, element, notice, number, player, slider } from "../ui.js";

const LEVELS = 40, KEPT = 400;

const usual = { replicas: 6, hottest: 20, apart: 2.2, swaps: "on", every: 5, sampler: "gibbs", speed: 20 };

const samplers = ["gibbs", "gwg:radius=2", "ncg", "mh-uniform:radius=2"];
const allowed = { replicas: [1, 12, 1], hottest: [2, 200], apart: [0.5, 3, 0.1], swaps: ["on", "off"], every: [1, 50, 1], sampler: samplers,
    speed: [1, 60] };

const all = statesOfPair(LEVELS);

// Two normal hills, the right one with twice the weight.
function formula(s) {
    const hill = (c) => `exp(-12 ((x[0] - ${c})^2 + (x[1] - ${c})^2))`;
    return `log(${hill(-s.apart / 2)} + 2 ${hill(s.apart / 2)} + 1e-9)`;
}

function show(root, state, save) {
    const problem = notice(), said = element("p", { class: "said" });
    const grid = element("div", { class: "small-multiples" });
    const paths = canvas(720, 260, "At which temperature each replica is over time");
    let model = null, walk = null, expected = 0, panels = [], walker = [], trace = [], steps = 0, last = 0, right = 0, counted = 0, parity = 0;

    const temperature = (r) => state.hottest ** (state.replicas > 1 ? r / (state.replicas - 1) : 0);

    function end() {
        walk?.close();
        walk = null;
        model?.close();
        model = null;
    }

    function rebuild() {
        end();
        problem.tell("");
        model = Model.formula(formula(state), { kind: ORDINAL, rows: 1, columns: 2, levels: LEVELS, low: -2, high: 2 });
        const f = model.f(all), most = Math.max(...f), p = f.map((v) => Math.exp(v - most));
        expected = p.reduce((sum, v, k) => sum + (k % LEVELS >= LEVELS / 2 ? v : 0), 0) / p.reduce((sum, v) => sum + v, 0);
        const R = state.replicas, init = new Int32Array(2 * R).fill(Math.round(((-state.apart / 2 + 2) / 4) * (LEVELS - 1)));
        walk = new Walk(model, state.sampler, { chains: R, seed: 1, init, temperatures: Float64Array.from({ length: R }, (_, r) => temperature(r)) });
        walker = Array.from({ length: R }, (_, r) => r);
        trace = walker.map(() => []);
        steps = right = counted = parity = 0;
        grid.replaceChildren();
        panels = walker.map((r) => {
            const picture = canvas(160, 160, `Replica at temperature ${number(temperature(r))}`);
            grid.append(element("figure", {}, picture, element("figcaption", {}, `T = ${number(temperature(r))}`)));
            return { picture, values: f.map((v) => Math.exp((v - most) / temperature(r) / 2)) };
        });
        paint();
    }

    function advance(asked) {
        const now = performance.now();
        if (!asked && now - last < 1000 / state.speed) return;
        last = now;
        for (let k = 0; k < state.every; k++) {
            walk.step(1);
            counted++;
            right += walk.codes()[0] >= LEVELS / 2 ? 1 : 0;
        }
        steps += state.every;
        if (state.swaps === "on" && state.replicas > 1) {
            walk.swap(parity).forEach((made, r) => {
                if (made) [walker[r], walker[r + 1]] = [walker[r + 1], walker[r]];
            });
            parity = 1 - parity;
        }
        walker.forEach((w, r) => { trace[w].push(r); });
        trace.forEach((t) => { if (t.length > KEPT) t.shift(); });
        paint();
    }

    function paint() {
        const codes = walk.codes();
        panels.forEach(({ picture, values }, r) => {
            plane(picture, LEVELS, values);
            mark(picture, LEVELS, codes[2 * r], codes[2 * r + 1], String(walker[r] + 1));
        });
        const first = steps / state.every - trace[0].length;
        chart(paths, {
            series: trace.map((t, w) => ({ name: `replica ${w + 1}`, colour: colours[w % colours.length], dash: w >= colours.length ? [4, 3] : [],
                x: t.map((_, k) => (first + k) * state.every), y: t.map((r) => r + 1) })),
            x: { label: "steps" }, y: { label: "number of the temperature, cold to hot", range: [1, Math.max(state.replicas, 2)] },
        });
        said.textContent = counted ? `At temperature 1 the chain was on the right hill for ${number(right / counted)} of ${counted} steps; its probability is ${number(expected)}.` : "";
    }

    const play = player(advance, problem);
    const change = (key) => (v) => { state[key] = v; save(); rebuild(); };
    root.append(
        element("div", { class: "controls" },
            slider("Temperatures", { range: allowed.replicas, value: state.replicas, change: change("replicas") }),
            slider("The hottest", { range: allowed.hottest, value: state.hottest, scale: "log", change: change("hottest") }),
            slider("Hills apart", { range: allowed.apart, value: state.apart, change: change("apart") }),
            slider("Steps between swaps", { range: allowed.every, value: state.every, change: change("every") }),
            choice("Swaps", allowed.swaps, state.swaps, change("swaps")),
            choice("Sampler", samplers, state.sampler, change("sampler")),
            slider("Rounds a second", { range: allowed.speed, value: state.speed, scale: "log", change: (v) => { state.speed = v; save(); } }),
            play),
        problem, grid,
        element("figure", {}, paths, element("figcaption", {}, "Each line is a replica that wanders over the temperatures; pictures show the root of p at theirs")),
        said);
    rebuild();
    return play.begin(end);
}

export default {
    id: "tempering", title: "Tempering", usual, allowed, show,
    text: [
        "Two hills far apart: a chain that moves a little at a time never crosses the valley between them.",
        "Replicas at higher temperatures see a flatter landscape and cross it; neighbours change places with a probability that keeps every temperature's distribution, so that states from the other hill reach the cold chain.",
        "Switch the swaps off, or give too few temperatures, and it stays where it began.",
    ],
    paper: "Okabe et al. 2001; Syed, Bouchard-Côté, Deligiannidis & Doucet 2022",
};

// SPDX-License-Identifier: MIT
import { Model, Walk } from "../engine.js";
import { chart, colours, dashes } from "../paint.js";
import { canvas, element, legend, notice, number, player, slider } from "../ui.js";

const SIDE = 3, CHAINS = 64, EACH = 25, WAIT = 200;
const lines = [["ncg", "ncg: adjusted"], ["dula", "dula: ncg without acceptance"], ["mana", "mana: adjusted"], ["una", "una: mana without acceptance"]];

const usual = { theta: 0.25, eps: 2 };
const allowed = { theta: [0, 0.6, 0.01], eps: [0.2, 20] };

function show(root, state, save) {
    const problem = notice(), said = element("p", { class: "said" });
    const picture = canvas(720, 320, "Distance to the exact distribution over steps");
    let model = null, exact = null, runs = [];

    function end() {
        runs.forEach((run) => run.walk.close());
        runs = [];
        model?.close();
        model = null;
    }

    function rebuild() {
        end();
        problem.tell("");
        model = Model.ready(`ising:side=${SIDE},theta=${state.theta}`);
        const n = 2 ** model.variables, codes = new Int32Array(n * model.variables);
        for (let k = 0; k < n; k++) {
            for (let v = 0; v < model.variables; v++) codes[k * model.variables + v] = (k >> v) & 1;
        }
        const f = model.f(codes), most = Math.max(...f), weight = f.map((v) => Math.exp(v - most));
        const Z = weight.reduce((a, b) => a + b, 0);
        exact = weight.map((w) => w / Z);
        runs = lines.map(([sampler], k) => ({
            walk: new Walk(model, sampler, { step: state.eps, chains: CHAINS, seed: k + 1 }),
            counts: new Float64Array(n), steps: 0, total: 0, x: [], y: [], next: 1,
        }));
        runs.forEach((run) => run.walk.step(WAIT));
        advance();
    }

    function advance() {
        for (const run of runs) {
            for (let i = 0; i < EACH; i++) {
                run.walk.step(1);
                const codes = run.walk.codes(), V = model.variables;
                for (let c = 0; c < CHAINS; c++) {
                    let k = 0;
                    for (let v = 0; v < V; v++) k |= codes[c * V + v] << v;
                    run.counts[k]++;
                }
                run.total += CHAINS;
                run.steps++;
            }
            if (run.steps >= run.next) {
                let distance = 0;
                run.counts.forEach((count, k) => { distance += Math.abs(count / run.total - exact[k]) / 2; });
                run.x.push(run.steps);
                run.y.push(distance);
                run.next = Math.ceil(run.steps * 1.04);
            }
        }
        chart(picture, {
            series: runs.map((run, k) => ({ name: lines[k][1], colour: colours[k], dash: dashes[k], x: run.x, y: run.y })),
            x: { label: `steps of each of ${CHAINS} chains`, log: true }, y: { label: "distance", log: true },
        });
        said.textContent = runs.map((run, k) => `${lines[k][0]} ${number(run.y.at(-1))}`).join(", ") + `, after ${runs[0].steps} steps.`;
    }

    const play = player(advance, problem);
    root.append(
        element("div", { class: "controls" },
            slider("Coupling θ", { range: allowed.theta, value: state.theta, change: (v) => { state.theta = v; save(); rebuild(); } }),
            slider("Step size ε", { range: allowed.eps, value: state.eps, scale: "log", change: (v) => { state.eps = v; save(); rebuild(); } }),
            play),
        problem,
        element("figure", {}, picture, element("figcaption", {}, legend(lines.map(([, name], k) => [name, colours[k], dashes[k]])))),
        said);
    rebuild();
    return play.begin(end);
}

export default {
    id: "bias", title: "Bias", usual, allowed, show,
    text: [
        "An Ising lattice of nine spins has 512 states, so that the share of draws at each can be compared with its exact probability: half of the summed differences is the total variation distance.",
        "The distance of an adjusted sampler falls for ever, as one over the root of the number of draws; without the acceptance step it stops where the bias is.",
        "Smaller steps have less bias, and need more of them.",
    ],
    paper: "Zhang, Liu & Liu 2022, section 4 (DULA, DMALA); Xiang et al. 2023 (MANA)",
};

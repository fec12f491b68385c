// SPDX-License-Identifier: MIT
// Digits of a denoising chain: passes from noise down its levels.
import { Model, Pass } from "../engine.js";
import { button, element, notice, player } from "../ui.js";
import data from "../digits.json";
import { CHAINS, beside, makePad, makeSheet, numbers, paintChains, paintMean } from "./shared.js";

const { chain } = data, LEVELS = chain.steps.length, steps = chain.steps.map((n) => n * chain.times);

// How often the screen is drawn anew before the next level, and before new noise, while it plays:
// a fifth of a second and two seconds at 60 times a second. Faster pictures would flicker.
const EACH = 12, REST = 120;

export function showChain() {
    const problem = notice(), said = element("p", { class: "said" });
    const sheet = makeSheet(), pad = makePad("The mean of the chains");
    const model = Model.ready(chain.specification);
    let pass = null, level = LEVELS, wait = 0;

    function paint() {
        const codes = pass.codes();
        said.textContent = level === LEVELS ? "Noise" : level > 0 ? `Level ${level}: ${steps[level]} steps` : `Digits, after level 0: ${steps[0]} steps`;
        paintChains(sheet, codes);
        paintMean(pad, codes);
    }

    function begin() {
        problem.tell("");
        pass.begin();
        level = LEVELS;
        wait = EACH;
        paint();
    }

    function advance(asked) {
        if (!asked && --wait > 0) return;
        if (level === 0) {
            begin();
            return;
        }
        level = pass.level();
        wait = level > 0 ? EACH : REST;
        paint();
    }

    const play = player(advance, problem);
    try {
        for (const [name, array] of Object.entries(chain.parameters)) model.set(name, numbers(array));
        pass = new Pass(model, chain.sampler, { keep: chain.keep, logits: numbers(chain.logits), steps, stepSizes: chain.step_sizes, chains: CHAINS, seed: 1 });
    } finally {
        model.close(); // the pass holds it
    }
    begin();
    return {
        controls: [button("New noise", begin), play],
        body: [
            problem,
            said,
            beside(sheet, `${CHAINS} chains, from noise to digits`, pad, "Their mean"),
            element("p", {}, "A chain has no f(x) to condition on pixels: to give pixels, take the RBM."),
        ],
        start: () => play.begin(() => pass.close()),
    };
}

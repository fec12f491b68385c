// SPDX-License-Identifier: MIT
import { showChain } from "../digits/chain.js";
import { allowed as allowedOfRbm, showRbm } from "../digits/rbm.js";
import { choice, element } from "../ui.js";

const models = [["chain", "Denoising chain"], ["rbm", "RBM"]], shows = { chain: showChain, rbm: showRbm };

const usual = { model: "chain", temperature: 1, sampler: "block-gibbs", each: 1 };
const allowed = { model: models.map(([key]) => key), ...allowedOfRbm };

// Each model has controls and pictures of its own, and start(), which gives what ends it.
function show(root, state, save) {
    const which = choice("Model", models, state.model, (model) => { state.model = model; save(); change(); });
    const controls = element("div", { class: "controls" }, which), body = element("div");
    let leave = null;

    function change() {
        leave?.();
        leave = null;
        while (controls.lastChild !== which) controls.lastChild.remove(); // the choice keeps the focus
        const parts = shows[state.model](state, save);
        controls.append(...parts.controls);
        body.replaceChildren(...parts.body);
        leave = parts.start();
    }

    root.append(controls, body);
    change();
    return () => leave?.();
}

export default {
    id: "digits", title: "Digits", usual, allowed, show,
    text: [
        "Two models of handwritten digits of 16 by 16 pixels. What you see are their own free samples, from random starts.",
        "A denoising chain has one energy for each of eight levels of noise. A few steps of a sampler at a level undo a part of the noise; at the last level the digits are left. Each pass begins with new noise.",
        "The RBM is one energy of 64 hidden units, trained at equilibrium. Draw on the right to give pixels: the chains then sample the others given these, which is in-painting. Above temperature 1 strokes dissolve, below it only the likeliest digits are left.",
    ],
    paper: "Gao, Song, Poole, Wu & Kingma 2021 (denoising chains); Hinton 2012; Bereux et al. 2026 (training at equilibrium); Grathwohl et al. 2021, section 6 (block Gibbs)",
};

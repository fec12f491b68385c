// SPDX-License-Identifier: MIT
import { Model, ORDINAL, Walk, statesOfPair } from "../engine.js";
import { mark, plane } from "../paint.js";
import { button, canvas, choice, element, notice, number, player, slider, textBox } from "../ui.js";

const LEVELS = 50, STATES = LEVELS * LEVELS, DRAWS = 4000, LOW = -1.5, HIGH = 3;

// A sampler by the settings of the view; step: which of them is its step size; drawn: its
// probabilities cannot be computed.
const samplers = [
    { name: "gwg", call: () => "gwg" },
    { name: "gwg, window", call: (s) => `gwg:radius=${s.radius}` },
    { name: "mh-uniform", call: (s) => `mh-uniform:radius=${s.radius}` },
    { name: "lb", call: () => "lb" },
    { name: "ncg", call: () => "ncg", step: "eps" },
    { name: "dlmc", call: () => "dlmc", step: "tau" },
    { name: "mana", call: () => "mana", step: "eps" },
    { name: "avg", call: () => "avg", step: "eps", drawn: true },
    { name: "pavg", call: () => "pavg", step: "eps", drawn: true },
];

const usual = { target: "order 2", f: "-2 (x[0] - x[1])^2 - 0.3 (x[0] + x[1] - 1)^2", x: 9, y: 6, eps: 0.08, tau: 0.002, radius: 3,
    sampler: "ncg", speed: 2 };

const allowed = { target: ["order 2", "order 4", "formula"], x: [0, LEVELS - 1, 1], y: [0, LEVELS - 1, 1], eps: [0.005, 2], tau: [1e-5, 1],
    radius: [1, 12, 1], sampler: samplers.map((s) => s.name), speed: [0.5, 30] };

const codesOfAll = statesOfPair(LEVELS);

function makeModel(state) {
    if (state.target === "formula") {
        return Model.formula(state.f, { kind: ORDINAL, rows: 1, columns: 2, levels: LEVELS, low: LOW, high: HIGH });
    }
    return Model.ready(state.target === "order 4" ? "ordinal-poly4:dim=2" : "ordinal-poly2:dim=2");
}

function show(root, state, save) {
    const problem = notice(), said = element("p", { class: "said" });
    const target = canvas(400, 400, "Probability of each state, and the present one");
    target.tabIndex = 0;
    target.setAttribute("role", "application");
    target.classList.add("draggable");
    const grid = element("div", { class: "small-multiples" });
    const panels = samplers.map((sampler) => {
        const picture = canvas(200, 200, `Where ${sampler.name} proposes to go`);
        const title = button(sampler.name, () => choose(sampler.name), { class: "choose" });
        const panel = element("figure", {}, picture, element("figcaption", {}, title));
        picture.addEventListener("pointermove", (e) => tellAt(sampler, picture, e));
        picture.addEventListener("click", () => choose(sampler.name));
        grid.append(panel);
        return { sampler, picture, panel, logQ: null, refusal: "" };
    });
    let model = null, f = null, walk = null, seed = 1, lastStep = 0, lastAll = 0;

    const from = () => new Int32Array([state.x, state.y]);
    const step = (sampler) => (sampler.step ? state[sampler.step] : 0);
    const chosen = () => panels.find((p) => p.sampler.name === state.sampler) ?? panels[4];

    function rebuild() {
        try {
            const next = makeModel(state), values = next.f(codesOfAll);
            model?.close();
            model = next;
            f = values;
            problem.tell("");
        } catch (refusal) {
            problem.tell(refusal.message + (refusal.place >= 0 ? `, at character ${refusal.place + 1}` : ""));
            return;
        }
        drop();
        paintAll();
    }

    function drop() {
        walk?.close();
        walk = null;
    }

    function paintTarget() {
        const most = Math.max(...f);
        plane(target, LEVELS, f.map((v) => Math.exp((v - most) / 2)));
        mark(target, LEVELS, state.x, state.y);
        const value = (k) => number(LOW + (k * (HIGH - LOW)) / (LEVELS - 1));
        target.setAttribute("aria-label", `Probability of each state; the chain stands at (${value(state.x)}, ${value(state.y)})`);
    }

    function paintPanel(p) {
        const q = new Float64Array(STATES);
        try {
            if (p.sampler.drawn) {
                const to = model.draw(p.sampler.call(state), step(p.sampler), seed, from(), DRAWS);
                for (let k = 0; k < DRAWS; k++) q[to[2 * k + 1] * LEVELS + to[2 * k]] += 1 / DRAWS;
                p.logQ = null;
            } else {
                p.logQ = model.logQ(p.sampler.call(state), step(p.sampler), from(), codesOfAll);
                p.logQ.forEach((v, k) => { q[k] = Math.exp(v); });
            }
            p.refusal = "";
        } catch (refusal) {
            p.logQ = null;
            p.refusal = refusal.message;
        }
        p.panel.classList.toggle("absent", p.refusal !== "");
        const most = Math.max(...q) || 1;
        plane(p.picture, LEVELS, q.map((v) => Math.sqrt(v / most)));
        mark(p.picture, LEVELS, state.x, state.y);
        p.panel.classList.toggle("chosen", p === chosen());
    }

    function paintAll() {
        if (!model) return;
        paintTarget();
        panels.forEach(paintPanel);
        lastAll = performance.now();
    }

    function choose(name) {
        state.sampler = name;
        save();
        drop();
        panels.forEach((p) => p.panel.classList.toggle("chosen", p === chosen()));
        said.textContent = `Steps are those of ${name}.`;
    }

    function tellAt(sampler, picture, event) {
        if (!model) return;
        const box = picture.getBoundingClientRect(), p = panels.find((q) => q.sampler === sampler);
        const at = (x, size) => Math.min(Math.max(Math.floor((x / size) * LEVELS), 0), LEVELS - 1);
        const column = at(event.clientX - box.left, box.width), row = LEVELS - 1 - at(event.clientY - box.top, box.height);
        const k = row * LEVELS + column, gain = f[k] - f[state.y * LEVELS + state.x];
        if (p.refusal) {
            said.textContent = `${sampler.name}: ${p.refusal}`;
        } else if (!p.logQ) {
            said.textContent = `${sampler.name}: drawn ${DRAWS} times; its probabilities have no closed form.`;
        } else if (!Number.isFinite(p.logQ[k])) {
            said.textContent = `${sampler.name}: never proposes this state.`;
        } else {
            const back = model.logQ(sampler.call(state), step(sampler), new Int32Array([column, row]), from())[0];
            const acceptance = Math.min(1, Math.exp(gain + back - p.logQ[k]));
            said.textContent = `${sampler.name}: proposed with probability ${number(Math.exp(p.logQ[k]))}, then accepted with ${number(acceptance)} (f changes by ${number(gain)}).`;
        }
    }

    function stand(x, y) {
        state.x = Math.min(Math.max(x, 0), LEVELS - 1);
        state.y = Math.min(Math.max(y, 0), LEVELS - 1);
        drop();
        save();
        paintAll();
    }

    function drag(event) {
        const box = target.getBoundingClientRect();
        stand(Math.floor(((event.clientX - box.left) / box.width) * LEVELS),
            LEVELS - 1 - Math.floor(((event.clientY - box.top) / box.height) * LEVELS));
    }
    let dragging = false, pending = null;
    target.addEventListener("pointerdown", (e) => {
        dragging = true;
        target.setPointerCapture(e.pointerId);
        drag(e);
    });
    target.addEventListener("pointermove", (e) => {
        if (!dragging) return;
        if (!pending) {
            requestAnimationFrame(() => {
                if (model) drag(pending);
                pending = null;
            });
        }
        pending = e;
    });
    for (const end of ["pointerup", "pointercancel"]) target.addEventListener(end, () => { dragging = false; });
    target.addEventListener("keydown", (e) => {
        const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[e.key];
        if (move) {
            e.preventDefault();
            stand(state.x + move[0], state.y + move[1]);
        }
    });

    function advance(asked) {
        const now = performance.now();
        if (!model || dragging || (!asked && now - lastStep < 1000 / state.speed)) return;
        lastStep = now;
        const { sampler } = chosen();
        walk = walk ?? new Walk(model, sampler.call(state), { step: step(sampler), seed: seed++, init: from() });
        walk.step(1);
        const [x, y] = walk.codes();
        const moved = x !== state.x || y !== state.y, { acceptance } = walk.means();
        said.textContent = `${sampler.name}: ${moved ? "moved" : "stayed"}; the proposal was accepted with probability ${number(acceptance)}.`;
        [state.x, state.y] = [x, y];
        paintTarget();
        if (asked || now - lastAll > 250) paintAll();
        else paintPanel(chosen());
    }

    const play = player(advance, problem, { playing: false });
    const text = textBox("f of x[0] and x[1]", state.f, (t) => { state.f = t; save(); if (state.target === "formula") rebuild(); });
    text.hidden = state.target !== "formula";
    root.append(
        element("div", { class: "controls" },
            choice("Target", [["order 2", "polynomial of order 2"], ["order 4", "polynomial of order 4"], ["formula", "a formula"]],
                state.target, (v) => { state.target = v; text.hidden = v !== "formula"; save(); rebuild(); }),
            slider("Step size ε", { range: allowed.eps, value: state.eps, scale: "log", change: (v) => { state.eps = v; save(); drop(); paintAll(); } }),
            slider("Time τ of dlmc", { range: allowed.tau, value: state.tau, scale: "log", change: (v) => { state.tau = v; save(); drop(); paintAll(); } }),
            slider("Radius", { range: allowed.radius, value: state.radius, change: (v) => { state.radius = v; save(); drop(); paintAll(); } }),
            slider("Steps a second", { range: allowed.speed, value: state.speed, scale: "log", change: (v) => { state.speed = v; save(); } }),
            play, text),
        problem,
        element("div", { class: "beside" },
            element("figure", {}, target, element("figcaption", {}, "p(s), of which colours show the root: drag the ring, or use the arrow keys")),
            grid),
        said);
    rebuild();
    return play.begin(() => {
        drop();
        model?.close();
        model = null;
    });
}

export default {
    id: "proposals", title: "Proposals", usual, allowed, show,
    text: [
        "Two variables with 50 levels each; a chain stands at one state, and each small picture shows where a sampler proposes to go from there.",
        "gwg changes one variable, and extrapolates the gradient even to levels far away; ncg and avg change both and lean the way the gradient points; pavg also knows how the two go together.",
        "Hover over a picture to read how a proposal would be accepted, and play to see steps of the chosen sampler.",
    ],
    paper: "Rhodes & Gutmann 2022, figures 1, 3 and 6, eq. 6, 8, 13 and 17",
};

// SPDX-License-Identifier: MIT
// The library for the other modules: models, chains that step, and figures of them. See bridge.h.
import factory from "engine-module";

let m;

export async function load() {
    m = await factory();
}

// A refusal of the library's, with the place in the text that it is about, or -1.
export class Refusal extends Error {
    constructor(place = -1) {
        super(m.UTF8ToString(m._play_error()));
        this.place = place;
    }
}

function need(good) {
    if (!good) throw new Refusal();
}

// Call use(pointers..) with room for texts, typed arrays (copied in), and numbers of bytes.
function withRoom(things, use) {
    const pointers = [];
    function room(bytes) {
        const p = m._malloc(bytes || 1);
        if (!p) throw new Error("The page is out of memory.");
        pointers.push(p);
        return p;
    }
    try {
        for (const thing of things) {
            if (thing === null || thing === undefined) {
                pointers.push(0);
            } else if (typeof thing === "string") {
                const n = m.lengthBytesUTF8(thing) + 1;
                m.stringToUTF8(thing, room(n), n);
            } else if (typeof thing === "number") {
                room(thing);
            } else {
                m.HEAPU8.set(new Uint8Array(thing.buffer, thing.byteOffset, thing.byteLength), room(thing.byteLength));
            }
        }
        return use(...pointers);
    } finally {
        pointers.forEach((p) => p && m._free(p));
    }
}

const doubles = (p, n) => m.HEAPF64.slice(p >> 3, (p >> 3) + n);
const ints = (p, n) => m.HEAP32.slice(p >> 2, (p >> 2) + n);

export const SPINS = 0, BINARY = 1, ORDINAL = 2;

// All states of two variables: number k has levels k mod n and k / n, as `plane` draws them.
export function statesOfPair(n) {
    return Int32Array.from({ length: 2 * n * n }, (_, i) => (i % 2 ? Math.floor(i / 2 / n) : (i / 2) % n));
}

export class Model {
    constructor(pointer) {
        this.pointer = pointer;
        this.variables = m._play_variables(pointer);
    }

    static ready(specification) {
        const pointer = withRoom([specification], (s) => m._play_model(s));
        need(pointer);
        return new Model(pointer);
    }

    // lattice: kind, rows, columns; of levels their number, low and high.
    static formula(text, lattice) {
        const l = { levels: 2, low: 0, high: 1, ...lattice };
        return withRoom([text, 4], (t, place) => {
            const pointer = m._play_formula(t, l.kind, l.rows, l.columns, l.levels, l.low, l.high, place);
            if (!pointer) throw new Refusal(m.HEAP32[place >> 2]);
            return new Model(pointer);
        });
    }

    states(variable) {
        return m._play_states(this.pointer, variable);
    }

    set(name, values) {
        need(withRoom([name, values], (n, v) => m._play_set(this.pointer, n, v)) === 0);
    }

    // f of states, an Int32Array of n rows.
    f(codes) {
        const n = codes.length / this.variables;
        return withRoom([codes, 8 * n], (c, f) => {
            need(m._play_f(this.pointer, n, c, f) === 0);
            return doubles(f, n);
        });
    }

    derivatives(codes) {
        let slots = 0;
        for (let v = 0; v < this.variables; v++) slots += this.states(v);
        return withRoom([codes, 8 * this.variables, 8 * slots], (c, g, d) => {
            need(m._play_derivatives(this.pointer, c, g, d) === 0);
            return { gradient: doubles(g, this.variables), differences: doubles(d, slots) };
        });
    }

    program() {
        const p = m._play_program(this.pointer);
        need(p);
        const text = m.UTF8ToString(p);
        m._free(p);
        return text;
    }

    // log q(to | from) of a sampler's step, before acceptance.
    logQ(sampler, step, from, to) {
        const n = to.length / this.variables;
        return withRoom([sampler, from, to, 8 * n], (s, a, b, q) => {
            need(m._play_log_q(this.pointer, s, step, a, n, b, q) === 0);
            return doubles(q, n);
        });
    }

    // n proposals from a state.
    draw(sampler, step, seed, from, n) {
        return withRoom([sampler, from, 4 * n * this.variables], (s, a, b) => {
            need(m._play_draw(this.pointer, s, step, seed, a, n, b) === 0);
            return ints(b, n * this.variables);
        });
    }

    close() {
        m._play_model_close(this.pointer);
    }
}

export class Walk {
    constructor(model, sampler, { step = 0, chains = 1, seed = 1, init = null, temperatures = null } = {}) {
        this.chains = chains;
        this.variables = model.variables;
        this.pointer = withRoom([sampler, init, temperatures], (s, i, t) =>
            m._play_walk_open(model.pointer, s, step, chains, seed, i, t));
        need(this.pointer);
    }

    step(n) {
        need(m._play_walk_step(this.pointer, n) === 0);
    }

    codes() {
        return ints(m._play_walk_codes(this.pointer), this.chains * this.variables);
    }

    setCodes(codes) {
        m.HEAP32.set(codes, m._play_walk_codes(this.pointer) >> 2);
        need(m._play_walk_refresh(this.pointer) === 0);
    }

    f() {
        return doubles(m._play_walk_f(this.pointer), this.chains);
    }

    setStep(step) {
        m._play_walk_set_step_size(this.pointer, step);
        need(m._play_walk_refresh(this.pointer) === 0);
    }

    setTemperature(temperature) {
        for (let c = 0; c < this.chains; c++) m._play_walk_set_temperature(this.pointer, c, temperature);
        need(m._play_walk_refresh(this.pointer) === 0);
    }

    // Since the last call: mean acceptance, mean distance of a step.
    means() {
        return withRoom([16], (p) => {
            m._play_walk_means(this.pointer, p);
            const [acceptance, jump] = doubles(p, 2);
            return { acceptance, jump };
        });
    }

    // Which neighbouring pairs of temperatures changed places.
    swap(parity) {
        return withRoom([this.chains], (p) => {
            need(m._play_walk_swap(this.pointer, parity, p) === 0);
            return m.HEAPU8.slice(p, p + this.chains);
        });
    }

    close() {
        m._play_walk_close(this.pointer);
    }
}

// Chains that go from noise down the levels of a denoising chain. The model's parameters are set.
export class Pass {
    // keep: shares of pixels that noise leaves; logits: of the noise; steps and stepSizes: of the
    // sampler at each level.
    constructor(model, sampler, { keep, logits, steps, stepSizes, chains = 1, seed = 1 }) {
        this.size = chains * logits.length;
        this.pointer = withRoom([sampler, Float64Array.from(keep), logits, Int32Array.from(steps), Float64Array.from(stepSizes)],
            (s, k, l, n, sizes) => m._play_pass_open(model.pointer, s, k, l, n, sizes, chains, seed));
        need(this.pointer);
    }

    // New noise.
    begin() {
        m._play_pass_begin(this.pointer);
    }

    // One level down: its number, 0 at the end.
    level() {
        const t = m._play_pass_level(this.pointer);
        need(t >= 0);
        return t;
    }

    codes() {
        return ints(m._play_pass_codes(this.pointer), this.size);
    }

    close() {
        m._play_pass_close(this.pointer);
    }
}

// The step size that warm-up finds; NaN for a sampler without one.
export function tune(model, sampler, chains, warmup, seed) {
    const step = withRoom([sampler], (s) => m._play_tune(model.pointer, s, chains, warmup, seed));
    need(!(step < 0));
    return step;
}

export function ess(x) {
    return withRoom([x], (p) => m._play_ess(x.length, p));
}

// x: chains after each other.
export function rhat(chains, x) {
    return withRoom([x], (p) => m._play_rhat(chains, x.length / chains, p));
}

// SPDX-License-Identifier: MIT
// Controls, addresses, and loops of the views.

export function element(name, attributes = {}, ...children) {
    const e = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
        else if (value === true) e.setAttribute(key, "");
        else if (value !== false && value !== null && value !== undefined) e.setAttribute(key, value);
    }
    e.append(...children);
    return e;
}

let ids = 0;

function labelled(text, control, extra = []) {
    control.id = control.id || `control-${ids++}`;
    return element("div", { class: "control" }, element("label", { for: control.id }, text), control, ...extra);
}

export function number(x, digits = 3) {
    if (x === null || Number.isNaN(x)) return "–";
    if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
    const size = Math.abs(x);
    const text = size !== 0 && (size >= 1e5 || size < 1e-3) ? x.toExponential(1) : String(Number(x.toPrecision(digits)));
    return text.replace("-", "−");
}

// A slider over a range [low, high, step]; `scale` "log" goes by factors.
export function slider(text, { range: [low, high, step = null], value, scale = "linear", change }) {
    const log = scale === "log";
    const to = (x) => (log ? Math.log(x) : x), from = (x) => (log ? Math.exp(x) : x);
    const shown = element("output", {}, number(value));
    const input = element("input", {
        type: "range", min: to(low), max: to(high), step: step ?? (to(high) - to(low)) / 100, value: to(value),
        "aria-valuetext": number(value),
        oninput: () => {
            const x = from(Number(input.value));
            shown.value = number(x);
            input.setAttribute("aria-valuetext", number(x));
            change(x);
        },
    });
    const box = labelled(text, input, [shown]);
    return box;
}

// Options are texts, or pairs of a key and the text that is shown.
export function choice(text, options, value, change) {
    const select = element("select", { onchange: () => change(select.value) },
        ...options.map((o) => (Array.isArray(o) ? o : [o, o])).map(([key, name]) => element("option", { value: key, selected: key === value }, name)));
    return labelled(text, select);
}

export function textBox(text, value, change, { rows = 1, maxlength = 400 } = {}) {
    const box = element(rows > 1 ? "textarea" : "input", {
        rows: rows > 1 ? rows : null, type: rows > 1 ? null : "text", spellcheck: "false", autocapitalize: "off", maxlength,
        oninput: () => change(box.value),
    });
    box.value = value;
    const all = labelled(text, box);
    all.classList.add("wide");
    all.input = box;
    return all;
}

export function button(text, press, attributes = {}) {
    return element("button", { type: "button", onclick: press, ...attributes }, text);
}

// The settings of a view in the address, which can be linked to: #view?key=value. Only what differs
// from the usual is there. `allowed` has ranges [low, high, step] and lists of texts; a setting
// without is a free text. What makes no sense counts for nothing.
export const address = {
    read(usual, allowed) {
        const state = { ...usual }, query = new URLSearchParams(location.hash.split("?")[1] ?? "");
        for (const [key, value] of query) {
            if (!Object.hasOwn(usual, key)) continue;
            if (typeof usual[key] !== "number") {
                if (!allowed[key] || allowed[key].includes(value)) state[key] = value;
            } else if (value !== "" && Number.isFinite(Number(value))) {
                const [low, high, step] = allowed[key], x = Math.min(Math.max(Number(value), low), high);
                state[key] = Number.isInteger(step) ? Math.round(x) : x;
            }
        }
        return state;
    },
    write(view, state, usual) {
        const query = new URLSearchParams();
        for (const key of Object.keys(usual)) {
            if (state[key] !== usual[key]) query.set(key, typeof state[key] === "number" ? String(Number(state[key].toPrecision(6))) : state[key]);
        }
        const text = String(query);
        history.replaceState(null, "", `#${view}${text && `?${text}`}`);
    },
};

const reduced = matchMedia("(prefers-reduced-motion: reduce)");

// What goes on while it plays: frame(false) each time the screen is drawn anew. Buttons to play and
// to make one frame, frame(true); what it throws is told in the notice `problem`. begin(end) plays at
// once, but for those who asked for less motion, and gives the function that leaves the view.
export function player(frame, problem, { playing = true } = {}) {
    let on = false, waiting = 0;
    const play = button("Play", () => set(!on), { class: "play" });
    const step = button("Step", () => { set(false); guarded(true); }, { class: "step" });
    const box = element("div", { class: "player" }, play, step);
    function guarded(asked = false) {
        try {
            frame(asked);
            return true;
        } catch (failure) {
            set(false);
            problem.tell(failure.message);
            return false;
        }
    }
    function tick() {
        waiting = 0;
        if (on && guarded() && on) waiting = requestAnimationFrame(tick);
    }
    function set(now) {
        on = now;
        play.textContent = on ? "Pause" : "Play";
        box.toggleAttribute("data-playing", on);
        if (on && !waiting) waiting = requestAnimationFrame(tick);
        if (!on && waiting) {
            cancelAnimationFrame(waiting);
            waiting = 0;
        }
    }
    box.begin = (end) => {
        set(playing && !reduced.matches);
        return () => {
            set(false);
            end();
        };
    };
    return box;
}

// A line where mistakes are told.
export function notice() {
    const line = element("p", { class: "notice", role: "alert", hidden: true });
    line.tell = (text) => {
        line.textContent = text;
        line.hidden = !text;
    };
    return line;
}

export function canvas(width, height, description) {
    return element("canvas", { width, height, role: "img", "aria-label": description });
}

// Names beside the lines that they have in a chart: [name, colour, dash].
export function legend(entries) {
    return element("span", { class: "legend" }, ...entries.map(([name, colour, dash]) => {
        const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
        picture.setAttribute("aria-hidden", "true");
        picture.innerHTML = `<line x1="0" y1="4" x2="32" y2="4" stroke="${colour}" stroke-width="3" stroke-dasharray="${dash.join(" ")}"/>`;
        return element("span", {}, picture, name);
    }));
}

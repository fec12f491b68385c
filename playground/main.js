// SPDX-License-Identifier: MIT
import { load } from "./engine.js";
import { address, element } from "./ui.js";
import bias from "./views/bias.js";
import digits from "./views/digits.js";
import formula from "./views/formula.js";
import proposals from "./views/proposals.js";
import race from "./views/race.js";
import tempering from "./views/tempering.js";

// A view is one file and one place here.
const views = [proposals, race, bias, tempering, digits, formula];

const stage = document.getElementById("stage"), menu = document.getElementById("menu");
let leave = null, shown = null;

function route() {
    const id = location.hash.slice(1).split("?")[0], view = views.find((v) => v.id === id) ?? views[0];
    const first = shown === null;
    leave?.();
    leave = null;
    shown = location.hash;
    for (const link of menu.querySelectorAll("a")) {
        if (link.hash === `#${view.id}`) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    }
    document.title = `${view.title} · Saltus`;
    const state = address.read(view.usual, view.allowed), work = element("div", { class: "work" });
    stage.replaceChildren(
        element("h2", { tabindex: "-1" }, view.title),
        ...view.text.map((sentence) => element("p", {}, sentence)),
        element("p", { class: "paper" }, `See ${view.paper}.`),
        work);
    try {
        leave = view.show(work, state, () => {
            address.write(view.id, state, view.usual);
            shown = location.hash;
        });
    } catch (problem) {
        work.append(element("p", { class: "notice", role: "alert" }, problem.message));
    }
    if (!first) stage.querySelector("h2").focus();
    document.body.dataset.view = view.id;
}

document.querySelector(".skip").addEventListener("click", (e) => {
    e.preventDefault();
    stage.querySelector("h2")?.focus();
});
menu.append(...views.map((view) => element("li", {}, element("a", { href: `#${view.id}` }, view.title))));
load().then(() => {
    addEventListener("hashchange", () => { if (location.hash !== shown) route(); });
    route();
    document.body.dataset.ready = "yes";
}, (failure) => {
    stage.replaceChildren(element("p", { class: "notice" }, `The engine did not start: ${failure.message}. It needs a browser with WebAssembly and SIMD, of 2021 or later.`));
});

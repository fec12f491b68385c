#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page of the playground in a browser: test_page.py PAGE.HTML."""
import pathlib
import sys
import time
import unittest

from browser import MISSING, Browser

VIEWS = ["proposals", "race", "bias", "tempering", "digits", "formula"]
LEFT, UP = "\ue012", "\ue013"

# All canvases of the view as one text.
PICTURES = "return [...document.querySelectorAll('#stage canvas')].map((c) => c.toDataURL()).join()"


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if MISSING:
            raise unittest.SkipTest(MISSING)
        cls.browser = Browser(1100, 900)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])

    def show(self, view, browser=None):
        b = browser or self.browser
        b.open("about:blank")
        b.open(f"{ADDRESS}#{view}")
        b.wait("document.body.dataset.ready === 'yes'")
        self.assertEqual(b.run("return document.body.dataset.view"), view.split("?")[0])
        self.assertEqual(b.run("return [...document.querySelectorAll('.notice')].map((n) => n.textContent).join('')"), "")

    def pause(self):
        self.browser.run("const play = document.querySelector('.play'); if (document.querySelector('.player[data-playing]')) play.click()")

    def slide(self, label, share):
        """Move a slider to a share of its way."""
        self.browser.run("""
            const label = [...document.querySelectorAll('.control label')].find((l) => l.textContent === arguments[0]);
            const input = document.getElementById(label.htmlFor);
            input.value = Number(input.min) + arguments[1] * (Number(input.max) - Number(input.min));
            input.dispatchEvent(new Event('input'))""", label, share)

    def choose(self, label, value):
        self.browser.run("""
            const label = [...document.querySelectorAll('.control label')].find((l) => l.textContent === arguments[0]);
            const select = document.getElementById(label.htmlFor);
            select.value = arguments[1];
            select.dispatchEvent(new Event('change'))""", label, value)

    def text(self, selector):
        return self.browser.run("return document.querySelector(arguments[0]).textContent", selector)

    def test_first_picture_comes_at_once(self):
        start = time.monotonic()
        self.show("proposals")
        self.assertLess(time.monotonic() - start, 10)  # a busy machine; about .3 s on an idle one

    def test_every_view_plays_and_steps(self):
        for view in VIEWS:
            with self.subTest(view=view):
                self.show(view)
                self.pause()
                before = self.browser.run(PICTURES)
                for _ in range(4):
                    self.browser.run("document.querySelector('.step').click()")
                self.assertNotEqual(self.browser.run(PICTURES), before)
                self.assertGreaterEqual(self.browser.run("return document.querySelectorAll('#stage > p').length"), 4)

    def test_views_are_linked_from_the_menu(self):
        self.show("race")
        self.browser.run("document.querySelector('nav a[href=\"#digits\"]').click()")
        self.browser.wait("document.body.dataset.view === 'digits'")
        self.assertEqual(self.browser.run("return document.querySelector('[aria-current]').textContent"), "Digits")

    def test_a_drag_moves_the_state(self):
        self.show("proposals")
        self.browser.drag("canvas.draggable", (0.2, 0.8), (0.5, 0.5), (0.71, 0.31))
        self.browser.wait("location.hash.includes('x=35') && location.hash.includes('y=34')")
        self.browser.press("canvas.draggable", LEFT)
        self.browser.press("canvas.draggable", UP)
        self.browser.wait("location.hash.includes('x=34') && location.hash.includes('y=35')")

    def test_sliders_change_pictures_and_the_address(self):
        for view, label in [("proposals", "Step size ε"), ("proposals", "Radius"), ("race", "Side"), ("race", "Coupling θ"),
                            ("bias", "Step size ε"), ("tempering", "The hottest"), ("formula", "Side")]:
            with self.subTest(view=view, label=label):
                self.show(view)
                self.pause()
                before = self.browser.run(PICTURES)
                self.slide(label, 0.9)
                self.browser.wait(f"(() => {{ {PICTURES} }})() !== arguments[0]", before)
                self.assertIn("=", self.browser.run("return location.hash"))

    def test_an_address_brings_a_view_back(self):
        self.show("race?side=16&theta=0.3&a=pas&b=none&c=none")
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('.lane')].length"), 1)
        self.assertEqual(self.text(".lane figcaption"), "pas")
        self.assertEqual(self.browser.run("return document.querySelector('.lane canvas').width"), 64)
        self.show("race?side=none&theta=&what=5")  # what makes no sense counts for nothing
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('.lane')].length"), 3)

    def test_addresses_without_sense_do_no_harm(self):
        for address in ["proposals?x=1000&y=-7&eps=-1&radius=0&sampler=foo", "race?side=100000&labels=0&a=foo&model=xyz", "bias?eps=-1&theta=1e9",
                        "tempering?replicas=0&hottest=0&apart=10&every=0&sampler=foo", "digits?temperature=0&each=1e9&model=foo",
                        "digits?model=rbm&temperature=0&each=1e9&sampler=foo", "formula?side=1e9&each=-1&sampler=foo&constructor=1",
                        "no-such-view?x=1"]:
            with self.subTest(address=address):
                self.browser.open("about:blank")
                self.browser.open(f"{ADDRESS}#{address}")
                self.browser.wait("document.body.dataset.ready === 'yes'")
                self.pause()
                self.browser.run("document.querySelector('.step').click()")
                self.assertEqual(self.browser.run("return [...document.querySelectorAll('.notice')].map((n) => n.textContent).join('')"), "")

    def test_a_bad_formula_in_the_address_breaks_nothing(self):
        for view in ("formula?f=sum(", "proposals?target=formula&f=x[9]"):
            self.browser.open("about:blank")
            self.browser.open(f"{ADDRESS}#{view}")
            self.browser.wait("document.body.dataset.ready === 'yes'")
            self.assertNotEqual(self.text(".notice"), "")
            self.slide("Side" if view.startswith("formula") else "Radius", 0.7)
            self.browser.run("document.querySelector('.step').click()")

    def test_the_skip_link_stays_in_the_view(self):
        self.show("bias")
        self.browser.run("document.querySelector('.skip').click()")
        self.assertEqual(self.browser.run("return document.activeElement.textContent"), "Bias")
        self.assertEqual(self.browser.run("return document.body.dataset.view"), "bias")

    def test_proposals_are_the_library_s(self):
        """By hand: the window of mh-uniform has (2 * 3 + 1)^2 states, all alike."""
        self.show("proposals?radius=3")
        self.browser.run("""
            const panel = [...document.querySelectorAll('.small-multiples figure')].find((f) => f.textContent === 'mh-uniform');
            const c = panel.querySelector('canvas'), b = c.getBoundingClientRect();
            c.dispatchEvent(new PointerEvent('pointermove', {clientX: b.left + b.width * 10.5 / 50, clientY: b.top + b.height * (49 - 6 + .5) / 50}))""")
        self.assertRegex(self.text(".said"), r"mh-uniform: proposed with probability 0\.020[48]")

    def test_the_unadjusted_stop_and_the_adjusted_go_on(self):
        self.show("bias?eps=4")
        self.pause()
        for _ in range(60):
            self.browser.run("for (let k = 0; k < 5; k++) document.querySelector('.step').click()")
        said = self.text(".said")
        ncg, dula = (float(said.split(name + " ")[1].split(",")[0]) for name in ("ncg", "dula"))
        self.assertLess(ncg, 0.06)
        self.assertGreater(dula, 0.1)

    def test_swaps_bring_the_chain_to_both_hills(self):
        share = {}
        for swaps in ("on", "off"):
            self.show(f"tempering?swaps={swaps}&speed=60")
            self.pause()
            self.browser.run("for (let k = 0; k < 1500; k++) document.querySelector('.step').click()")
            share[swaps] = float(self.text(".said").split(" for ")[1].split(" of")[0])
        self.assertEqual(share["off"], 0)
        self.assertTrue(0.4 < share["on"] < 0.9, share)

    def step(self):
        self.browser.run("document.querySelector('.step').click()")

    def digits(self):
        """White pixels of the pictures of digits, as seen in the page: [32][16 x 16]."""
        return self.browser.run("""
            const c = document.querySelector('#stage .beside canvas'), side = 16, step = side + 2, across = 8, down = 4;
            const wide = c.width / (across * step - 2), high = c.height / (down * step - 2), copy = new OffscreenCanvas(c.width, c.height);
            const g = copy.getContext('2d', {willReadFrequently: true});
            g.drawImage(c, 0, 0);
            const seen = g.getImageData(0, 0, c.width, c.height);
            return Array.from({length: across * down}, (_, k) => Array.from({length: side * side}, (_, v) => {
                const row = Math.floor(k / across) * step + Math.floor(v / side), column = k % across * step + v % side;
                return seen.data[4 * (Math.floor((row + .5) * high) * c.width + Math.floor((column + .5) * wide))] > 140;
            }));""")

    def test_a_denoising_chain_goes_from_noise_to_digits(self):
        def differing(pictures):  # share of pixels unlike the one on the left
            return sum(p[v] != p[v - 1] for p in pictures for v in range(256) if v % 16) / (len(pictures) * 240)

        self.show("digits")
        self.pause()
        self.browser.run("[...document.querySelectorAll('button')].find((b) => b.textContent === 'New noise').click()")
        self.assertEqual(self.text(".said"), "Noise")
        noise = self.digits()
        for level in range(7, -1, -1):
            before = self.browser.run(PICTURES)
            self.step()
            self.assertRegex(self.text(".said"), rf"Level {level}: \d+ steps" if level else r"Digits, after level 0: \d+ steps")
            self.assertNotEqual(self.browser.run(PICTURES), before)
        digits = self.digits()
        shares = [sum(p) / 256 for p in digits]
        self.assertTrue(0.18 < sum(shares) / 32 < 0.34, shares)  # of the training digits .256, from .01 to .65
        self.assertTrue(all(0.01 < share < 0.65 for share in shares), shares)
        self.assertLess(differing(digits), 0.7 * differing(noise))
        self.step()
        self.assertEqual(self.text(".said"), "Noise")

    def test_a_denoising_chain_plays(self):
        self.show("digits")
        for said in ("Level 3", "Digits", "Noise"):
            self.browser.wait("document.querySelector('.said').textContent.startsWith(arguments[0])", said)

    def test_digits_have_two_models(self):
        controls = "return [...document.querySelectorAll('.controls label, .controls button')].map((e) => e.textContent)"
        self.show("digits")
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('select option:checked')].map((e) => e.textContent)"),
                         ["Denoising chain"])
        self.assertNotIn("Brush", self.browser.run(controls))
        self.assertIn("take the RBM", self.text("#stage"))
        self.choose("Model", "rbm")
        self.assertEqual(self.browser.run("return location.hash"), "#digits?model=rbm")
        self.assertTrue({"Brush", "Temperature", "Sampler", "Steps a picture", "Clear"} <= set(self.browser.run(controls)))
        self.choose("Model", "chain")
        self.assertEqual(self.browser.run("return location.hash"), "#digits")
        self.assertNotIn("Temperature", self.browser.run(controls))

    def test_drawing_gives_pixels(self):
        self.show("digits")
        self.choose("Model", "rbm")
        self.browser.drag("#stage .beside figure:nth-child(2) canvas", (0.5, 0.2), (0.5, 0.5), (0.5, 0.8))
        self.browser.wait("/[0-9]+ pixels are given/.test(document.querySelector('.said').textContent)")
        self.assertGreater(int(self.text(".said").split()[0]), 2)
        self.assertEqual(self.text(".notice"), "")
        self.pause()
        for sampler in ("block-gibbs", "gibbs", "ncg"):
            self.choose("Sampler", sampler)
            before = self.browser.run(PICTURES)
            for _ in range(3):
                self.browser.run("document.querySelector('.step').click()")
            self.assertNotEqual(self.browser.run(PICTURES), before, sampler)
            self.assertEqual(self.text(".notice"), "", sampler)
        self.browser.run("[...document.querySelectorAll('button')].find((b) => b.textContent === 'Clear').click()")
        self.assertEqual(self.text(".said"), "")

    def type_formula(self, text):
        self.browser.run("""const box = document.querySelector('textarea');
            box.value = arguments[0]; box.dispatchEvent(new Event('input'))""", text)

    def test_a_wrong_formula_gets_its_message_at_the_place(self):
        self.show("formula")
        self.type_formula("0.4 sum(i~j: x[i] x[k])")
        self.assertIn("expected a number, i or j between the brackets of x[..] (here: 0.4 sum(i~j: x[i] x[▸k])", self.text(".notice"))
        self.assertEqual(self.browser.run("return document.querySelector('textarea').getAttribute('aria-invalid')"), "true")
        self.type_formula("0.4 sum(i~j: x[i] x[j])")
        self.assertEqual(self.text(".notice"), "")
        self.assertIn("edges", self.text("pre"))
        self.type_formula("1 / 0")
        self.assertNotEqual(self.text(".notice"), "")

    def test_samplers_that_cannot_are_told(self):
        self.show("race")
        self.choose("Lattice", "potts")
        self.choose("Sampler 4", "pavg")
        self.pause()
        self.browser.run("document.querySelector('.step').click()")

    def test_on_a_phone_in_the_dark_with_less_motion(self):
        phone = Browser(390, 800, dark=True, reduced_motion=True)
        try:
            for view in VIEWS:
                with self.subTest(view=view):
                    self.show(view, phone)
                    self.assertEqual(phone.run("return innerWidth"), 390)
                    self.assertLessEqual(phone.run("return document.documentElement.scrollWidth"), phone.run("return innerWidth"))
                    self.assertEqual(phone.run("return document.querySelectorAll('.player[data-playing]').length"), 0)
                    unnamed = phone.run("""return [...document.querySelectorAll('input, select, textarea, button, canvas')].filter((e) =>
                        !(e.textContent || e.getAttribute('aria-label') || document.querySelector(`label[for="${e.id}"]`))).length""")
                    self.assertEqual(unnamed, 0)
            self.assertEqual(phone.run("return matchMedia('(prefers-color-scheme: dark)').matches"), True)
            self.assertEqual(phone.complaints(), [])
        finally:
            phone.close()

    def test_nothing_is_asked_of_other_hosts(self):
        self.show("digits")
        names = self.browser.run("return performance.getEntriesByType('resource').map((e) => e.name)")
        self.assertEqual([name for name in names if not name.startswith("data:")], [])


if __name__ == "__main__":
    ADDRESS = pathlib.Path(sys.argv.pop()).resolve().as_uri()
    unittest.main()

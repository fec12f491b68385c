# SPDX-License-Identifier: MIT
"""A browser without a window, through chromedriver and the WebDriver protocol of the W3C."""
import base64
import contextlib
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

MISSING = None if shutil.which("chromedriver") and shutil.which("chromium") else "chromium and its driver are not installed"


class Failure(Exception):
    """What the browser refused, or a script threw."""


class Browser:
    def __init__(self, width=1100, height=900, dark=False, reduced_motion=False):
        with contextlib.closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.driver = subprocess.Popen(["chromedriver", f"--port={self.port}"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        self.profile = tempfile.mkdtemp()
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--window-size={width},{height}",
                 "--hide-scrollbars", f"--user-data-dir={self.profile}", "--disable-dev-shm-usage"]
        flags += ["--force-dark-mode", "--blink-settings=preferredColorScheme=0"] if dark else []
        flags += ["--force-prefers-reduced-motion"] if reduced_motion else []
        chrome = {"args": flags}
        if width < 500:  # windows are not that narrow
            chrome["mobileEmulation"] = {"deviceMetrics": {"width": width, "height": height, "pixelRatio": 1}}
        self.session = None
        for attempt in range(100):
            try:
                self.session = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": {
                    "goog:chromeOptions": chrome, "goog:loggingPrefs": {"browser": "ALL"}}}})["sessionId"]
                break
            except (OSError, Failure):
                if attempt == 99:
                    raise
                time.sleep(0.1)

    def _ask(self, method, path, body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise Failure(json.load(error)["value"]["message"]) from None

    def ask(self, method, path, body=None):
        return self._ask(method, f"/session/{self.session}{path}", body)

    def open(self, address):
        self.ask("POST", "/url", {"url": address})

    def run(self, script, *arguments):
        """The value of a function's body."""
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, condition, *arguments, seconds=30):
        """Until an expression is true."""
        end = time.monotonic() + seconds
        while not self.run(f"const given = arguments; return Boolean(((...arguments) => {condition})(...given))", *arguments):
            if time.monotonic() > end:
                raise Failure(f"not within {seconds} s: {condition}")
            time.sleep(0.05)

    def drag(self, selector, *points):
        """Press the mouse at the first of the points, shares of an element's size, and let it go at the last."""
        box = self.run("const e = document.querySelector(arguments[0]); e.scrollIntoView({block: 'center'});"
                       "const b = e.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]", selector)
        moves = [{"type": "pointerMove", "duration": 20, "x": round(box[0] + x * box[2]), "y": round(box[1] + y * box[3])}
                 for x, y in points]
        steps = [moves[0], {"type": "pointerDown", "button": 0}, *moves[1:], {"type": "pointerUp", "button": 0}]
        self.ask("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": steps}]})

    def press(self, selector, key):
        self.run("document.querySelector(arguments[0]).focus()", selector)
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": [
            {"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]}]})

    def complaints(self):
        """What the page wrote to the console, of warnings and worse."""
        return [entry["message"] for entry in self.ask("POST", "/se/log", {"type": "browser"})
                if entry["level"] in ("WARNING", "SEVERE")]

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("GET", "/screenshot")))

    def close(self):
        try:
            self.ask("DELETE", "")
        except (OSError, Failure):
            pass
        self.driver.terminate()
        self.driver.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

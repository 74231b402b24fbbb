"""Chromium without a window, driven over a pipe by its own DevTools protocol: no driver, no port, no network."""

from __future__ import annotations

import base64
import fcntl
import itertools
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_WITHIN = 60.0  # seconds after which an answer does not come any more
_KEYS = {
    "Enter": ("\r", 13),
    "Escape": ("", 27),
    "Tab": ("", 9),
    "PageUp": ("", 33),
    "PageDown": ("", 34),
    "End": ("", 35),
    "Home": ("", 36),
    "ArrowLeft": ("", 37),
    "ArrowUp": ("", 38),
    "ArrowRight": ("", 39),
    "ArrowDown": ("", 40),
}


def chromium() -> str | None:
    """The browser's path; None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def _high(descriptor: int) -> int:
    """The same open file under a number that is none of the protocol's."""
    found = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return found


class BrowserError(Exception):
    """The browser did not do what it was asked."""


class Browser:
    """A browser of its own profile, that cannot reach any other host than this one."""

    def __init__(self, program: str, profile: Path) -> None:
        to_read, self._to = map(_high, os.pipe())
        self._from, to_write = map(_high, os.pipe())
        # The protocol is spoken on descriptors 3 and 4; not every sh knows those above 9.
        command = [
            "bash", "-c", f'exec "$0" "$@" 3<&{to_read} 4>&{to_write}', program,
            "--headless=new", "--no-sandbox", "--remote-debugging-pipe", f"--user-data-dir={profile}",
            "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            "--force-device-scale-factor=1", "--hide-scrollbars",
        ]  # fmt: skip
        self._process = subprocess.Popen(
            command, pass_fds=(to_read, to_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_read)
        os.close(to_write)
        self._numbers = itertools.count(1)
        self._rest = b""
        self.events: list[dict[str, Any]] = []

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(_WITHIN)
        os.close(self._to)
        os.close(self._from)

    def page(self) -> Page:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Page(self, session, target)

    def call(self, method: str, session: str | None = None, **params: Any) -> Any:
        """The result of a command. Raises BrowserError."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + _WITHIN
        while time.monotonic() < until:
            answer = self._read()
            if answer.get("id") != number:
                self.events.append(answer)
            elif "error" in answer:
                raise BrowserError(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]
        raise BrowserError(f"{method}: no answer")

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            piece = os.read(self._from, 1 << 20)
            if not piece:
                raise BrowserError("the browser has gone")
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(line)
        return found


class Page:
    """One tab. Coordinates are CSS pixels of what is seen."""

    def __init__(self, browser: Browser, session: str, target: str) -> None:
        self.browser, self.session, self.target = browser, session, target
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> Any:
        return self.browser.call(method, self.session, **params)

    def close(self) -> None:
        self.browser.call("Target.closeTarget", targetId=self.target)

    def resize(self, width: int, height: int) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def scheme(self, name: str) -> None:
        """ "light" or "dark"."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def open(self, file: Path) -> None:
        """Returns when the page and its script have run."""
        self.visit(file.resolve().as_uri())

    def visit(self, address: str) -> None:
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete'")

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression. Raises BrowserError where it throws."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            told = found["exceptionDetails"]
            raise BrowserError(told.get("exception", {}).get("description", told["text"]))
        return found["result"].get("value")

    def wait(self, condition: str) -> None:
        """Until a JavaScript expression is true."""
        until = time.monotonic() + _WITHIN
        while not self.run(condition):
            if time.monotonic() > until:
                raise BrowserError(f"never came true: {condition}")
            self.settle()

    def settle(self) -> None:
        """Until what was changed is drawn."""
        self.run(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
        )

    def key(self, key: str) -> None:
        text, code = _KEYS.get(key, (key, ord(key[0].upper())))
        event = {"key": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)
        self.settle()

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)
        self.settle()

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """kind: "mouseMoved", "mousePressed", "mouseReleased" or "mouseWheel"."""
        if kind in ("mousePressed", "mouseReleased"):
            more = {"button": "left", "clickCount": 1, **more}
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, selector: str) -> None:
        """On the middle of the first element of a selector, brought into view."""
        found = json.dumps(selector)
        x, y = self.run(
            f"(() => {{ const one = document.querySelector({found}); one.scrollIntoView({{block: 'center'}});"
            " const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        self.click_at(x, y)

    def click_at(self, x: float, y: float) -> None:
        self.mouse("mousePressed", x, y)
        self.mouse("mouseReleased", x, y)
        self.settle()

    def screenshot(self, whole: bool = False) -> bytes:
        """PNG of what is seen, or of the whole page."""
        found = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        return base64.b64decode(found["data"])

    def requests(self) -> list[str]:
        """Addresses that pages asked for, without the pages themselves."""
        return [
            event["params"]["request"]["url"]
            for event in self._events("Network.requestWillBeSent")
            if event["params"]["type"] != "Document"
        ]

    def complaints(self) -> list[str]:
        """Exceptions, errors and warnings on the console."""
        found = [event["params"]["exceptionDetails"]["text"] + " "
                 + event["params"]["exceptionDetails"].get("exception", {}).get("description", "")
                 for event in self._events("Runtime.exceptionThrown")]  # fmt: skip
        found += [event["params"]["entry"]["text"] for event in self._events("Log.entryAdded")]
        for event in self._events("Runtime.consoleAPICalled"):
            found.append(" ".join(str(one.get("value")) for one in event["params"]["args"]))
        return found

    def _events(self, method: str) -> list[dict[str, Any]]:
        self.settle()
        return [
            event
            for event in self.browser.events
            if event.get("method") == method and event.get("sessionId") == self.session
        ]

"""A headless browser that opens pages: what they show, and that they make no request and have no error."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"> $$x^2$$ @x {safe} &amp;"
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-dev-shm-usage",
    "--window-size=1000,700",
    "--remote-debugging-port=0",
    "--remote-allow-origins=*",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)


class Tab:
    """A page in a browser, controlled by the Chrome DevTools protocol."""

    def __init__(self, socket: Any) -> None:
        self.socket, self.numbers = socket, itertools.count(1)
        self.events: list[dict[str, Any]] = []

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self.numbers)
        await self.socket.write_message(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(await asyncio.wait_for(self.socket.read_message(), 60))
            if message.get("id") == number:
                assert "error" not in message, message
                return message["result"]
            self.events.append(message)

    async def value(self, expression: str) -> Any:
        result = await self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    async def until(self, expression: str) -> None:
        for _ in range(200):
            if await self.value(expression):
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"never true: {expression}")

    async def screenshot(self) -> np.ndarray:
        from matplotlib.image import imread

        data = (await self.call("Page.captureScreenshot", format="png"))["data"]
        return np.round(255 * imread(BytesIO(base64.b64decode(data)), format="png")).astype(int)[..., :3]

    def of_kind(self, method: str) -> list[dict[str, Any]]:
        return [event["params"] for event in self.events if event["method"] == method]


def run_browser(profile: Path) -> Iterator[int]:
    """Start the browser, and yield the port of its debugger until the tests are done."""
    assert BROWSER is not None
    process = subprocess.Popen(
        [
            BROWSER,
            *FLAGS,
            "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
            f"--user-data-dir={profile}",
            "about:blank",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    port = profile / "DevToolsActivePort"
    for _ in range(600):
        if port.exists() and port.read_text().strip():
            break
        assert process.poll() is None, "the browser ended"
        time.sleep(0.05)
    yield int(port.read_text().split()[0])
    process.terminate()
    process.wait(20)


def visit(port: int, path: Path, look: Any, ready: str) -> Any:
    """Open the page, wait until `ready` is true, inspect it; it must have no error and make no request."""
    from tornado.websocket import websocket_connect

    async def run() -> Any:
        request = urllib.request.Request(f"http://127.0.0.1:{port}/json/new?about:blank", method="PUT")
        with urllib.request.urlopen(request) as answer:
            target = json.load(answer)
        socket = await websocket_connect(target["webSocketDebuggerUrl"], max_message_size=1 << 28)
        tab = Tab(socket)
        for domain in ("Page", "Runtime", "Log", "Network"):
            await tab.call(f"{domain}.enable")
        await tab.call("Page.navigate", url=path.as_uri())
        await tab.until(ready)
        result = await look(tab)
        requests = {event["request"]["url"].partition(":")[0] for event in tab.of_kind("Network.requestWillBeSent")}
        assert requests <= {"file", "data", "blob"}, requests
        assert not tab.of_kind("Runtime.exceptionThrown")
        assert not [e for e in tab.of_kind("Log.entryAdded") if e["entry"]["level"] == "error"]
        assert not [e for e in tab.of_kind("Runtime.consoleAPICalled") if e["type"] in ("error", "warning", "assert")]
        socket.close()
        while await socket.read_message() is not None:
            pass  # until it is closed on both sides
        with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/json/close/{target['id']}"):
            pass
        return result

    return asyncio.run(run())

"""Python in a process of its own: for signals, for what is read at the start, and for what must not be loaded."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap


def hear_ctrl_c() -> None:
    """In a child: Ctrl-C as in a terminal, also where the tests run in the background of a shell, which ignores it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run_python(code: str, *words: str, timeout: float = 120, **environment: str) -> str:
    """What the code prints; it must come to a good end."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *words],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        preexec_fn=hear_ctrl_c if os.name == "posix" else None,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()

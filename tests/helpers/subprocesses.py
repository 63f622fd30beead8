"""Python in a process of its own: for signals, for what is read at the start, and for what must not be loaded."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap


def run_python(code: str, *words: str, timeout: float = 120, **environment: str) -> str:
    """What the code prints; it must come to a good end."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *words],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()

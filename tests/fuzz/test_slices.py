"""A short slice of every fuzzing target, with fixed numbers; `make fuzz` goes on from there."""

from __future__ import annotations

import pytest

from fuzzing import TARGETS, attempt

SLICE = {"commands": 40, "values": 250, "functions": 200, "parameters": 200, "checkpoints": 25}


@pytest.mark.parametrize("target", TARGETS)
def test_a_slice(target):
    endings = {}
    for number in range(SLICE.get(target, 120)):
        ending, story = attempt(target, number)
        endings.setdefault(ending, f"{target} {number}: {story}")
    assert {"finite", "named"} <= set(endings)  # else the attempts would prove nothing
    assert set(endings) == {"finite", "named"}, endings

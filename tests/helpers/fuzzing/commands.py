"""Attempts with command lines: words from the command line's own vocabulary and from outside it."""

from __future__ import annotations

import contextlib
import io
import os
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["make"]

COMMANDS = [
    "map",
    "choose",
    "diagnose",
    "subspace",
    "compare",
    "recommend",
    "select",
    "tour",
    "plot",
    "fit",
    "transform",
    "inverse",
    "methods",
    "datasets",
    "config",
    "nonsense",
]
DATA = ["iris", "digits", "table.csv", "broken.csv", "empty.csv", "missing.csv", "folder", "model.lowdim", "swiss_roll"]
METHODS = [
    "pca",
    "umap",
    "tsne",
    "mds",
    "isomap",
    "lle",
    "kernelpca",
    "classicalmds",
    "laplacianeigenmaps",
    "proclus",
    "lda",
    "sir",
    "ica",
    "mca",
    "famd",
    "ca",
    "truncatedsvd",
    "relieff",
    "mrmr",
    "clique",
    "x",
]
FLAGS = {
    "--method": METHODS,
    "-o": ["out.png", "out.html", "out.csv", "out.npz", "out.parquet", "out.svg", "no/folder/out.png", "out", "folder"],
    "--label": ["species", "a", "k", "none", ""],
    "--color": ["species", "a", "k", "none", ""],
    "--id": ["a", "none"],
    "--drop": ["a", "k", "a,b", "k,k", '"', "none"],
    "--columns": ["a", "a,b", "none", ""],
    "--missing": ["em", "error", "drop-rows", "x"],
    "--methods": ["pca,umap", "pca,x", "", ",", "lda"],
    "--target": ["species", "a", "k", "none", ""],
    "--encode": ["one-hot", "gower", "x"],
    "--metric": ["cosine", "gower", "haversine", "jaccard", "x"],
    "--k": ["1", "3", "0", "10000", "0.5", "x"],
    "--cv": ["2", "0", "x"],
    "--resamples": ["2", "0", "x"],
    "--kind": ["grand", "guided", "loadings", "biplot", "x"],
    "--index": ["holes", "lda", "x"],
    "--seconds": ["1", "0", "nan", "x"],
    "--numeric-only": [None],
    "--standardize": [None],
    "--n-components": ["1", "2", "3", "0", "-1", "99", "0.9", "nan", "parallel", "x", "1e400"],
    "--n-jobs": ["1", "2", "0", "-1", "99999999999999999999", "x"],
    "--random-state": ["0", "-1", "1e3", "x"],
    "--n-neighbors": ["2", "5", "0", "10000", "x"],
    "--max-iter": ["3", "0", "x"],
    "--no-standardize": [None],
    "--json": [None],
    "--quiet": [None],
    "--help": [None],
    "--debug": [None],
    "--nonsense": ["x", None],
}
EXIT_CODES = range(6)
WORDS = ["\0", "é", "--", "-", "", "a b", "=1", "🙂", "%s", "x" * 3000]
FILES = {
    "table.csv": "a,b,k\n" + "".join(f"{i},{i * i % 7},{'xy'[i % 2]}\n" for i in range(20)),
    "broken.csv": 'a,b\n1,"2\n3\n',
    "empty.csv": "",
    "missing.csv": "a,b\n1,\n,2\n,\n3,4\n5,6\n",
    "model.lowdim": "not a model",
}


def make(r: random.Random) -> tuple[str, Callable[[], Any]]:
    """A command line; it must end with a documented exit code, and say what is wrong without a traceback."""
    command = r.choice(COMMANDS)
    words = [command]
    if command not in ("methods", "datasets", "config", "nonsense") and r.random() < 0.95:
        words += [r.choice(DATA) for _ in range(1 + (command in ("transform", "inverse")))]
    for _ in range(r.choice([0, 1, 1, 2, 3])):
        flag = r.choice(sorted(FLAGS))
        value = r.choice(FLAGS[flag])
        words += [flag] if value is None else [flag, value]
    if r.random() < 0.1:
        words.insert(r.randrange(len(words) + 1), r.choice(WORDS))
    if "digits" in words or "swiss_roll" in words:  # slow methods get the small table
        words = ["iris" if word in ("digits", "swiss_roll") else word for word in words]
    return " ".join(words), lambda: _run(words)


def _run(words: list[str]) -> None:
    from lowdim.cli import main
    from lowdim.errors import BadParameter

    out, err = io.StringIO(), io.StringIO()
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for name, text in FILES.items():
                Path(name).write_text(text)
            Path("folder").mkdir()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = main(words)
        finally:
            os.chdir(before)
    text = err.getvalue()
    if ("Traceback" in text and "--debug" not in words) or text.startswith("error: unexpected"):
        raise AssertionError(text[-300:])
    if code not in EXIT_CODES:
        raise AssertionError(f"exit code {code}: {text[-300:]}")
    if code:
        if not text.strip():
            raise AssertionError(f"exit code {code} without a word")
        raise BadParameter(text[-300:])

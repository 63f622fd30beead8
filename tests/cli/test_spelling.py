"""Flags only on the command line, arguments only in Python."""

from __future__ import annotations

import pytest

from lowdim.cli import main
from lowdim.cli.spelling import as_flags


@pytest.mark.parametrize(
    ("python", "flags"),
    [
        ("n_components=2 must be at most 1: ask for fewer.", "--n-components 2 must be at most 1: ask for fewer."),
        ("ICA did not converge within max_iter=2. Raise max_iter or tol.",
         "ICA did not converge within --max-iter 2. Raise --max-iter or tol."),
        ("or use PCA(missing='em'), which handles NaN.", "or use --missing em, which handles NaN."),
        ("a method with metric='precomputed'.", "a method with --metric precomputed."),
        ("UMAP: n_neighbors must be a whole number", "UMAP: --n-neighbors must be a whole number"),
        ("use PCA(standardize=True) or whiten=False", "use --standardize or --no-whiten"),
        ("x.csv: column 'max_iter' of the file", "x.csv: column 'max_iter' of the file"),
        ("a_max_iter=3 stays, as do my_tol and --max-iter 3", "a_max_iter=3 stays, as do my_tol and --max-iter 3"),
        ("no parameter at all: index, order, metric", "no parameter at all: index, order, metric"),
    ],
)  # fmt: skip
def test_parameters_become_flags(python, flags):
    assert as_flags(python) == flags


def test_errors_and_warnings_of_a_method(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.csv").write_text("a\n1\n2\n4\n")
    assert main(["map", "one.csv", "-o", "z.csv"]) == 4
    assert "--n-components 2 must be at most 1" in capsys.readouterr().err
    assert main(["map", "wine", "--method", "ica", "--max-iter", "1", "-o", "z.csv"]) == 0
    err = capsys.readouterr().err
    assert "--max-iter 1" in err and "max_iter" not in err

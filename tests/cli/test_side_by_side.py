"""Files written side by side: the figure in a forked process, whose errors and warnings are those of this one."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from lowdim.errors import BadInput, LowdimWarning
from lowdim.runtime.warning import warn
from lowdim.workflow import side_by_side
from lowdim.workflow.side_by_side import write_side_by_side

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a command forks on Linux only")


@pytest.fixture(autouse=True)
def _command_with_two_cores(monkeypatch) -> None:
    monkeypatch.setattr(side_by_side, "is_command", lambda: True)
    monkeypatch.setattr(side_by_side, "thread_count", lambda: 2)


def test_figures_are_written_by_another_process(tmp_path) -> None:
    def write(name):
        return lambda: (tmp_path / name).write_text(str(os.getpid()))

    write_side_by_side([write("figure"), write("second")], [write("page")])
    figure, second, page = ((tmp_path / name).read_text() for name in ("figure", "second", "page"))
    assert figure == second != page == str(os.getpid())


def test_one_kind_of_file_needs_no_fork(tmp_path) -> None:
    found = []
    write_side_by_side([lambda: found.append(os.getpid())], [])
    write_side_by_side([], [lambda: found.append(os.getpid())])
    assert found == [os.getpid()] * 2


def test_an_error_of_the_figure_is_raised_here() -> None:
    def refuse() -> None:
        raise BadInput("no picture")

    with pytest.raises(BadInput, match="no picture"):
        write_side_by_side([refuse], [lambda: None])


def test_a_warning_of_the_figure_is_given_here(tmp_path) -> None:
    def draw() -> None:
        warn("too many colors")
        (tmp_path / "figure").write_text(str(os.getpid()))

    with pytest.warns(LowdimWarning, match="too many colors"):
        write_side_by_side([draw], [lambda: None])
    assert (tmp_path / "figure").read_text() == str(os.getpid())


def test_a_figure_whose_process_dies_is_drawn_here(tmp_path) -> None:
    parent = os.getpid()

    def draw() -> None:
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        (tmp_path / "figure").write_text("drawn")

    write_side_by_side([draw], [lambda: None])
    assert (tmp_path / "figure").read_text() == "drawn"


def test_an_error_here_ends_the_other_process(tmp_path) -> None:
    import time

    from lowdim.runtime.atomic_write import atomic_write

    began = tmp_path / "began"

    def draw() -> None:
        with atomic_write(tmp_path / "figure.png") as draft:
            draft.write_text("half")
            (tmp_path / "starting").write_text(str(os.getpid()))
            (tmp_path / "starting").rename(began)
            time.sleep(60)

    def refuse() -> None:
        while not began.exists():
            time.sleep(0.001)
        raise BadInput("no page")

    with pytest.raises(BadInput, match="no page"):
        write_side_by_side([draw], [refuse])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["began"]  # no draft is left
    with pytest.raises(ProcessLookupError):  # it is gone, and no zombie is left
        os.kill(int(began.read_text()), 0)

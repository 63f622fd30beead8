"""Files written side by side: pages and figures in forked processes; errors and warnings are those of this one."""

from __future__ import annotations

import os
import signal
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from lowdim.errors import BadInput, LowdimWarning
from lowdim.runtime.warning import warn
from lowdim.workflow import side_by_side
from lowdim.workflow.side_by_side import writers_beside

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a command forks on Linux only")

HERE = os.getpid()  # a forked process has this number too


@pytest.fixture(autouse=True)
def _command_with_two_cores(monkeypatch) -> None:
    monkeypatch.setattr(side_by_side, "is_command", lambda: True)
    monkeypatch.setattr(side_by_side, "thread_count", lambda: 2)
    monkeypatch.setattr(side_by_side, "PREPARATIONS", {"page": _nothing, "figure": _nothing})


def _nothing() -> None:
    pass


def _write(path: Path) -> None:
    path.write_text(str(os.getpid()))


def _refuse() -> None:
    raise BadInput("no picture")


def _warn_and_write(path: Path) -> None:
    warn("too many colors")
    _write(path)


def _die_elsewhere(path: Path) -> None:
    if os.getpid() != HERE:
        os.kill(os.getpid(), signal.SIGKILL)
    _write(path)


def _write_for_long(path: Path, began: Path) -> None:
    from lowdim.runtime.atomic_write import atomic_write

    with atomic_write(path) as draft:
        draft.write_text("half")
        (path.parent / "starting").write_text(str(os.getpid()))
        (path.parent / "starting").rename(began)
        time.sleep(60)


def _is_gone(process: int) -> bool:
    """Neither running nor a zombie."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


def test_each_kind_of_file_has_a_process(tmp_path) -> None:
    names = ("page", "figure", "second", "table")
    page, figure, second, table = (tmp_path / name for name in names)
    with writers_beside(["page", "figure", "table", "figure"]) as writers:
        writes = {"page": [page], "figure": [figure, second], "table": [table]}
        writers.begin({kind: [partial(_write, path) for path in paths] for kind, paths in writes.items()})
        writers.finish()
    by_page, by_figure, by_second, by_table = ((tmp_path / name).read_text() for name in names)
    assert by_table == str(os.getpid()) and by_figure == by_second
    assert len({by_page, by_figure, by_table}) == 3
    assert _is_gone(int(by_page)) and _is_gone(int(by_figure))


def test_it_is_prepared_before_anything_is_written(tmp_path, monkeypatch) -> None:
    prepared = tmp_path / "prepared"
    monkeypatch.setattr(side_by_side, "PREPARATIONS", {"page": partial(_write, prepared)})
    with writers_beside(["page"]) as writers:
        while not (prepared.exists() and prepared.read_text()):
            time.sleep(0.001)
        writers.begin({"page": [partial(_write, tmp_path / "page")]})
        writers.finish()
    assert (tmp_path / "page").read_text() == prepared.read_text() != str(os.getpid())


@pytest.mark.parametrize(("command", "threads"), [(False, 2), (True, 1)])
def test_a_library_and_one_core_need_no_fork(tmp_path, monkeypatch, command, threads) -> None:
    monkeypatch.setattr(side_by_side, "is_command", lambda: command)
    monkeypatch.setattr(side_by_side, "thread_count", lambda: threads)
    with writers_beside(["page"]) as writers:
        writers.begin({"page": [partial(_write, tmp_path / "page")]})
        assert not (tmp_path / "page").exists()
        writers.finish()
    assert (tmp_path / "page").read_text() == str(os.getpid())


def test_what_can_not_be_told_is_written_here() -> None:
    found = []
    with writers_beside(["page"]) as writers:
        writers.begin({"page": [lambda: found.append(os.getpid())]})  # can't be pickled
        writers.finish()
    assert found == [os.getpid()]


def test_a_failing_preparation_changes_nothing(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(side_by_side, "PREPARATIONS", {"page": _refuse})
    with writers_beside(["page"]) as writers:
        writers.begin({"page": [partial(_write, tmp_path / "page")]})
        writers.finish()
    assert (tmp_path / "page").read_text() == str(os.getpid())


def test_an_error_of_the_figure_is_raised_here() -> None:
    with pytest.raises(BadInput, match="no picture"), writers_beside(["figure"]) as writers:
        writers.begin({"figure": [_refuse]})
        writers.finish()


def test_a_warning_of_the_figure_is_given_here(tmp_path) -> None:
    figure = tmp_path / "figure"
    with writers_beside(["figure"]) as writers:
        writers.begin({"figure": [partial(_warn_and_write, figure)]})
        with pytest.warns(LowdimWarning, match="too many colors"):
            writers.finish()
    assert figure.read_text() == str(os.getpid())


def test_a_figure_whose_process_dies_is_drawn_here(tmp_path) -> None:
    figure = tmp_path / "figure"
    with writers_beside(["figure"]) as writers:
        writers.begin({"figure": [partial(_die_elsewhere, figure)]})
        writers.finish()
    assert figure.read_text() == str(os.getpid())


def test_an_error_here_ends_the_other_process(tmp_path) -> None:
    began = tmp_path / "began"
    with pytest.raises(BadInput, match="no page"), writers_beside(["figure"]) as writers:
        writers.begin({"figure": [partial(_write_for_long, tmp_path / "figure.png", began)]})
        while not began.exists():
            time.sleep(0.001)
        raise BadInput("no page")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["began"]  # no draft is left
    assert _is_gone(int(began.read_text()))


def test_an_error_before_anything_is_begun_ends_it_too(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(side_by_side, "PREPARATIONS", {"page": partial(_write, tmp_path / "prepared")})
    with pytest.raises(BadInput, match="no data"), writers_beside(["page"]):
        while not ((tmp_path / "prepared").exists() and (tmp_path / "prepared").read_text()):
            time.sleep(0.001)
        raise BadInput("no data")
    assert _is_gone(int((tmp_path / "prepared").read_text()))

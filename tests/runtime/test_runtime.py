"""The small machines that every estimator stands on: parameters, threads, progress, rows, memory."""

from __future__ import annotations

import threading
import time
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

import lowdim
from lowdim.base.estimator import Estimator, estimator
from lowdim.data.fold import fold
from lowdim.data.rows import open_rows
from lowdim.errors import BadInput, BadInputType, BadParameter, Cancelled, LowdimError, MemoryTooSmall
from lowdim.runtime import memory, param, threads
from lowdim.runtime.blas import single_blas
from lowdim.runtime.progress import report


@given(st.lists(st.integers()), st.integers(1, 5))
def test_ordered_map_keeps_the_order(items, count):
    assert list(threads.ordered_map(lambda x: x * 2, items, count)) == [x * 2 for x in items]


def test_ordered_map_works_at_once_and_waits_for_little():
    running, most, lock, produced = 0, 0, threading.Lock(), []

    def work(i):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.01)
        with lock:
            running -= 1
        return i

    def items():
        for i in range(30):
            produced.append(i)
            yield i

    results = threads.ordered_map(work, items(), 3)
    assert next(results) == 0
    assert len(produced) <= 5 + 1  # not the whole table at once
    assert list(results) == list(range(1, 30))
    assert 2 <= most <= 3


def test_an_error_in_a_worker_ends_the_map():
    def work(i):
        if i == 3:
            raise BadInput("row 3")
        return i

    with pytest.raises(BadInput, match="row 3"):
        list(threads.ordered_map(work, range(1000), 2))


def test_work_that_nobody_waits_for_any_more_ends_at_its_next_report():
    started, left, steps = threading.Event(), threading.Event(), 3_000_000
    reached = []

    def work(item):
        if item == 0:
            started.wait(20)
            raise BadInput("no good")
        try:
            for step in range(steps):
                started.set()
                reached[:] = [step]
                report("work", step)
        finally:
            left.set()

    with pytest.raises(BadInput, match="no good"):
        list(threads.ordered_map(work, range(2), 2))
    assert left.wait(20) and reached[0] < steps - 1
    report("work", 1)  # its own context was left


def test_work_that_can_not_be_stopped_is_not_waited_for():
    started, release, ended = threading.Event(), threading.Event(), threading.Event()

    def work(item):
        if item == 0:
            started.wait(20)
            raise BadInput("no good")
        started.set()
        release.wait(20)
        ended.set()

    with pytest.raises(BadInput, match="no good"):
        list(threads.ordered_map(work, range(2), 2))
    assert not ended.is_set()
    release.set()
    assert ended.wait(20)


def test_blas_is_held_to_one_thread_and_let_go():
    def counts():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = counts()
    with single_blas(), single_blas():
        assert set(counts()) == {1}
    assert counts() == before


def test_thread_count(monkeypatch):
    assert threads.thread_count(3) == 3
    assert threads.thread_count(-1) >= 1
    monkeypatch.setenv("LOWDIM_NUM_THREADS", "5")
    assert threads.thread_count() == 5
    monkeypatch.delenv("LOWDIM_NUM_THREADS")
    monkeypatch.setenv("OMP_NUM_THREADS", "6")
    assert threads.thread_count() == 6
    assert threads.thread_count(np.int8(-1)) == threads.thread_count(-1)
    assert threads.thread_count(-(10**30)) == 1


@pytest.mark.parametrize("n_jobs", [10**8, 2**31, 2**63, 10**400])
def test_more_threads_than_help_are_not_started(monkeypatch, rng, n_jobs):
    most = threads.thread_count(n_jobs)
    assert 1 <= most <= 4096
    X = rng.standard_normal((40, 3))
    np.testing.assert_array_equal(
        lowdim.neighbors(X, 5, n_jobs=1).indices, lowdim.neighbors(X, 5, n_jobs=10**8).indices
    )
    monkeypatch.setenv("LOWDIM_NUM_THREADS", str(n_jobs))
    assert threads.thread_count() == most


@pytest.mark.parametrize("n_jobs", [0, np.int64(0), 1.0, "2", True, [1], np.nan])
def test_numbers_of_threads_that_mean_nothing(n_jobs):
    with pytest.raises(BadParameter, match="n_jobs must be"):
        threads.thread_count(n_jobs)
    with pytest.raises(BadParameter, match="n_jobs must be"):
        lowdim.PCA(1, n_jobs=n_jobs).fit(np.eye(3))


@pytest.mark.parametrize("word", ["abc", "0", "-1", "2.5", "4,2", "²", "1e3", "000"])
def test_a_wrong_number_of_threads_in_the_environment_is_named(monkeypatch, word):
    monkeypatch.setenv("LOWDIM_NUM_THREADS", word)
    with pytest.raises(BadParameter, match="LOWDIM_NUM_THREADS must be a whole number"):
        threads.thread_count()
    assert threads.thread_count(2) == 2  # not asked


def test_words_of_openmp(monkeypatch):
    monkeypatch.delenv("LOWDIM_NUM_THREADS", raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    everything = threads.thread_count()
    for word, count in (("4,2", 4), (" 3 , 1", 3), ("abc", everything), ("", everything), ("0", everything)):
        monkeypatch.setenv("OMP_NUM_THREADS", word)
        assert threads.thread_count() == count


def test_a_result_or_error_comes_back_from_an_uninterrupted_call():
    assert threads.interruptible(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        threads.interruptible(lambda: 1 // 0)


def test_watches_nest_and_hear_every_step():
    inner, outer = [], []
    with lowdim.watch(outer.append):
        with lowdim.watch(inner.append):
            report("work", 1, 2, loss=0.5)
        report("work", 2, 2)
    assert [step.done for step in inner] == [1]
    assert [step.done for step in outer] == [1, 2]
    assert inner[0].info == {"loss": 0.5}
    with pytest.raises(Cancelled, match="after 3 steps"), lowdim.watch(lambda step: True):
        report("work", 3)
    report("work", 4)  # nobody listens, nobody stops it


def test_the_bar_is_drawn_on_stderr(capsys):
    with lowdim.watch():
        report("folding", 10, 10, loss=2.0)
    shown = capsys.readouterr()
    assert "folding" in shown.err
    assert "100%" in shown.err
    assert shown.out == ""


@pytest.mark.parametrize(
    ("domain", "inside", "outside"),
    [
        (param.Integer(1), [1, np.int64(5)], [0, 1.0, True, "1", None]),
        (param.Integer(1, 3), [1, 3], [4]),
        (param.Real(0, 1, open=True), [0.5, np.float32(0.1)], [0, 1, True, float("nan"), "0.5", 10**400]),
        (param.Real(0), [0, 1e300], [-1, float("inf")]),
        (param.Choice("a", 1), ["a", 1, np.int32(1)], ["b", True, 1.0]),
        (param.Flag(), [True, np.False_], [0, 1, None]),
        (param.Maybe(param.Flag()), [None, True], [0]),
        (param.Either(param.Integer(1), param.Choice("all")), [2, "all"], [0, "none"]),
        (param.SeedLike(), [None, 0, np.random.default_rng(0), np.random.RandomState(0)], [-1, "x", 1.5]),
    ],
)
def test_domains(domain, inside, outside):
    assert all(domain.accepts(value) for value in inside)
    assert not any(domain.accepts(value) for value in outside)
    assert len(domain.text) > 5


def test_a_parameter_is_declared_once():
    @estimator(title="a toy", summary="moments")
    class Toy(Estimator):
        """A toy.

        {parameters}
        """

        n_components: int = param.param(2, param.Integer(1), "How many.", kw_only=False)
        speed: str = param.param("fast", param.Choice("fast", "slow"), "How fast.")

    toy = Toy(3, speed="slow")
    assert toy.get_params() == {"n_components": 3, "speed": "slow"}
    assert "speed : one of 'fast', 'slow', default 'fast'\n    How fast." in Toy.__doc__
    with pytest.raises(BadParameter, match=r"Toy: speed must be one of 'fast', 'slow'; got 'x'\. How fast\."):
        param.validate(Toy(speed="x"))
    with pytest.raises(TypeError):
        Toy(3, "slow")
    with pytest.raises(BadParameter, match="default"):
        param.param(0, param.Integer(1), "Wrong from the start.")


def test_parameters_become_numbers_of_python(rng):
    """NumPy's overflow: 50 epochs times 64 in int8."""
    X = rng.standard_normal((60, 4))
    small = {"n_components": np.int8(2), "n_neighbors": np.uint8(5), "n_epochs": np.int8(10), "n_jobs": np.int16(1)}
    odd = {"min_dist": np.longdouble(0.25), "repulsion_strength": Fraction(1, 1)}
    found = lowdim.UMAP(**small, **odd)
    found.fit(X)
    assert all(type(getattr(found, name)) is int for name in small)
    assert all(type(getattr(found, name)) is float for name in odd)
    plain = {name: int(value) for name, value in small.items()}
    wanted = lowdim.UMAP(**plain, min_dist=0.25, repulsion_strength=1.0).fit(X)
    np.testing.assert_array_equal(found.embedding_, wanted.embedding_)
    assert type(param.python_number(np.True_)) is bool
    for other in (None, "auto", (1, 2), np.random.default_rng(0)):
        assert param.python_number(other) is other


@pytest.mark.parametrize(
    "name", ["n_components", "n_epochs", "n_neighbors", "negative_sample_rate", "n_jobs", "spread"]
)
def test_counts_that_no_kernel_can_hold(name):
    for value in (2**31, 2**63, 10**400):
        with pytest.raises(BadParameter, match=rf"UMAP: {name} must be"):
            lowdim.UMAP(**{name: value}).fit(np.eye(5))
    seeds = (lowdim.PCA(1, solver="krylov", random_state=seed).fit(np.eye(9)) for seed in (2**70, 2**70 % 2**64))
    np.testing.assert_array_equal(*(found.components_ for found in seeds))


def test_memory_is_refused_before_the_work(monkeypatch):
    with pytest.raises(MemoryTooSmall, match=r"a table needs about .* Use less\."):
        memory.require_memory(2**60, "a table", "Use less.")
    memory.require_memory(1, "a table", "Use less.")
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    with pytest.raises(MemoryTooSmall, match="solver='krylov'"):
        lowdim.moments(np.ones((3, 50)))


def test_errors_are_one_tree():
    for name in lowdim.errors.__all__:
        cls = getattr(lowdim.errors, name)
        assert issubclass(cls, LowdimError | UserWarning)
        assert cls.__doc__
    assert issubclass(BadInput, ValueError)
    assert issubclass(BadInputType, TypeError)
    assert issubclass(MemoryTooSmall, MemoryError)


def test_fold_goes_in_order_over_every_row(rng):
    X = rng.standard_normal((1000, 70_000 // 8)).astype(np.float32)  # several chunks
    for table in (X, sp.csr_array(X[:, :50]), X[:, ::2], iter([X[:10], X[10:]])):
        rows = open_rows(table)
        pieces = fold(rows, lambda chunk, block: [(chunk.start, chunk.stop, block.shape[0])], lambda a, b: a + b, 2)
        assert pieces[0][0] == 0
        assert pieces[-1][1] == 1000
        assert all(a[1] == b[0] for a, b in pairwise(pieces))
        assert all(stop - start == count for start, stop, count in pieces)


def test_streams_say_what_they_can_not_do(rng):
    X = rng.standard_normal((20, 3))
    with pytest.raises(BadInput, match="no rows"):
        lowdim.moments(iter([]))
    with pytest.raises(BadInput, match="a chunk has 2 columns, but the first has 3"):
        lowdim.moments(iter([X, X[:, :2]]))
    with pytest.raises(BadInput, match="an iterator does not have"):
        lowdim.moments(iter([X]), sample_weight=np.ones(20))
    once = open_rows(iter([X]))
    lowdim.moments(once)
    with pytest.raises(BadInput, match="new iterator"):
        lowdim.moments(once)
    again = open_rows(lambda: iter([X]))
    np.testing.assert_array_equal(lowdim.moments(again).within, lowdim.moments(again).within)

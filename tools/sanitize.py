"""Run tests with the native module built under sanitizers: python tools/sanitize.py [address|thread] [pytest words].

`address` is AddressSanitizer and UndefinedBehaviorSanitizer over the native, hostile and contract tests; `thread` is
ThreadSanitizer over those that share memory among threads. A report ends the run with an error. The module is built in
build/sanitize-<kind>, and a Python environment there finds it, so that the ordinary one stays as it is; tests that
start other processes use it too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[1]
SANITIZERS = {"address": ("address,undefined", "libasan.so"), "thread": ("thread", "libtsan.so")}
TESTS = {
    "address": [
        "tests/native",
        "tests/contract",
        "tests/persistence",
        "tests/data",
        "tests/knn",
        "tests/linalg",
        "tests/summaries",
        "tests/linear",
        "tests/kernel_pca",
        "tests/mds",
        "tests/manifold",
        "tests/neighbor_embedding",
        "tests/distance",
        "tests/select",
        "tests/subspace",
        "tests/quality",
        "tests/kernels",
        "tests/choose",
        "tests/diagnosis",
        "tests/advice",
        "tests/base",
        "tests/runtime",
    ],
    "thread": [
        "tests/native/test_thread_pool.py",
        "tests/contract/test_same_bits.py",
        "tests/knn/test_approximate.py",
        "tests/mds/test_sgd.py",
        "tests/neighbor_embedding/test_umap_laws.py",
        "tests/neighbor_embedding/test_tsne_laws.py",
        "tests/linear/test_ica_laws.py",
        "tests/native/test_ica.py",
        "tests/native/test_subspace.py",
        "tests/native/test_quality.py",
        "tests/knn/test_sparse_search.py",
        "tests/quality/test_measures.py",
        "tests/distance/test_laws.py",
    ],
}
# What can't work under a sanitizer: a limit on the address space or a peak of memory (shadow memory), Ctrl-C within
# the time of an ordinary fit, and a fork while another thread allocates. AddressSanitizer of GCC 12 does not hold its
# allocator's lock across a fork: in a C++ program of 25 lines, where two threads and the children call malloc, 2 of the
# first 7 children hung, one of them seen in StaticSpinMutex::LockSlow, below LargeMmapAllocator::Allocate; without it,
# none of 100 hung. The one test that forks beside running fits passed 4 times of 4, in one to two minutes, but may hang
# for that reason. A fork beside threads that sleep is tested.
EXCLUDED = {
    "address": "not memory_limit and not limited_memory and not near_to_the_peak and not inside_a "
    "and not while_another_thread_fits",
    "thread": "not fork and not loky and not pickled",
}
OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:handle_segv=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:ignore_noninstrumented_modules=1",  # Python and BLAS are not instrumented
}


def build(kind: str) -> Path:
    """The folder whose Python finds the sanitized module; built again where the sources are newer."""
    home = ROOT / "build" / f"sanitize-{kind}"
    nanobind = subprocess.check_output([sys.executable, "-m", "nanobind", "--cmake_dir"], text=True).strip()
    tools = Path(sys.executable).parent  # of the environment that has cmake and ninja
    command = [
        *(tools / "cmake", "-S", ROOT, "-B", home / "cmake", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo"),
        *(f"-DCMAKE_MAKE_PROGRAM={tools / 'ninja'}", f"-Dnanobind_DIR={nanobind}"),
        *(f"-DPython_EXECUTABLE={sys.executable}", f"-DLOWDIM_SANITIZE={SANITIZERS[kind][0]}"),
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([tools / "cmake", "--build", home / "cmake"], check=True)
    package = home / "site" / "lowdim"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(ROOT / "src" / "lowdim", package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for module in (home / "cmake").glob("_native*.so"):
        shutil.copy(module, package)
    return home


def environment(home: Path) -> Path:
    """A Python whose path has the sanitized package first, and then what the ordinary environment has."""
    python = home / "venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", home / "venv"], check=True)
    here = sysconfig.get_path("purelib")
    there = home / "venv" / Path(here).relative_to(sys.prefix)
    (there / "lowdim_sanitized.pth").write_text(f"{home / 'site'}\n{here}\n")  # the .pth files of `here` are not read
    return python


def main() -> int:
    """Build, and run the tests."""
    words = sys.argv[1:]
    kind = words.pop(0) if words and words[0] in SANITIZERS else "address"
    home = build(kind)
    python = environment(home)
    libraries = [
        subprocess.check_output(["g++", f"-print-file-name={name}"], text=True).strip()
        for name in (SANITIZERS[kind][1], "libstdc++.so")
    ]
    tests = words or [*TESTS[kind], "-k", EXCLUDED[kind]]
    fixed = ["setarch", "-R"] if kind == "thread" else []  # ThreadSanitizer needs addresses that are not randomized
    command = [*fixed, python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    variables = os.environ | OPTIONS | {"LD_PRELOAD": " ".join(libraries), "LOWDIM_SANITIZED": kind}
    return subprocess.run(command, cwd=ROOT, env=variables, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

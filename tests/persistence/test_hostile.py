"""The schemas to the letter, and files that are not what they seem.

Files are made here by a writer of their own, which knows only what docs/model-format.md says, so a
change of the format can't pass unseen.
"""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest

from lowdim import PCA
from lowdim.errors import ModelFileError
from lowdim.persistence import load, save

GOLDEN = Path(__file__).parent / "golden"
CODES = {"float64": "F64", "float32": "F32", "int64": "I64", "int32": "I32", "uint8": "U8", "bool": "BOOL"}


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def signed(manifest, tensors):
    digest = hashlib.sha256(canonical(manifest).encode())
    for name in sorted(tensors):
        digest.update(tensors[name].tobytes())
    return {**manifest, "sha256": digest.hexdigest()}


def file_bytes(text, tensors, key="lowdim-model"):
    header, data = {"__metadata__": {key: text}}, b""
    for name, value in tensors.items():
        ends = [len(data), len(data) + value.nbytes]
        header[name] = {"dtype": CODES[value.dtype.name], "shape": list(value.shape), "data_offsets": ends}
        data += value.tobytes()
    head = json.dumps(header).encode()
    return struct.pack("<Q", len(head)) + head + data


def write(path, manifest, tensors):
    path.write_bytes(file_bytes(json.dumps(signed(manifest, tensors)), tensors))
    return path


def parts(path):
    """Manifest and tensors of a file, read without lowdim and without safetensors."""
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    manifest = json.loads(header.pop("__metadata__")["lowdim-model"])
    names = {code: name for name, code in CODES.items()}
    tensors = {}
    for name, entry in header.items():
        start, stop = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(raw[start:stop], names[entry["dtype"]]).reshape(entry["shape"])
    return manifest, tensors


# Schema 2. A file like this must be read by every lowdim to come: do not edit, add a schema 3 beside it.
PARAMETERS = {
    "n_components": 1,
    "solver": "auto",
    "standardize": False,
    "whiten": False,
    "ddof": 0,
    "missing": "error",
    "tol": None,
    "max_iter": 200,
    "random_state": 0,
    "n_jobs": None,
}
FITTED = {
    "n_features_in_": 2,
    "feature_names_in_": {"strings": ["length", "width"], "dtype": "object"},
    "mean_": {"array": "float64", "shape": [2]},
    "scale_": None,
    "components_": {"array": "float64", "shape": [1, 2]},
    "explained_variance_": {"array": "float64", "shape": [1]},
    "explained_variance_ratio_": {"array": "float64", "shape": [1]},
    "singular_values_": {"array": "float64", "shape": [1]},
    "spectrum_": {"array": "float64", "shape": [2]},
    "total_variance_": {"scalar": "float64"},
    "log_generalized_variance_": {"float": "nan"},
    "noise_variance_": 0.408108,
    "n_components_": 1,
    "n_samples_": 8.0,
    "solver_": "covariance",
    "n_iter_": 1,
    "converged_": True,
}
STATE = {
    "state": "PCAState",
    "fields": {
        "moments": {
            "state": "Moments",
            "fields": {
                "rows": 8,
                "counts": {"array": "float64", "shape": [1]},
                "means": {"array": "float64", "shape": [1, 2]},
                "within": {"array": "float64", "shape": [2, 2]},
                "classes": None,
                "dtype": {"dtype": "float64"},
                "feature_names": None,
            },
        },
        "variances": {"array": "float64", "shape": [2]},
    },
}
MANIFEST = {
    "format": "lowdim-model",
    "schema": 2,
    "lowdim": "0.1.0",
    "class": "PCA",
    "parameters": PARAMETERS,
    "fitted": FITTED,
    "state": STATE,
    "output": None,
}
TENSORS = {
    "mean_": np.array([5.0, 5.0]),
    "components_": np.array([[0.808647, 0.588294]]),
    "explained_variance_": np.array([9.341892]),
    "explained_variance_ratio_": np.array([0.958143]),
    "singular_values_": np.array([8.644949]),
    "spectrum_": np.array([9.341892, 0.408108]),
    "total_variance_": np.array(9.75),
    "state.moments.counts": np.array([8.0]),
    "state.moments.means": np.array([[5.0, 5.0]]),
    "state.moments.within": np.array([[50.0, 34.0], [34.0, 28.0]]),
    "state.variances": np.array([6.25, 3.5]),
}

# Schema 1, which has no state: everything fitted is an attribute. Do not edit.
FORMER_MANIFEST = {
    **{key: value for key, value in MANIFEST.items() if key != "state"},
    "schema": 1,
    "fitted": {**FITTED, "moments_": STATE["fields"]["moments"]},
}
FORMER_TENSORS = {
    name.replace("state.moments", "moments_"): tensor for name, tensor in TENSORS.items() if name != "state.variances"
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.lowdim"


@pytest.mark.parametrize("schema", [1, 2])
def test_every_schema_is_read_for_ever(schema, path, eight_points):
    """The eight points of lecture 4, by a file that lowdim.save never saw."""
    pd = pytest.importorskip("pandas")
    stored = (FORMER_MANIFEST, FORMER_TENSORS) if schema == 1 else (MANIFEST, TENSORS)
    model = load(write(path, *stored))
    assert type(model) is PCA and model.get_params() == PARAMETERS
    frame = pd.DataFrame(eight_points, columns=["length", "width"])
    by_hand = (eight_points - [5, 5]) @ [[0.808647], [0.588294]]
    np.testing.assert_allclose(model.transform(frame), by_hand, rtol=1e-13, atol=1e-13)
    assert np.isnan(model.log_generalized_variance_)
    assert type(model.total_variance_) is np.float64 and model.total_variance_ == 9.75
    assert model._state.moments.dtype == np.float64 and model._state.moments.rows == 8
    np.testing.assert_allclose(model._state.moments.covariance(0), [[6.25, 4.25], [4.25, 3.5]])
    model.partial_fit(frame)
    assert model._state.moments.rows == 16
    np.testing.assert_allclose(model.explained_variance_, 4.875 + np.sqrt(19.953125), rtol=1e-12)


def test_save_writes_schema_2(path, eight_points):
    pd = pytest.importorskip("pandas")
    model = PCA(1, ddof=0).partial_fit(pd.DataFrame(eight_points, columns=["length", "width"]))
    model.total_variance_ = np.float64(model.total_variance_)
    model.log_generalized_variance_ = np.nan
    model.noise_variance_ = 0.408108
    model.spectrum_ = np.array([9.341892, 0.408108])
    save(model, path)
    manifest, tensors = parts(path)
    checksum = manifest.pop("sha256")
    assert signed(manifest, tensors)["sha256"] == checksum
    assert manifest == MANIFEST
    assert tensors.keys() == TENSORS.keys()
    for name in TENSORS:
        np.testing.assert_allclose(tensors[name], TENSORS[name], atol=1e-6, rtol=0, err_msg=name)


def changed(*steps):
    """The manifest with values put in (or, for `...`, taken out) at dotted places."""
    manifest = copy.deepcopy(MANIFEST)
    for place, value in steps:
        *way, last = place.split("/")
        inner = manifest
        for key in way:
            inner = inner[key]
        if value is ...:
            del inner[last]
        else:
            inner[last] = value
    return manifest


def test_room_for_what_comes_later(path):
    """Unknown keys of the manifest are passed over; a parameter that the file does not know has its default."""
    extended = changed(("made_on", {"weather": [1.5, None]}), ("parameters/max_iter", ...), ("output", ...))
    model = load(write(path, extended, TENSORS))
    assert model.max_iter == 200 and not hasattr(model, "made_on")


LIES = {
    "another format": [("format", "other")],
    "no format": [("format", ...)],
    "newer schema": [("schema", 3)],
    "huge schema": [("schema", 10**3000)],
    "schema zero": [("schema", 0)],
    "schema true": [("schema", True)],
    "schema text": [("schema", "2")],
    "foreign class": [("class", "os.system")],
    "sklearn's class": [("class", "sklearn.decomposition.PCA")],
    "class of a list": [("class", ["PCA"])],
    "no class": [("class", ...)],
    "no parameters": [("parameters", ...)],
    "parameters in a list": [("parameters", [])],
    "unknown parameter": [("parameters/power", 3)],
    "dunder parameter": [("parameters/__class__", 3)],
    "parameter out of its domain": [("parameters/n_components", -1)],
    "parameter of a wrong type": [("parameters/solver", 3)],
    "parameter too wide": [("parameters/tol", 10**400)],
    "parameter not finite": [("parameters/tol", {"float": "inf"})],
    "unknown rule": [("parameters/n_components", {"rule": "eval", "fields": {}})],
    "rule in a list": [("parameters/n_components", {"rule": ["share"], "fields": {}})],
    "rule out of its domain": [("parameters/n_components", {"rule": "share", "fields": {"q": 3}})],
    "rule with a foreign field": [("parameters/n_components", {"rule": "share", "fields": {"p": 0.5}})],
    "a result as a rule": [("parameters/n_components", {"rule": "Verdict", "fields": {}})],
    "rule without fields": [("parameters/n_components", {"rule": "share"})],
    "summary as a parameter": [("parameters/n_components", {"state": "Moments", "fields": {}})],
    "array as a parameter": [("parameters/n_components", {"array": "float64", "shape": [2]})],
    "unknown tag": [("fitted/scale_", {"pickle": "gASVAAAA"})],
    "tag with a rider": [("fitted/scale_", {"float": "nan", "note": 1})],
    "empty tag": [("fitted/scale_", {})],
    "float of text": [("fitted/noise_variance_", {"float": "1e3"})],
    "float of a list": [("fitted/noise_variance_", {"float": ["nan"]})],
    "tuple of text": [("fitted/noise_variance_", {"tuple": "ab"})],
    "fitted in a list": [("fitted", [1])],
    "method overwritten": [("fitted/transform", 3)],
    "dunder": [("fitted/__class__", "PCA")],
    "dunder with an end": [("fitted/__dict__", 3)],
    "endless name": [(f"fitted/{'a' * 5000}_", 3)],
    "name with a dot": [("fitted/a.b_", 3)],
    "name with no mark": [("fitted/evil", 3)],
    "parameter as fitted": [("fitted/n_jobs", 3)],
    "dtype differs": [("fitted/mean_/array", "float32")],
    "dtype unknown": [("fitted/mean_/array", "object")],
    "dtype of a list": [("fitted/mean_/array", ["float64"])],
    "shape differs": [("fitted/components_/shape", [2, 1])],
    "shape negative": [("fitted/components_/shape", [-1, 2])],
    "shape of floats": [("fitted/components_/shape", [1.0, 2.0])],
    "shape a number": [("fitted/components_/shape", 2)],
    "scalar for an array": [("fitted/mean_", {"scalar": "float64"})],
    "tensor left over": [("fitted/mean_", None)],
    "tensor used twice": [("fitted/noise_variance_", {"array": "float64", "shape": [2]})],
    "names of numbers": [("fitted/feature_names_in_/strings", [1, 2])],
    "too few names": [("fitted/feature_names_in_/strings", ["length"])],
    "names of another dtype": [("fitted/feature_names_in_/dtype", "V8")],
    "other number of features": [("fitted/n_features_in_", 3)],
    "no number of features": [("fitted/n_features_in_", ...)],
    "number of features of text": [("fitted/n_features_in_", "2")],
    "other number of components": [("fitted/n_components_", 2)],
    "components in a list of texts": [("fitted/n_components_", {"strings": ["a", "b"], "dtype": "str"})],
    "no scale": [("fitted/scale_", ...)],
    "scale of text": [("fitted/scale_", "aa")],
    "noise of text": [("fitted/noise_variance_", "much")],
    "noise not a number": [("fitted/noise_variance_", {"float": "nan"})],
    "no state": [("state", None)],
    "no word about a state": [("state", ...)],
    "the state of schema 2 in schema 1": [("schema", 1), ("state", ...)],
    "state of another estimator": [("state/state", "KernelPCAState")],
    "a part of the state as the state": [("state", STATE["fields"]["moments"])],
    "state with a foreign field": [("state/fields/rows", 3)],
    "state without a field": [("state/fields/moments", ...)],
    "foreign summary": [("state/fields/moments/state", "Popen")],
    "summary of a list": [("state/fields/moments/state", ["Moments"])],
    "summary without fields": [("state/fields/moments/fields", [])],
    "summary with a foreign field": [("state/fields/moments/fields/mean", None)],
    "summary without a field": [("state/fields/moments/fields/rows", ...)],
    "summary of no rows": [("state/fields/moments/fields/rows", 0)],
    "summary of another dtype": [("state/fields/moments/fields/dtype", {"dtype": "int64"})],
    "summary of no dtype": [("state/fields/moments/fields/dtype", None)],
    "summary of a text for its dtype": [("state/fields/moments/fields/dtype", "float64")],
    "summary with odd classes": [("state/fields/moments/fields/classes", [1, 2, 3])],
    "summary with ragged classes": [("state/fields/moments/fields/classes", [1, [2]])],
    "summary with a number for classes": [("state/fields/moments/fields/classes", 1)],
    "summary with odd names": [("state/fields/moments/fields/feature_names", "ab")],
    "foreign output": [("output", "numpy.distutils")],
    "output of a list": [("output", ["pandas"])],
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lying_manifest_is_refused(lie, path):
    """Its checksum is right: somebody meant it."""
    with pytest.raises(ModelFileError, match=r"model\.lowdim: ") as caught:
        load(write(path, changed(*LIES[lie]), TENSORS))
    assert "checksum" not in str(caught.value)
    assert len(str(caught.value)) < 1500


def test_a_newer_file_asks_for_an_upgrade(path):
    path.write_bytes(file_bytes(json.dumps({"format": "lowdim-model", "schema": 7, "layers": []}), {}))
    with pytest.raises(ModelFileError, match=r"newer lowdim.*schema is 7.*Upgrade"):
        load(path)


LYING_TENSORS = {
    "missing": {"mean_": None},
    "extra": {"other_": np.zeros(2)},
    "extra of no bytes": {"other_": np.zeros((0, 3))},
    "other dtype": {"mean_": np.array([5, 5], np.float32)},
    "other shape": {"mean_": np.array([[5.0, 5.0]])},
    "not finite": {"mean_": np.array([np.nan, 5.0])},
    "infinite axes": {"components_": np.array([[np.inf, 1.0]])},
    "infinite variance": {"explained_variance_": np.array([np.inf])},
    "negative counts": {"state.moments.counts": np.array([-8.0])},
    "no counts": {"state.moments.counts": np.array([0.0])},
    "scatter not finite": {"state.moments.within": np.full((2, 2), np.nan)},
}


@pytest.mark.parametrize("lie", LYING_TENSORS)
def test_lying_tensors_are_refused(lie, path):
    tensors = {**TENSORS, **LYING_TENSORS[lie]}
    with pytest.raises(ModelFileError, match=r"model\.lowdim: "):
        load(write(path, MANIFEST, {name: value for name, value in tensors.items() if value is not None}))


def test_shapes_that_agree_with_the_manifest_must_agree_with_each_other(path):
    """Every array is as the manifest says, and together they are no model."""
    for name, odd in {
        "mean_": np.zeros(3),
        "components_": np.zeros((1, 3)),
        "explained_variance_": np.zeros(2),
        "scale_": np.zeros(2),
    }.items():
        manifest = changed((f"fitted/{name}", {"array": "float64", "shape": list(odd.shape)}))
        with pytest.raises(ModelFileError, match=f"contradicts itself: {name}"):
            load(write(path, manifest, {**TENSORS, name: odd}))
    for name, odd in {"counts": np.ones(2), "means": np.ones((1, 3)), "within": np.ones((3, 3))}.items():
        manifest = changed((f"state/fields/moments/fields/{name}/shape", list(odd.shape)))
        with pytest.raises(ModelFileError, match=r"contradicts itself: state\.moments"):
            load(write(path, manifest, {**TENSORS, f"state.moments.{name}": odd}))
    manifest = changed(("fitted/mean_/array", "int64"))
    with pytest.raises(ModelFileError, match="mean_ must be an array of finite numbers"):
        load(write(path, manifest, {**TENSORS, "mean_": np.array([5, 5])}))


TEXTS = {
    "nothing": "",
    "no JSON": "{",
    "a number": "3",
    "a list": "[]",
    "null": "null",
    "nested brackets": "[" * 200_000,
    "nested objects": '{"a":' * 200_000,
    "closed nesting": '{"format":"lowdim-model","schema":1,"x":' + "[" * 900 + "]" * 900 + "}",
    "deep closed nesting": '{"format":"lowdim-model","schema":1,"x":' + "[" * 90_000 + "]" * 90_000 + "}",
    "a huge whole number": '{"format":"lowdim-model","schema":' + "9" * 100_000 + "}",
    "NaN": '{"format":"lowdim-model","schema":1,"x":NaN}',
    "overflow": '{"format":"lowdim-model","schema":1,"x":1e999}',
    "twins": '{"format":"lowdim-model","format":"lowdim-model","schema":1}',
    "no checksum": canonical(MANIFEST),
    "checksum of a list": canonical({**MANIFEST, "sha256": [1]}),
    "lone surrogate": '{"format":"\\ud800"}',
}


@pytest.mark.parametrize("text", TEXTS)
def test_manifests_that_are_no_manifests(text, path):
    path.write_bytes(file_bytes(TEXTS[text], TENSORS))
    with pytest.raises(ModelFileError, match=r"model\.lowdim: "):
        load(path)


def test_deep_values_with_a_right_checksum(path):
    deep = None
    for _ in range(300):
        deep = {"tuple": [deep]}
    for place in ("fitted/deep_", "parameters/tol"):
        with pytest.raises(ModelFileError):
            load(write(path, changed((place, deep), ("fitted/scale_", ...)), TENSORS))


def test_headers_that_are_no_headers(path):
    """What safetensors would read but NumPy can't hold, and what it would not read."""
    text, tensors = json.dumps(signed(MANIFEST, TENSORS)), {**TENSORS}
    good = file_bytes(text, tensors)
    swaps = [(b'"F64"', code) for code in (b'"F32"', b'"I64"', b'"BF16"', b'"C64"', b'"F99"', b'""', b"null")]
    swaps += [(b'"shape": [2]', s) for s in (b'"shape": [3]', b'"shape": [-2]', b'"shape": []', b'"shape": [1, 2]')]
    swaps += [(b'"mean_": {"dtype"', b'"Mean_": {"dtype"'), (b"data_offsets", b"data_offset")]
    swaps += [(b'"lowdim-model":', b'"other":'), (b"__metadata__", b"__Metadata__")]
    for old, new in swaps:
        (length,) = struct.unpack("<Q", good[:8])
        head = good[8 : 8 + length].replace(old, new, 1)
        assert head != good[8 : 8 + length]
        path.write_bytes(struct.pack("<Q", len(head)) + head + good[8 + length :])
        with pytest.raises(ModelFileError, match=r"model\.lowdim: "):
            load(path)
    for shape in ([0, 2**63], [0] + [1] * 100, [0, 2**47, 2**47], [2**40, 2**40]):
        head = {
            "__metadata__": {"lowdim-model": text},
            "x": {"dtype": "U8", "shape": shape, "data_offsets": [0, 0]},
        }
        raw = json.dumps(head).encode()
        path.write_bytes(struct.pack("<Q", len(raw)) + raw)
        with pytest.raises(ModelFileError):
            load(path)
    for code, size, words in (("BOOL", 1, "boolean"), ("BF16", 2, "dtype BF16"), ("F8_E5M2", 1, "dtype F8")):
        entry = {"dtype": code, "shape": [1], "data_offsets": [0, size]}
        raw = json.dumps({"__metadata__": {"lowdim-model": text}, "x": entry}).encode()
        path.write_bytes(struct.pack("<Q", len(raw)) + raw + b"\x07" * size)
        with pytest.raises(ModelFileError, match=words):
            load(path)


@pytest.mark.parametrize("length", [0, 1, 7, 10**4, 17 << 20, 2**31, 2**63 - 1, 2**63, 2**64 - 1])
def test_absurd_header_lengths(length, path):
    good = file_bytes(json.dumps(signed(MANIFEST, TENSORS)), TENSORS)
    path.write_bytes(struct.pack("<Q", length) + good[8:])
    with pytest.raises(ModelFileError, match=r"model\.lowdim: "):
        load(path)


def test_a_long_header_that_is_there_is_not_parsed(path):
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", 17 << 20))
        file.truncate(18 << 20)
    with pytest.raises(ModelFileError, match="header takes 17825792 bytes"):
        load(path)


def test_files_of_other_kinds(path, tmp_path):
    trace = tmp_path / "ran"
    np.save(tmp_path / "array.npy", np.zeros(3))
    contents = [
        b"",
        b"x",
        b"\0" * 8,
        b"\xff" * 100,
        (tmp_path / "array.npy").read_bytes(),
        pickle.dumps(Trap(trace)),
    ]
    contents.append(file_bytes(json.dumps(signed(MANIFEST, TENSORS)), TENSORS, key="other"))
    contents.append(file_bytes(pickle.dumps(Trap(trace), 0).decode("ascii"), TENSORS))
    for content in contents:
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match=r"model\.lowdim: "):
            load(path)
    assert not trace.exists()
    for missing in (tmp_path / "none", tmp_path, Path("a\0b")):
        with pytest.raises(ModelFileError):
            load(missing)


class Trap:
    """Unpickling it leaves a trace."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return Path.touch, (self.trace,)


@pytest.fixture
def saved(path):
    """A saved model's bytes."""
    X = np.random.default_rng(0).normal(size=(9, 3)).astype(np.float32)
    save(PCA(2, standardize=True).partial_fit(X), path)
    return path.read_bytes()


def test_a_file_cut_anywhere_is_refused(saved, path):
    for length in {*range(40), *range(40, len(saved), 7), *range(len(saved) - 40, len(saved))}:
        path.write_bytes(saved[:length])
        with pytest.raises(ModelFileError):
            load(path)
    path.write_bytes(saved + b"\0")
    with pytest.raises(ModelFileError):
        load(path)


def test_a_flipped_byte_is_refused_or_hit_nothing(saved, path, tmp_path):
    """Every other byte, each changed by another bit; a file that still loads saves to the same bytes."""
    survivors = 0
    for place in range(0, len(saved), 2):
        damaged = bytearray(saved)
        damaged[place] ^= 1 << (place * 5 // 2 % 8)
        survivors += survives(bytes(damaged), saved, path, tmp_path)
    assert survivors <= 8


def test_random_damage_is_refused(saved, path, tmp_path):
    """Bytes replaced, cut out, doubled and moved, several at a time."""
    rng = np.random.default_rng(1)
    for _ in range(600):
        damaged = bytearray(saved)
        for _ in range(rng.integers(1, 4)):
            start, stop = sorted(rng.integers(0, len(damaged) + 1, 2).tolist())
            stop = min(stop, start + int(rng.integers(1, 40)))
            kind = rng.integers(3)
            if kind == 0:
                damaged[start:stop] = rng.bytes(stop - start)
            elif kind == 1:
                del damaged[start:stop]
            else:
                damaged[start:start] = damaged[start:stop]
        survives(bytes(damaged), saved, path, tmp_path)


def survives(damaged, original, path, tmp_path):
    """Whether a damaged file loads; if so it must give the original model, else nothing but ModelFileError."""
    path.write_bytes(damaged)
    try:
        model = load(path)
    except ModelFileError:
        return False
    again = tmp_path / "again.lowdim"
    save(model, again)
    assert again.read_bytes() == original
    return True


@pytest.mark.parametrize("name", sorted(path.stem for path in (GOLDEN / "schema1").glob("*.lowdim")))
def test_a_lying_manifest_of_schema_1_is_refused(name, path):
    """Whatever a migration is given, what comes out is validated like any other file."""
    manifest, tensors = parts(GOLDEN / "schema1" / f"{name}.lowdim")
    section = "fields" if "fields" in manifest else "fitted"
    for key in manifest[section]:
        for lie in (..., None, [], {"state": "Moments", "fields": 3}):
            kept = {k: v for k, v in manifest[section].items() if k != key}
            changed = {**manifest, section: kept if lie is ... else {**kept, key: lie}}
            changed.pop("sha256")
            try:
                model = load(write(path, changed, tensors))
            except ModelFileError:
                continue
            save(model, path)  # what loads is whole

"""Parquet files on a Dask cluster: workers read, summarize and map rows, and write what `transform` makes of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lowdim.data.io.arrow_formats import ParquetSource
from lowdim.data.io.column_roles import ColumnSelection
from lowdim.data.io.parquet_files import ParquetFiles, parquet_paths, partitioned_rows
from lowdim.data.rows.dask import DaskRows, compute
from lowdim.data.table import Table
from lowdim.errors import BadInput, BadParameter, MissingExtra
from lowdim.runtime.progress import report
from lowdim.workflow.source import read_columns

__all__ = ["cluster_client", "on_cluster", "transform_on_cluster"]

LOCAL = "local"


@contextmanager
def cluster_client(address: str | None) -> Iterator[None]:
    """Connect to the scheduler at an address for the time of a command; "local" starts workers on this machine."""
    if address is None:
        yield
        return
    try:
        import distributed
    except ImportError as error:
        raise MissingExtra("--cluster needs Dask; install it with pip install 'lowdim[dask]'.") from error
    try:
        # How long to try is said by Dask's configuration: distributed.comm.timeouts.connect.
        connect: Any = distributed.Client
        client = connect(processes=True, dashboard_address=None) if address == LOCAL else connect(address)
    except (OSError, ValueError) as error:  # TimeoutError is an OSError
        raise BadParameter(
            f"--cluster {address}: there is no Dask scheduler ({error}). Give an address such as tcp://host:8786, or "
            f"{LOCAL!r}, which starts workers on this machine."
        ) from error
    with client:
        yield


def on_cluster(table: Table, data: str) -> Table:
    """The table with rows that workers read themselves; its labels and row names are here already."""
    source = _parquet(data)
    if missing := [name for name in table.names if name not in source.names]:
        raise BadParameter(f"--cluster reads numbers as they are in the files, and {missing[0]!r} is made of text.")
    return replace(table, X=partitioned_rows(source, table.names), kind="rows")


def transform_on_cluster(model: Any, data: str, selection: ColumnSelection, path: Path) -> tuple[int, int]:
    """Let workers map the rows of Parquet files and write the coordinates: one file per partition, in a new folder.

    Returns the numbers of rows and of columns. Row names and labels that the selection names stand in the files too.
    """
    if path.suffix.lower() != ".parquet":
        raise BadParameter(f"-o {path}: with --cluster, workers write a folder of Parquet files. Name it *.parquet.")
    names = getattr(model, "feature_names_in_", None)
    known = tuple(map(str, names)) if names is not None and len(names) else None
    table = on_cluster(read_columns(data, selection, known), data)
    rows = table.rows()
    assert isinstance(rows, DaskRows)
    if rows.d != model.n_features_in_:
        raise BadInput(f"{data} has {rows.d} columns of numbers, but the model was fitted to {model.n_features_in_}.")
    axes = [str(name) for name in model.get_feature_names_out()]
    beside = {name: values for name, values in ((selection.id, table.ids), (table.label_name, table.labels)) if name}
    report("transforming partitions", 0, rows.n)
    compute(*_written(model, rows, path, axes, {k: v for k, v in beside.items() if v is not None}))
    report("transforming partitions", rows.n or 0, rows.n)
    return rows.count, len(axes)


def _written(model: Any, rows: DaskRows, path: Path, axes: list[str], beside: dict[str, Any]) -> list[Any]:
    """The delayed parts; each writes its file."""
    from dask.delayed import delayed

    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise BadInput(f"{path} exists already. Remove it, or give another name.")
    path.mkdir(parents=True, exist_ok=True)
    shared, write, out = delayed(model, pure=False, traverse=False), delayed(_write_part, pure=False), []
    digits = len(str(len(rows.parts)))
    for i, part in enumerate(rows.parts):
        cut = slice(int(rows.bounds[i]), int(rows.bounds[i + 1]))
        columns = {name: np.asarray(values)[cut] for name, values in beside.items()}
        file = path.absolute() / f"part.{i:0{digits}d}.parquet"
        out.append(write(part, rows.feature_names, shared, str(file), axes, columns))
    return out


def _write_part(
    part: Any, names: Sequence[str] | None, model: Any, file: str, axes: list[str], beside: dict[str, Any]
) -> int:
    """Map a partition, and write it beside its row names and labels; returns the number of rows."""
    import pyarrow as pa
    from pyarrow import parquet

    from lowdim.data.table import NamedArrayRows

    Z = np.asarray(model.transform(NamedArrayRows(part, names)))
    columns = {**{name: pa.array(values) for name, values in beside.items()}}
    columns |= {name: pa.array(np.ascontiguousarray(Z[:, j])) for j, name in enumerate(axes)}
    partial = Path(f"{file}.partial")
    parquet.write_table(pa.table(columns), partial)
    partial.replace(file)  # a task that is run again, after its worker died, leaves no half of a file
    return len(Z)


def _parquet(data: str) -> ParquetSource | ParquetFiles:
    path = Path(data)
    files = parquet_paths(path)
    if files is not None:
        return ParquetFiles(path, files)
    if path.suffix.lower() == ".parquet" and path.is_file():
        return ParquetSource(path)
    raise BadParameter(f"--cluster reads Parquet files, which workers open by themselves; {data} is not one.")

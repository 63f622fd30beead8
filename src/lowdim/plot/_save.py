"""A figure to a file, by its ending."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lowdim.errors import BadParameter
from lowdim.runtime.atomic_write import draft_beside

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["save"]


def save(ax: Axes, path: str | os.PathLike[str], *, dpi: int = 150) -> Path:
    """Write the figure of `ax` to a file, by its ending (.png, .svg, .pdf …), and let go of the figure."""
    from matplotlib import pyplot

    figure: Any = ax.get_figure(root=True)
    target = Path(path)
    kind = target.suffix[1:].lower()
    known = figure.canvas.get_supported_filetypes()
    if kind not in known:
        raise BadParameter(f"path must end in one of {', '.join(sorted(known))}; got {str(path)!r}.")
    buffer = BytesIO()
    figure.savefig(buffer, format=kind, dpi=dpi)
    with draft_beside(target) as draft:
        draft.write_bytes(buffer.getvalue())
    pyplot.close(figure)
    return target

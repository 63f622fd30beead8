"""Standalone HTML pages: one file that may run its own scripts, known by their hashes, and load nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Any

from lowdim.errors import BadInput

__all__ = ["json_for_script", "page_script", "with_content_security_policy"]


def json_for_script(data: Mapping[str, Any]) -> str:
    """JSON whose texts can't end the script element that it stands in."""
    return json.dumps(data).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def page_script(name: str) -> str:
    """The text of a script of this package's pages."""
    return files("lowdim.plot").joinpath(f"_{name}.js").read_text(encoding="utf-8")


def with_content_security_policy(html: str) -> str:
    """The page under a content security policy: it may run its own scripts, known by their hashes, and load nothing."""
    scripts = re.findall(r"<script(?: type=\"text/javascript\")?>(.*?)</script>", html, re.DOTALL)
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    policy = (
        f"default-src 'none'; script-src {allowed}; "
        "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"
    )
    meta = f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
    head, mark, rest = html.partition('<meta charset="utf-8">')
    if not mark:
        raise BadInput("this version of Bokeh writes pages without a character set; install bokeh 3.6 or later.")
    return f"{head}{mark}\n    {meta}{rest}"

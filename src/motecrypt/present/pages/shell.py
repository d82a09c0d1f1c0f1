"""What all pages share: the HTML file around them, with its style, scripts and data inside.

A page asks nothing of a network, and its content security policy would not let it. It runs only the scripts
whose hashes the policy names, so a name from a hostile firmware could not become a script even without
escaping. Templates escape every text, and control characters are written as numbers.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from motecrypt.base.text import printable

_HERE = Path(__file__).resolve().parent


def render(template: str, scripts: Sequence[str], data: Mapping[str, Any], **values: Any) -> str:
    """One HTML document.

    Parameters
    ----------
    template
        A file of `templates`, which extends base.html.
    scripts
        Files of `static`, in their order.
    data
        What the scripts read, as JSON in the element `data`.
    values
        What the template names; `title` and `command` among them.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["count"] = count
    environment.filters["share"] = share
    script = "\n".join(_static(name) for name in scripts)
    hashed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.get_template(template).render(
        style=Markup(_static("pages.css")),
        script=Markup(script),
        script_hash=hashed,
        data=Markup(embedded(data)),
        **values,
    )


def _shown(value: Any) -> Any:
    return printable(value) if type(value) is str else value


def embedded(value: Mapping[str, Any]) -> str:
    """JSON that cannot end the element it is in, and whose texts have no control characters."""
    text = json.dumps(_cleaned(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {printable(str(key)): _cleaned(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(one) for one in value]
    return value


def count(value: float | None) -> str:
    """A number with commas between thousands, of at most four digits behind its integer part; "" for None."""
    if value is None:
        return ""
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def share(part: float, whole: float) -> str:
    """A part in per cent, with one digit behind the point."""
    return f"{100 * part / whole:.1f} %" if whole else ""


def _static(name: str) -> str:
    return (_HERE / "static" / name).read_text(encoding="utf-8")

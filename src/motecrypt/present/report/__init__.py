"""Results as one self-contained HTML file, and its figures as SVG, PDF and CSV. Reads; never measures.

`page.render(content)` makes the file, `figure.export(...)` the figures; both draw what `content.gather`
found in the results. Depends on neither runners nor build.
"""

from motecrypt.present.report.content import Content, gather
from motecrypt.present.report.export import export_figures
from motecrypt.present.report.page import pieces, render

__all__ = ["Content", "export_figures", "gather", "pieces", "render"]

"""Executing notebooks with parameters and rendering them as pages that need no network."""

from pathlib import Path
from typing import Any

from nscmdp.runs import files

OFFLINE = """{%- extends "classic/index.html.j2" -%}
{%- block html_head_js -%}{%- endblock -%}
{%- block html_head_js_mathjax -%}{%- endblock -%}
"""


def execute(notebook: Path, parameters: dict[str, Any], output: Path) -> None:
    """Run a notebook with papermill; the executed copy appears under its name only when every cell has run."""
    import papermill

    def run(temporary: Path) -> None:
        papermill.execute_notebook(
            str(notebook),
            str(temporary),
            parameters=parameters,
            kernel_name="python3",
            progress_bar=False,
            start_timeout=300,  # a busy machine may take long to start one
        )

    files.in_one_piece(output, run)


def render(notebook: Path, output: Path) -> None:
    """HTML of an executed notebook, with nothing to be fetched."""
    import nbformat
    from jinja2 import DictLoader
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(
        template_name="classic",
        template_file="offline.html.j2",
        extra_loaders=[DictLoader({"offline.html.j2": OFFLINE})],
    )
    page, _ = exporter.from_notebook_node(nbformat.read(notebook, as_version=4))
    files.write_text(output, page)

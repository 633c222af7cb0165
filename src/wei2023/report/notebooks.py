"""Executing notebooks with parameters and rendering them as pages that need no network."""

from pathlib import Path
from typing import Any

from nscmdp import files


def execute(notebook: Path, parameters: dict[str, Any], output: Path) -> None:
    """Run a notebook with papermill; its executed copy is kept only when every cell has run."""
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

    from wei2023.report.notebook_exporter import Exporter

    named = {"metadata": {"name": notebook.stem.replace("_", " ")}}
    try:
        page, _ = Exporter().from_notebook_node(nbformat.read(notebook, as_version=4), named)
    except ValueError as error:
        raise ValueError(f"{notebook}: {error}") from None
    files.write_text(output, page)

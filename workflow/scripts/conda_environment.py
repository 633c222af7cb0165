"""Write environment.yml from pyproject.toml and requirements.lock: `make lock` does it, a test compares them."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\\\n]+)", re.M)


def environment() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["dev"]
    direct = {re.split(r"[<>=!~; ]", requirement)[0].lower() for requirement in wanted}
    pins = [match.group().strip() for match in PIN.finditer((ROOT / "requirements.lock").read_text())]
    chosen = [pin for pin in pins if pin.split("==")[0].lower() in direct]
    lines = [
        "# For conda users: conda env create -f environment.yml",
        "# Written by `make lock`: the direct dependencies as pinned in requirements.lock, and the package.",
        f"name: {project['name']}",
        "channels:",
        "  - conda-forge",
        "dependencies:",
        f"  - python {project['requires-python']}",
        "  - pip",
        "  - pip:",
        *[f'      - "{pin}"' for pin in chosen],
        '      - "--editable ."',
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (ROOT / "environment.yml").write_text(environment())

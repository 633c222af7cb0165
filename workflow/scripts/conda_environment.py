"""Write the conda environments from pyproject.toml and requirements.lock: `make lock` does it, a test compares them.

environment.yml is for a person who works in the project, workflow/envs/nscmdp.yml for Snakemake (--sdm conda), which
copies the file elsewhere: there the package itself is installed by the script beside it.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\\\n]+)", re.M)


def environment(about: str, extras: list[str], *more: str) -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = project["dependencies"] + [
        one for extra in extras for one in project["optional-dependencies"][extra]
    ]
    direct = {re.split(r"[<>=!~; ]", requirement)[0].lower() for requirement in wanted}
    pins = [
        match.group().strip() for match in PIN.finditer((ROOT / "requirements.lock").read_text())
    ]
    chosen = [pin for pin in pins if pin.split("==")[0].lower() in direct]
    lines = [
        f"# {about}",
        "# Written by `make lock`: the direct dependencies as pinned in requirements.lock.",
        f"name: {project['name']}",
        "channels:",
        "  - conda-forge",
        "dependencies:",
        f"  - python {project['requires-python']}",
        "  - pip",
        "  - pip:",
        *[f'      - "{pin}"' for pin in (*chosen, *more)],
    ]
    return "\n".join(lines) + "\n"


ENVIRONMENTS = {
    "environment.yml": (
        "For conda users: conda env create -f environment.yml",
        ["dev"],
        "--editable .",
    ),
    "workflow/envs/nscmdp.yml": ("For Snakemake: snakemake --sdm conda", []),
}

if __name__ == "__main__":
    for name, arguments in ENVIRONMENTS.items():
        (ROOT / name).write_text(environment(*arguments))

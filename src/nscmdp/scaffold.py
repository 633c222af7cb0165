"""Starting files for an algorithm or an environment of one's own: ``nscmdp new``."""

from importlib import resources
from pathlib import Path
from string import Template

from nscmdp.kernels import sources

KINDS = {"algorithm": "algorithms", "environment": "environments"}


def write(kind: str, name: str, folder: Path) -> list[Path]:
    """``NAME.py`` and ``test_NAME.py`` in a folder; nothing that is there is written over."""
    if not name.isidentifier() or name != name.lower():
        raise ValueError(f"{name!r}: expected a name in small letters, such as my_learner")
    if (sources.PACKAGE / KINDS[kind] / f"{name}.py").is_file():
        raise ValueError(
            f"{name!r} is one of the package's own {KINDS[kind]}: expected another name"
        )
    words = {
        "name": name,
        "kind": KINDS[kind],
        "title": name.replace("_", " ").capitalize(),
        "class_name": "".join(part.capitalize() for part in name.split("_")),
    }
    files = {folder / f"{name}.py": f"{kind}.py.txt", folder / f"test_{name}.py": "test.py.txt"}
    for file in files:
        if file.exists():
            raise ValueError(f"{file} is there already")
    for file, template in files.items():
        text = resources.files("nscmdp").joinpath("templates", template).read_text(encoding="utf-8")
        file.write_text(Template(text).substitute(words), encoding="utf-8")
    return list(files)

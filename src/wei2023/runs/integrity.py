"""Is a results folder whole: every planned file there, sound, and made by these sources from what is planned?

A run notes its configuration (config.json) when it starts and the checksums of its files (checksums.txt, in the form
that ``sha256sum -c`` reads) when it ends. Whatever starts later removes the checksums first, so where they stand, any
file that differs from them has been damaged.
"""

import hashlib
import json
import os
import shlex
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from nscmdp import files, plugins
from wei2023.runs import specifications
from wei2023.study import layout
from wei2023.study.layout import CHECKSUMS, CONFIG
from wei2023.study.plan import Plan, make


class Planned(NamedTuple):
    """A Parquet file that the plan asks for."""

    name: str  # below the results folder
    specification: dict[str, Any]
    rows: list[tuple[str, str, int]] | None = None  # (case, learner, seed) of its runs


def runs(plan: Plan, experiment: str) -> list[Planned]:
    cases = [case.name for case in plan.cases_of(experiment)]
    specs = {
        unit: specifications.simulation(plan, experiment, unit)
        for unit in plan.experiment(experiment).units
    }
    return [
        Planned(name, specs[unit], list(product(cases, specs[unit]["learners"], seeds)))
        for unit, seeds, name in plan.run_files(experiment)
    ]


def policies(plan: Plan, experiment: str) -> list[Planned]:
    return [
        Planned(name, specifications.policies(plan, experiment, unit))
        for unit, name in plan.policy_files(experiment)
    ]


def optima(plan: Plan, experiment: str) -> Planned:
    """Of an experiment, or of another one that has the same environments."""
    return _solved(plan, plan.optima_of(experiment))


def _solved(plan: Plan, name: str) -> Planned:
    return Planned(layout.optima(name), specifications.optimum(plan, name))


def searches(plan: Plan) -> list[Planned]:
    return [
        Planned(name, specifications.search(plan, tuning, algorithm, episodes, search))
        for tuning, algorithm, episodes, search, name in plan.search_files()
    ]


def tunings(plan: Plan) -> list[Planned]:
    return [
        Planned(name, specifications.tuning(plan, tuning, algorithm, episodes))
        for tuning, algorithm, episodes, name in plan.tuning_files()
    ]


def planned(plan: Plan) -> list[Planned]:
    environments = [_solved(plan, name) for name in plan.solved]
    tuned = [*searches(plan), *tunings(plan)]
    watched = [file for name in plan.watched for file in policies(plan, name)]
    return [
        *environments,
        *tuned,
        *(file for name in plan.experiments for file in runs(plan, name)),
        *watched,
    ]


def read(folder: Path, wanted: Planned) -> pa.Table:
    """A planned file, if it is sound and is what was planned."""
    file = folder / wanted.name
    table = files.read_expected(file, files.provenance(wanted.specification))
    if wanted.rows is not None:
        found = list(
            zip(*(table[column].to_pylist() for column in ("case", "learner", "seed")), strict=True)
        )
        if found != wanted.rows:
            raise files.Foreign(
                file, f"it holds other runs than {wanted.rows[0]} to {wanted.rows[-1]}"
            )
    return table


def read_all(folder: Path, wanted: Iterable[Planned]) -> list[pa.Table]:
    """Planned files; those that are damaged or foreign are refused together."""
    tables, refused = [], []
    for one in wanted:
        try:
            tables.append(read(folder, one))
        except files.Damaged as problem:
            refused.append(problem)
    if refused:
        raise files.Refused(refused)
    return tables


def start(plan: Plan, folder: Path) -> None:
    """Note what is going to be made."""
    (folder / CHECKSUMS).unlink(missing_ok=True)
    files.write_text(
        folder / CONFIG, plan.config.model_dump_json(indent=2, exclude_unset=True) + "\n"
    )


def finish(folder: Path) -> None:
    """Note the checksums of all that the run has made."""
    lines = [f"{_sha256(folder / name)}  {name}\n" for name in sorted(noted_plan(folder).files())]
    files.write_text(folder / CHECKSUMS, "".join(lines))


def repair(plan: Plan, folder: Path) -> list[str]:
    """Remove what a run cut short has left over and what has been damaged; says what it did.

    The pipeline then makes anew what is missing. With the checksums gone it looks at every file, also at those
    that nothing else asks for any more.
    """
    left = [file for file in files.temporaries(folder) if files.is_abandoned(file)]
    damaged = _damaged(plan, folder)
    missing = [name for name in _noted_checksums(folder) if not (folder / name).exists()]
    for file in (*left, *(problem.file for problem in damaged)):
        file.unlink(missing_ok=True)
    if damaged or missing:
        (folder / CHECKSUMS).unlink(missing_ok=True)
    said = [f"{file} was left over by a process that is gone: removed" for file in left]
    said += [f"{problem.file} {problem.reason}: it is made anew" for problem in damaged]
    return said + [f"{folder / name} is missing: it is made anew" for name in missing]


def _damaged(plan: Plan, folder: Path) -> list[files.Damaged]:
    """Files that are there and unsound. Of an unfinished run, only those that hold their own checksum."""
    noted = _noted_checksums(folder)
    if noted:
        return _changed(folder, noted)
    problems = []
    for file in (folder / one.name for one in planned(plan)):
        try:
            if file.exists():
                files.read(file)
        except files.Damaged as problem:
            problems.append(problem)
    return problems


def _changed(folder: Path, noted: dict[str, str]) -> list[files.Damaged]:
    there = [name for name in noted if (folder / name).exists()]
    changed = [folder / name for name in there if _sha256(folder / name) != noted[name]]
    return [files.Damaged(file, "it is not what the run has written") for file in changed]


class Audit(NamedTuple):
    """What was found in a results folder."""

    results: str  # the folder, as the configuration calls it
    files: int
    redo: dict[str, str]  # file -> why it must be made anew
    remove: dict[str, str]  # file -> why it does not belong there
    finished: bool

    def __str__(self) -> str:
        if self.sound:
            return f"{self.results}: {self.files} files, all there, sound and as planned"
        lines = [
            f"{self.results}/{name}: {why}"
            for name, why in sorted((self.redo | self.remove).items())
        ]
        if not self.finished:
            lines.append(f"{self.results}/{CHECKSUMS} is missing: the run has not come to its end")
        if self.redo or not self.finished:
            command = ["snakemake", "--cores", "all", "--rerun-incomplete"]
            command += ["--configfile", f"{self.results}/{CONFIG}"]
            command += (
                ["--forcerun", *(f"{self.results}/{name}" for name in sorted(self.redo))]
                if self.redo
                else []
            )
            lines.append(f"To make only what is needed anew:\n  {shlex.join(command)}")
        if self.remove:
            files = shlex.join(f"{self.results}/{name}" for name in sorted(self.remove))
            lines.append(f"To remove what does not belong there:\n  rm {files}")
        return "\n".join(lines)

    @property
    def sound(self) -> bool:
        return self.finished and not self.redo and not self.remove


def check(folder: Path) -> Audit:
    """Audit a results folder against its own configuration and the sources at hand."""
    plan = noted_plan(folder)
    noted = _noted_checksums(folder)
    redo = {name: "missing" for name in noted if not (folder / name).exists()}
    redo |= {_below(problem.file, folder): problem.reason for problem in _changed(folder, noted)}
    known = {one.name: one for one in planned(plan)}
    for name in known.keys() - redo.keys():
        try:
            read(folder, known[name])
        except files.Damaged as problem:
            redo[name] = problem.reason
    remove = {_below(file, folder): "a temporary file" for file in files.temporaries(folder)}
    for name in _files(folder) - noted.keys() - known.keys() - remove.keys():
        if noted or name.partition("/")[0] in layout.RUNS:
            remove[name] = "not of this run"
    return Audit(plan.config.results, len(noted.keys() | known.keys()), redo, remove, bool(noted))


def load_plugins(folder: Path) -> None:
    """Those of the run whose results these are, if it noted any."""
    if (folder / CONFIG).is_file():
        plugins.load(json.loads((folder / CONFIG).read_text(encoding="utf-8")).get("plugins", []))


def noted_plan(folder: Path) -> Plan:
    try:
        return make(json.loads((folder / CONFIG).read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise ValueError(
            f"{folder / CONFIG} does not exist: no run has been started in {folder}"
        ) from None


def _noted_checksums(folder: Path) -> dict[str, str]:
    try:
        lines = (folder / CHECKSUMS).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    return {name: checksum for checksum, _, name in (line.partition("  ") for line in lines)}


def _files(folder: Path) -> set[str]:
    """The names of all files that ought to be results."""
    names = {
        _below(Path(parent) / name, folder)
        for parent, _, names in os.walk(folder)
        for name in names
    }
    return {name for name in names if name.partition("/")[0] not in layout.NOT_RESULTS} - {
        CONFIG,
        CHECKSUMS,
    }


def _below(file: Path, folder: Path) -> str:
    return file.relative_to(folder).as_posix()


def _sha256(file: Path) -> str:
    with open(file, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()

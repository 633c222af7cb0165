"""Is a results folder whole: every planned file there, sound, and made by these sources from what is planned?

A run notes its configuration (config.json) when it starts and the checksums of its files (checksums.txt, in the form
that ``sha256sum -c`` reads) when it ends. Whatever starts later removes the checksums first, so where they stand, any
file that differs from them has been damaged.
"""

import hashlib
import json
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
    cases, specs = [case.name for case in plan.cases_of(experiment)], {}
    for unit in plan.experiment(experiment).units:
        specs[unit] = specifications.simulation(plan, experiment, unit)
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
    name = plan.optima_of(experiment)
    return Planned(layout.optima(name), specifications.optimum(plan, name))


def tunings(plan: Plan) -> list[Planned]:
    return [
        Planned(file, specifications.tuning(plan, name, algorithm, episodes))
        for name, algorithm, episodes, file in plan.tuning_files()
    ]


def planned(plan: Plan) -> list[Planned]:
    """All files that jobs compute."""
    return [
        *(Planned(layout.optima(name), specifications.optimum(plan, name)) for name in plan.solved),
        *(
            Planned(file, specifications.search(plan, name, algorithm, episodes, number))
            for name, algorithm, episodes, number, file in plan.search_files()
        ),
        *tunings(plan),
        *(file for name in plan.experiments for file in runs(plan, name)),
        *(file for name in plan.watched for file in policies(plan, name)),
    ]


def read(folder: Path, wanted: Planned) -> pa.Table:
    """A planned file, if it is sound and is what was planned."""
    file = folder / wanted.name
    table = files.read_expected(file, files.provenance(wanted.specification))
    if wanted.rows is not None:
        columns = (table[name].to_pylist() for name in ("case", "learner", "seed"))
        if [*zip(*columns, strict=True)] != wanted.rows:
            what = f"it holds other runs than {wanted.rows[0]} to {wanted.rows[-1]}"
            raise files.Foreign(file, what)
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
    noted = plan.config.model_dump_json(indent=2, exclude_unset=True)
    files.write_text(folder / CONFIG, noted + "\n")


def write(plan: Plan, folder: Path) -> None:
    """Note the checksums of all that the run has made."""
    lines = [f"{_sha256(folder / name)}  {name}\n" for name in sorted(plan.files())]
    files.write_text(folder / CHECKSUMS, "".join(lines))


def repair(plan: Plan, folder: Path) -> list[str]:
    """Remove what a run cut short has left over and what has been damaged; says what it did.

    The pipeline then makes anew what is missing. With the checksums gone it looks at every file, also at those
    that nothing else asks for any more. Of an unfinished run, files that hold their own checksum are looked at.
    """
    left = [file for file in files.temporaries(folder) if files.is_abandoned(file)]
    noted = _noted_checksums(folder)
    damaged, missing = _changed(folder, noted)
    for file in () if noted else (folder / one.name for one in planned(plan)):
        try:
            if file.exists():
                files.read(file)
        except files.Damaged as problem:
            damaged.append(problem)
    for file in (*left, *(problem.file for problem in damaged)):
        file.unlink(missing_ok=True)
    if damaged or missing:
        (folder / CHECKSUMS).unlink(missing_ok=True)
    said = [f"{file} was left over by a process that is gone: removed" for file in left]
    said += [f"{problem.file} {problem.reason}: it is made anew" for problem in damaged]
    return said + [f"{folder / name} is missing: it is made anew" for name in missing]


def _changed(folder: Path, noted: dict[str, str]) -> tuple[list[files.Damaged], list[str]]:
    """What differs from the noted checksums, and what is gone."""
    missing = [name for name in noted if not (folder / name).exists()]
    there = [folder / name for name in noted if name not in missing]
    changed = [file for file in there if _sha256(file) != noted[_below(file, folder)]]
    return [files.Damaged(file, "it is not what the run has written") for file in changed], missing


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
        wrong = sorted((self.redo | self.remove).items())
        lines = [f"{self.results}/{name}: {why}" for name, why in wrong]
        if not self.finished:
            lines.append(f"{self.results}/{CHECKSUMS} is missing: the run has not come to its end")
        redo, remove = (
            [f"{self.results}/{name}" for name in sorted(names)]
            for names in (self.redo, self.remove)
        )
        if redo or not self.finished:
            command = ["snakemake", "--cores", "all", "--rerun-incomplete"]
            command += ["--configfile", f"{self.results}/{CONFIG}"]
            command += ["--forcerun", *redo] if redo else []
            lines.append(f"To make only what is needed anew:\n  {shlex.join(command)}")
        if remove:
            lines.append(f"To remove what does not belong there:\n  rm {shlex.join(remove)}")
        return "\n".join(lines)

    @property
    def sound(self) -> bool:
        return self.finished and not self.redo and not self.remove


def check(folder: Path) -> Audit:
    """Audit a results folder against its own configuration and the sources at hand."""
    plan, noted = noted_plan(folder), _noted_checksums(folder)
    changed, missing = _changed(folder, noted)
    redo = dict.fromkeys(missing, "missing")
    redo |= {_below(problem.file, folder): problem.reason for problem in changed}
    known = {one.name: one for one in planned(plan)}
    for name in known.keys() - redo.keys():
        try:
            read(folder, known[name])
        except files.Damaged as problem:
            redo[name] = problem.reason
    remove = {_below(file, folder): "a temporary file" for file in files.temporaries(folder)}
    there = {_below(file, folder) for file in folder.rglob("*") if file.is_file()}
    for name in there - {CONFIG, CHECKSUMS} - noted.keys() - known.keys() - remove.keys():
        room = name.partition("/")[0]
        if room not in layout.NOT_RESULTS and (noted or room in layout.RUNS):
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
        what = f"{folder / CONFIG} does not exist: no run has been started in {folder}"
        raise ValueError(what) from None


def _noted_checksums(folder: Path) -> dict[str, str]:
    try:
        lines = (folder / CHECKSUMS).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    return {name: checksum for checksum, _, name in (line.partition("  ") for line in lines)}


def _below(file: Path, folder: Path) -> str:
    return file.relative_to(folder).as_posix()


def _sha256(file: Path) -> str:
    with open(file, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()

"""The whole pipeline on the tiny preset: same bits whatever the cores and batches, and no work done twice."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from small_project import command
from structure import Structure
from wei2023.report.page import OWN, provenance
from wei2023.runs import integrity
from wei2023.study import catalogue, layout, plan

ROOT = Path(__file__).parent.parent
WEI2023 = str(Path(sys.executable).with_name("wei2023"))


def copied(folder):
    """A copy of the project in a folder, with the package in it."""
    for name in ("src", "workflow", "notebooks"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Snakefile", "config.yaml", "environment.yml"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def called(folder, module, *arguments):
    """Run a module with the package of a copy of the project."""
    started = command(folder, source=folder / "src") | {
        "args": [sys.executable, "-m", module, *arguments]
    }
    return subprocess.run(**started, capture_output=True, text=True, check=False)


def check(folder, results):
    """What ``wei2023 check`` says of results."""
    started = command(folder, source=folder / "src") | {"args": [WEI2023, "check", results]}
    return subprocess.run(**started, capture_output=True, text=True, check=False)


def snakemake(folder, *arguments, check=True, cores=2):
    done = called(folder, "snakemake", "--cores", str(cores), *arguments)
    if check and done.returncode != 0:
        logs = "\n".join(log.read_text() for log in folder.glob("*/logs/**/*.log"))
        raise AssertionError(f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}\n{logs[-4000:]}")
    return done


def tiny(folder, *arguments, **options):
    return snakemake(folder, *arguments, "--configfile", "workflow/presets/tiny.yaml", **options)


def test_a_configuration_has_as_many_jobs_as_snakemake_plans(tmp_path):
    folder = copied(tmp_path)
    files = (folder / "config.yaml", folder / "workflow/presets/tiny.yaml")
    said = tiny(folder, "--dry-run", "--quiet", "rules")
    total = re.search(r"^total +(\d+)$", said.stdout + said.stderr, re.M)
    assert int(total[1]) == plan.load(*files).jobs()


def planned(folder):
    """The learners whose simulations a dry run would do."""
    return set(re.findall(r"Simulating (\S+) on ", tiny(folder, "--dry-run").stdout))


def hashes(results):
    kept = [
        file
        for part in ("tables", "figures")
        for file in sorted((results / part).rglob("*"))
        if file.is_file()
    ]
    return {
        str(file.relative_to(results)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in kept
    }


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project in which the tiny preset has been run."""
    folder = copied(tmp_path_factory.mktemp("project"))
    tiny(folder, cores=4)
    return folder


def test_one_command_makes_figure_table_notebook_and_page(project):
    for name in (
        "figures/grid_world.svg",
        "figures/grid_world.png",
        "notebooks/grid_world.ipynb",
        "notebooks/grid_world.html",
        "tables/protocols_800/summary.csv",
        "index.html",
    ):
        assert (project / "results" / name).stat().st_size > 0, name


def test_pages_need_no_network(project):
    for page in project.glob("results/**/*.html"):
        text = page.read_text()
        assert not re.search(r"""(src|href)=["']?(https?:)?//""", text), page
        assert not re.search(r"""import .* from ['"]https?:""", text), page


@pytest.mark.parametrize(
    "name", [layout.PAGE, layout.CLAIMS_PAGE, layout.DEVIATIONS_PAGE, layout.BENCHMARKS]
)
def test_pages_are_sound(project, name):
    """Nothing that they refer to is missing, pictures have a text, headings are in order, names are unique."""
    assert Structure(project / "results" / name).faults() == []


def test_the_page_has_every_section_that_the_preset_can_have(project):
    there = {*Structure(project / "results" / layout.PAGE).sections}
    assert there >= {*OWN, *(one.name for one in catalogue.NOTEBOOKS)} - {"linear"}
    assert "linear" not in there


def test_the_page_names_the_rules_that_made_its_tables_and_figures(project):
    """As Snakemake has noted them."""

    def maker(file):
        kept = base64.b64encode(f"results/{file}".encode()).decode()
        return json.loads((project / ".snakemake/metadata" / kept).read_text())["rule"]

    noted = integrity.noted_plan(project / "results")
    shown = {one.title: one for one in provenance.context(noted, project)["tables"]}
    rows = shown["Where every table comes from"].rows
    named = {re.search(r"\((.*)\)", row[0])[1]: row[2] for row in rows if "(" in row[0]}
    assert named == {file: maker(file) for file in noted.judged()}
    for figure, notebook, _ in shown["Where every figure comes from"].rows:
        drawn, shows = (re.search(r"\((.*)\)", cell)[1] for cell in (figure, notebook))
        assert maker(drawn) == f"notebook_{Path(shows).stem}"
    assert {maker(file) for file in noted.tables()} == {"tables"}


def test_snakemake_can_report_on_the_run(project):
    tiny(project, "--report", "report.html")
    text = (project / "report.html").read_text()
    for result in (
        "results/figures/grid_world.svg",
        "results/tables/comparison.csv",
        "results/index.html",
    ):
        assert f'"{result}"' in text
    for category in ("Figures", "Tables and verdicts", "Experiments", "Notebooks", "Pages"):
        assert f'"{category}"' in text


def test_nothing_is_left_to_do_after_a_run(project):
    assert "Nothing to be done" in tiny(project).stderr


@pytest.mark.slow
def test_a_second_run_from_scratch_on_other_cores_in_other_batches_gives_the_same_bits(project):
    first = hashes(project / "results")
    tables = [name for name in first if name.startswith("tables/") and name.count("/") == 2]
    wanted = [f"other/{name}" for name in tables]
    tiny(project, *wanted, "--config", "results=other", "batch=5", cores=1)
    made = [hashlib.sha256((project / name).read_bytes()).hexdigest() for name in wanted]
    assert made == [first[name] for name in tables]
    assert len(tables) >= 8


@contextmanager
def edited(file, old, new):
    before = file.read_text()
    assert before.count(old) == 1
    file.write_text(before.replace(old, new))
    try:
        yield
    finally:
        file.write_text(before)


def test_editing_an_algorithm_reruns_its_simulations_alone(project):
    assert planned(project) == set()
    file = project / "src/nscmdp/algorithms/triple_q.py"
    with edited(file, "TITLE = ", "# a comment decides nothing\nTITLE = "):
        assert planned(project) == set()
    with edited(
        file, "iota, chi = iota_of(problem), K**0.2", "iota, chi = iota_of(problem), 2 * K**0.2"
    ):
        learners = {unit.partition(".")[0] for unit in planned(project)}
        assert learners == {"triple_q", "detecting_triple_q"}  # which is built on it


def test_editing_the_formula_of_the_gap_reruns_what_was_measured_by_it(project):
    """Every run: those kept by windows hold the gap, the others are compared by the same module."""
    units = {file.parent.name for file in project.glob("results/simulations/*/*/*.parquet")}
    formula = "gap = regret + optimum[:, 2] * violated"
    with edited(project / "src/nscmdp/metrics.py", formula, formula.replace("+", "-")):
        assert planned(project) == units
        audit = check(project, "results")
        assert audit.returncode == 1
        assert audit.stdout.count("it was made from another specification (sources)") >= len(units)
    assert check(project, "results").returncode == 0


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ("results=[]", "results"),
        ("batch=0", "batch"),
        ("batches=3", "batches"),
        ("experiments=3", "experiments"),
        ("experiments=[] suite= protocols= claims= shown=[] tunings=[]", "experiments"),
    ],
)
def test_a_wrong_config_stops_before_any_job(project, setting, named):
    done = tiny(project, "--config", *setting.split(), check=False)
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert f"config: {named}" in said
    assert "Traceback" not in said
    assert "localrule" not in said
    assert "rule simulate" not in said


def test_more_seeds_run_no_old_seed_again(project):
    """The last of this file: it goes on from the results of the first run."""
    preset = yaml.safe_load((project / "workflow/presets/tiny.yaml").read_text())
    for experiment in preset["experiments"]:
        experiment["seeds"] += 2
    preset["protocols"]["seeds"] += 2
    (project / "more.yaml").write_text(yaml.safe_dump(preset))
    old = {
        file: file.stat().st_mtime_ns
        for file in project.glob("results/simulations/**/seeds=1000-1001.parquet")
    }
    snakemake(project, "results/tables/protocols_800/summary.csv", "--configfile", "more.yaml")
    log = project / "results/logs/simulations/protocols_800/triple_q.authors/seeds=1002-1003.log"
    said = log.read_text()
    assert (
        "seed=1/default/K=800 triple_q.authors seed 1002: taken from seeds=1002-1002.parquet"
        in said
    )
    assert "seed 1002: episode" not in said
    assert "triple_q.authors seed 1003: episode 800 of 800" in said
    assert old
    assert all(file.stat().st_mtime_ns == before for file, before in old.items())

"""Algorithms and environments from outside the package: found, used by name, and never mixed up with ours."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nscmdp import algorithms, environments, plugins
from wei2023.runs import specifications
from wei2023.runs.specifications import run_digest
from wei2023.study import config, plan

LEARNER = '''
"""Always the same: plays one action with a given probability."""

from typing import NamedTuple

from nscmdp.learner import Factor, operation, policy

FACTORS = {"share": Factor(0.5, 0.1, 1.0)}


class %(name)sState(NamedTuple):
    share: float


def learner(problem, factors):
    return %(name)sState(factors.share)


@operation(policy, %(name)sState)
def _(learner, h, x, probabilities):
    probabilities[:] = (1 - learner.share) / (len(probabilities) - 1)
    probabilities[%(action)s] = learner.share
'''
WORLD = '''
import numpy as np
from nscmdp import CMDP
from nscmdp.drift import DriftingCMDP

def %(name)s(episodes: int, *, pay: float = 0.5, seed: int = 0) -> DriftingCMDP:
    """Two actions, one state, one step."""
    model = CMDP(P=np.ones((1, 1, 2, 1)), r=[[[pay, 1.0]]], g=[[[1.0, 0.0]]], rho=0.5, mu0=[1.0])
    return DriftingCMDP([model], [1], episodes=episodes, name="%(name)s", seed=seed)
'''


def written(folder, name, text=LEARNER, **words):
    file = folder / f"{name}.py"
    file.write_text(text % {"name": name, "action": 0, **words})
    return file


def study(folder, algorithm, world="menu"):
    files = [folder / f"{name}.py" for name in (algorithm, world)]
    settings = {algorithm: "scaled", "uniform": "literal"}
    learners = [{"algorithm": name, "setting": setting} for name, setting in settings.items()]
    one = {"name": "one", "environment": {"name": world}, "episodes": [64], "seeds": 2}
    plugged = [str(file) for file in files if file.exists()]
    return {"plugins": plugged, "experiments": [one | {"learners": learners}]}


@pytest.mark.usefixtures("known")
def test_a_file_is_used_by_its_name(tmp_path):
    plugins.load([written(tmp_path, "steady"), written(tmp_path, "booth", WORLD)])
    assert "steady" in algorithms.NAMES
    assert "steady" not in algorithms.OWN
    assert "booth" in environments.NAMES
    assert algorithms.settings("steady") == ("scaled",)
    assert algorithms.title("steady") == "Always the same"
    assert environments.make("booth", 5, pay=0.25).at(3).r[0, 0, 0] == 0.25
    planned = plan.make(study(tmp_path, "steady", "booth"))
    spec = specifications.simulation(planned, "one", "steady.scaled")
    assert spec["plugins"] == sorted(str(tmp_path / f"{name}.py") for name in ("booth", "steady"))
    without = plan.make(study(tmp_path, "triple_q"))
    assert "plugins" not in specifications.simulation(without, "one", "uniform.literal")


@pytest.mark.usefixtures("known")
def test_the_schema_of_the_repository_does_not_know_of_plug_ins(tmp_path):
    before = config.schema_text()
    plugins.load([written(tmp_path, "steady")])
    assert config.schema_text() == before
    raw = study(tmp_path, "steady")
    assert config.parse(raw).experiments[0].learners[0].factors.share == 0.5
    raw["experiments"][0]["learners"][0]["factors"] = {"shar": 0.1}
    with pytest.raises(config.Unacceptable, match=r"shar.*unknown key, did you mean share"):
        config.parse(raw)
    raw["experiments"][0]["learners"][0] = {"algorithm": "stedy", "setting": "scaled"}
    with pytest.raises(config.Unacceptable, match="did you mean steady"):
        config.parse(raw)


MISTAKES = {
    "there is none": (None, "there is no such file"),
    "1st": (LEARNER, "expected a file whose name is one of Python's"),
    "uniform": (LEARNER, "is one of the package's own names"),
    "empty": ("", r"expected a function learner \(an algorithm\) or empty \(an environment\)"),
    "broken": ("import no_such_module", "cannot be imported: ModuleNotFoundError"),
}


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("name", MISTAKES)
def test_a_file_that_cannot_be_used_is_refused_before_any_work(tmp_path, name):
    text, says = MISTAKES[name]
    if text is not None:
        written(tmp_path, name, text.replace("%(name)s", "Odd").replace("%(action)s", "0"))
    with pytest.raises(config.Unacceptable, match=f"config: plugins: .*{says}"):
        plan.make({**study(tmp_path, "uniform"), "plugins": [str(tmp_path / f"{name}.py")]})
    assert name in algorithms.OWN or name not in algorithms.NAMES


@pytest.mark.usefixtures("known")
def test_two_files_of_one_name_are_refused(tmp_path):
    (tmp_path / "other").mkdir()
    first, second = written(tmp_path, "steady"), written(tmp_path / "other", "steady")
    plugins.load([first])
    plugins.load([first])
    with pytest.raises(plugins.Unusable, match="steady is known already, from"):
        plugins.load([second])


DIGESTS = """
import json, sys
from nscmdp import algorithms, plugins
from wei2023.runs.specifications import run_digest
plugins.load(sys.argv[1:])
print(json.dumps({name: run_digest(name) for name in algorithms.NAMES}))
"""


def digests(*files):
    command = [sys.executable, "-c", DIGESTS, *files]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_an_edit_changes_the_hash_of_its_own_runs_alone(tmp_path):
    steady, other = written(tmp_path, "steady"), written(tmp_path, "other")
    before = digests(steady, other)
    assert before.items() >= {name: run_digest(name) for name in algorithms.OWN}.items()
    written(tmp_path, "steady", action=1)
    after = digests(steady, other)
    assert [name for name in before if before[name] != after[name]] == ["steady"]
    written(tmp_path, "steady", "# a comment\n" + LEARNER)
    assert digests(steady, other) == before


RUN = """
import sys
from nscmdp import environments, plugins, simulate
plugins.load(sys.argv[1:])
env = environments.make("menu", 20)
run = simulate.run(env, "steady", "scaled", 0, 20, factors={"share": 1.0}, solve=False)
print(run.value[0])
"""


def test_an_edit_compiles_its_own_kernels_again_and_no_others(tmp_path, monkeypatch):
    """Numba would take the old code for the new class: they have the same name and fields."""
    monkeypatch.setenv("NSCMDP_CACHE", str(tmp_path / "kernels"))
    found, kept = [], []
    for action in (0, 1, 1):
        file = written(tmp_path, "steady", action=action)
        command = [sys.executable, "-c", RUN, file]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found.append(float(done.stdout))
        kept.append({one: one.stat().st_mtime_ns for one in (tmp_path / "kernels").rglob("*.nb?")})
    assert found[0] != found[1] == found[2]
    assert kept[0].items() <= kept[1].items()  # nothing was evicted or compiled again ...
    assert kept[2] == kept[1]  # ... and what was compiled is found again
    folders = {one.relative_to(tmp_path / "kernels").parts[0] for one in kept[1]}
    assert len(folders) == 3  # ours, and one for each version of the plug-in


def test_an_installed_package_is_known_everywhere(tmp_path):
    """By its entry points, as pip would write them."""
    package, facts = tmp_path / "my_learners", tmp_path / "my_learners-1.0.dist-info"
    package.mkdir()
    facts.mkdir()
    (package / "__init__.py").write_text("")
    (package / "amounts.py").write_text("SHARE = 0.5\n")
    shared = "from my_learners.amounts import SHARE\nfrom nscmdp.learner"
    text = LEARNER.replace("from nscmdp.learner", shared)
    written(package, "steady", text.replace("Factor(0.5,", "Factor(SHARE,"))
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: my-learners\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[nscmdp.algorithms]\nsteady = my_learners.steady\n")

    def shown(code):
        path = os.pathsep.join([str(tmp_path), str(Path(plugins.__file__).parents[1])])
        environment = {"PYTHONPATH": path, "PATH": "", "HOME": str(tmp_path)}
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    digest = """
from nscmdp import cli
from wei2023.runs.specifications import run_digest
from wei2023.study import config
cli.main(["list"])
print(config.schema_text(), run_digest("steady"), sep="")
"""
    listed, digest_before = shown(digest).rsplit("\n", 2)[:2]
    assert "steady" in listed
    assert config.schema_text() in f"{listed}\n"  # as without the package
    (package / "amounts.py").write_text("SHARE = 0.75\n")
    assert shown(digest).rsplit("\n", 2)[1] != digest_before

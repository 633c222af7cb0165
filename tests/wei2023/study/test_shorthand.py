"""What config.yaml writes shorter: studies and tunings by name, draws, learners, a scale of seeds."""

import re

import pytest
import yaml

from shipped import ROOT
from wei2023.cli import steps
from wei2023.study import config, plan

PRESETS = ROOT / "workflow/presets"
DOCUMENTED = {  # how many jobs Snakemake has, by the presets that README, docs and Makefile name
    "": 468,
    "tiny": 124,
    "full": 748,
    "long": 45,
    "suite": 367,
    "suite suite_frames": 367,
    "search": 1280,
}
WALK = {"name": "walk", "environment": {"name": "menu"}, "episodes": [64], "seeds": 2}
WALK |= {"windows": 4, "keep": "windows", "learners": ["uniform.literal"]}


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("presets", DOCUMENTED)
def test_a_documented_configuration_has_as_many_jobs_as_it_should(presets):
    files = [PRESETS / f"{name}.yaml" for name in presets.split()]
    assert plan.load(ROOT / "config.yaml", *files).jobs() == DOCUMENTED[presets]


def test_the_example_of_a_plug_in_plans_its_own_jobs_alone(tmp_path):
    """As docs/extending.md says; other processes do not know its plug-in."""
    page = (ROOT / "docs/extending.md").read_text()
    (text,) = re.findall(r"^```yaml\n# mine.yaml\n(.*?)^```", page, re.M | re.S)
    raw = yaml.safe_load(text.replace("q_learner", "triple_q")) | {"plugins": []}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(raw))
    planned = plan.load(ROOT / "config.yaml", tmp_path / "mine.yaml")
    assert f"{planned.jobs()} jobs" in page
    assert planned.tunings == ["tuning"]
    assert planned.shown == planned.claim_groups == []


def test_config_yaml_is_the_paper_and_short():
    lines = (ROOT / "config.yaml").read_text().splitlines()
    named = [one for one in yaml.safe_load("\n".join(lines))["experiments"] if "study" in one]
    assert len(lines) <= 150
    assert {f"{one['study']}.yaml" for one in named} | {"tunings.yaml"} == {
        file.name for file in (ROOT / "workflow/studies").iterdir()
    }


def test_a_list_of_experiments_of_its_own_replaces_all_studies():
    planned = plan.load(ROOT / "config.yaml", settings=["protocols=", "experiments=[]"])
    assert planned.experiments == planned.tunings == planned.claim_groups == planned.shown == []


def test_settings_of_the_command_line_are_merged_as_snakemake_merges_them():
    settings = ["results=elsewhere", "batch=3", "effort={pool: 40}"]
    merged = plan.load(ROOT / "config.yaml", settings=settings).config
    assert (merged.results, merged.batch, merged.effort.pool) == ("elsewhere", 3, 40)
    assert merged.effort.population == 10


def test_a_preset_changes_keys_of_a_study_that_it_keeps():
    planned = plan.load(ROOT / "config.yaml", settings=["suite={instances: 2}", "claims="])
    assert len(planned.experiment("suite_fast").readings) == 2
    assert planned.claim_groups == []


def test_what_is_written_shorter_is_what_it_stands_for():
    short = {"experiments": [{**WALK, "draws": [1, 2]}], "scale": 3}
    learner = {"algorithm": "uniform", "setting": "literal"}
    long = {**WALK, "readings": [{"seed": 1}, {"seed": 2}], "learners": [learner], "seeds": 6}
    assert config.parse(short) == config.parse({"experiments": [long]})


def test_tunings_of_a_file_are_those_that_learners_name():
    planned = plan.make(
        {
            "tunings": "workflow/studies/tunings.yaml",
            "experiments": [{"study": "assumed_budget"}],
        }
    )
    assert planned.tunings == ["tuning_menu"]


def test_a_scale_multiplies_the_seeds_of_experiments_and_protocols():
    plain, scaled = (plan.load(ROOT / "config.yaml", settings=more) for more in ([], ["scale=2"]))
    for name in ("growth", "protocols_80000", "choices_80000"):
        assert len(scaled.experiment(name).seed_list) == 2 * len(plain.experiment(name).seed_list)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"experiments": [{"study": "growht_searches"}]}, "did you mean growth_searches"),
        ({"experiments": [{"study": "../up"}]}, r"experiments\[0\].*the name of a study alone"),
        ({"experiments": [{"study": "suite", "seeds": 2}]}, "the name of a study alone"),
        ({"experiments": [{"study": "choices"}]}, "there are no protocols"),
        ({"experiments": [WALK], "scale": 0.5}, "scale = 0.5: expected a number from 1 to 1000"),
        ({"experiments": [WALK], "tunings": "absent.yaml"}, "absent.yaml: no such file"),
        ({"experiments": [{**WALK, "learners": ["uniform.litral"]}]}, "did you mean literal"),
        ({"experiments": [{**WALK, "draws": ["a"]}]}, r'readings\[0\].seed = "a"'),
    ],
)
def test_what_cannot_be_written_out_is_refused(raw, said):
    with pytest.raises(config.Unacceptable, match=said):
        plan.make(raw)


def test_a_seed_an_experiment_or_a_comment_more_reruns_nothing_else(tmp_path):
    """A job runs again where its specification differs: only then is the file written.

    That comments in sources decide nothing is tested where digests are (tests/nscmdp/kernels/test_sources.py).
    """
    walks = [WALK, {**WALK, "name": "other", "episodes": [96]}]

    def written(*experiments):
        steps.write(plan.make({"batch": 1, "experiments": [*experiments]}), tmp_path)
        return {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.json")}

    def changed(before, after):
        names = {file for file in after if after[file] != before.get(file)}
        return {str(file.relative_to(tmp_path / "jobs")) for file in names}

    first = written(*walks)
    assert changed(first, written(*walks)) == set()
    of_all = {f"steps/{name}.json" for name in ("page", "timing", "checksums")}
    third = written(*walks, {**WALK, "name": "third", "episodes": [48]})
    own = {f"{room}/third.json" for room in ("environments", "tables")}
    own |= {"simulations/third/uniform.literal.json"}
    assert changed(first, third) == {*own, *of_all}
    seeds = written({**WALK, "seeds": 3}, walks[1], {**WALK, "name": "third", "episodes": [48]})
    assert changed(third, seeds) == {"tables/walk.json", *of_all}

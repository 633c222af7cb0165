"""The pipeline compiles kernels first where they are lacking and no result would be made again because of it."""

import pytest

from small_project import TINY
from wei2023.runs import kernels, simulations, specifications
from wei2023.study import layout, plan

NAMES = ("triple_q", "uniform")


def planned(**changed):
    learners = [{"algorithm": name, "setting": "literal"} for name in NAMES]
    experiment = (
        TINY["experiments"][0] | {"learners": learners, "keep": "episodes", "seeds": 1} | changed
    )
    return plan.make(TINY | {"experiments": [experiment]})


def announced(chosen, folder):
    """The algorithms whose kernels the pipeline takes to be there."""
    kernels.announce(chosen, folder)
    return [name for name in NAMES if (folder / layout.kernels(name)).exists()]


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NSCMDP_CACHE", str(tmp_path / "cache"))


def test_kernels_are_announced_as_long_as_the_cache_has_them(tmp_path):
    chosen = planned()
    assert announced(chosen, tmp_path) == []
    kernels.note("triple_q").parent.mkdir(parents=True)
    kernels.note("triple_q").touch()
    assert announced(chosen, tmp_path) == ["triple_q"]
    kernels.note("triple_q").unlink()
    assert announced(chosen, tmp_path) == []


def test_kernels_of_an_algorithm_with_results_are_announced_even_if_they_are_lost(tmp_path):
    """Snakemake makes whatever needs a missing file again."""
    chosen = planned()
    ((_, seeds, name),) = [one for one in chosen.run_files("small") if one[0] == "uniform.literal"]
    simulations.simulate_batch(
        specifications.simulation(chosen, "small", "uniform.literal"), seeds, tmp_path / name
    )
    assert announced(chosen, tmp_path) == ["uniform"]
    assert announced(planned(seeds=3), tmp_path) == ["uniform"]
    assert announced(planned(episodes=[65]), tmp_path) == []  # all is made again in any case
    (tmp_path / name).write_bytes(b"half a file")
    assert announced(chosen, tmp_path) == []


def test_compiled_kernels_are_noted(tmp_path):
    kernels.compile_for(["uniform"])
    assert announced(planned(), tmp_path) == ["uniform"]

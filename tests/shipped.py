"""The ledger of deviations and the experiments that measure its switches, as they are shipped."""

from pathlib import Path

import yaml

from wei2023.study import plan
from wei2023.verdicts import deviations

ROOT = Path(__file__).parents[1]
LEDGER_FILE = ROOT / "workflow/deviations.yaml"
LEDGER = deviations.load(LEDGER_FILE)


def measuring():
    """The plan of the experiments that measure the switches."""
    experiments = yaml.safe_load((ROOT / "workflow/studies/switches.yaml").read_text())[
        "experiments"
    ]
    return plan.make({"experiments": [one for one in experiments if one.pop("role")]})


def compared(planned):
    """(switch, from, to) of every pair in the experiments of a plan."""
    found = []
    for experiment in planned.config.experiments:
        cases = [
            {"reading": case.reading, "budget": case.budget, **case.spec}
            for case in planned.cases_of(experiment.name)
        ]
        learners = {learner.name: learner.specification for learner in experiment.all_learners}
        for key, here, there in deviations.pairs(LEDGER, cases, learners):
            found.append(
                (key, deviations.as_text(here.keys[key]), deviations.as_text(there.keys[key]))
            )
    return found

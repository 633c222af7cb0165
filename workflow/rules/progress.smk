# How far the whole run is: the logger plugin "timeleft" shows it, by the seconds that a rule's jobs are expected to take.
from statistics import mean

START = 2.0  # seconds: the fixed price of a job, and all that the last steps take
GENEROUS = 10  # a cluster is asked for so many times what most jobs take
LONGER = {"judge": 20.0, "kernels": 12.0}  # seconds of the rules whose jobs take longer
NOTEBOOK = 8.0


def expected_seconds():
    """By rule: the mean of what the jobs of this configuration are expected to take."""
    of_jobs = {
        "optimum": [requests.optimum(plan, name) for name in plan.solved],
        "search": [requests.search(plan, *keys) for *keys, _, _ in plan.search_files()],
        "simulate": [
            requests.simulation(plan, name, unit, len(seeds))
            for name in plan.experiments
            for unit, seeds, _ in plan.run_files(name)
        ],
        "policies": [
            requests.policies(plan, name, unit)
            for name in plan.watched
            for unit, _ in plan.policy_files(name)
        ],
        "tables": [requests.tables(plan, name) for name in plan.experiments],
    }
    found = {
        name: START + mean(one.seconds for one in jobs) / GENEROUS
        for name, jobs in of_jobs.items()
        if jobs
    }
    notebooks = {f"notebook_{name}": NOTEBOOK for name in plan.notebooks}
    return {**found, **LONGER, **notebooks}

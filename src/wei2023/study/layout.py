"""Where results lie below the results folder: every name of a file is made here.

Names are made of anything that formats, Snakemake's wildcards among it: ``optima("{experiment}")``.
"""

CONFIG, CHECKSUMS = "config.json", "checksums.txt"
PAGE, DEVIATIONS_PAGE, CLAIMS_PAGE = "index.html", "deviations.html", "claims.html"
CLAIMS, ANSWER, DEVIATIONS = "claims.json", "answer.json", "deviations.md"
CLAIMS_TEXT, ERRATUM = "claims.md", "erratum.md"
ASSETS = (  # of the page
    *("page.css", "learning.css", "ledger.css"),
    *("app.js", "curves.js", "learning.js", "ledger.js", "bokeh.min.js", "bokeh-api.min.js"),
)
PARQUET = ("curves.parquet", "exact.parquet", "traces.parquet")
TABLES = (*PARQUET, "summary.csv")  # of every experiment
BENCHMARKS, TIMING = "benchmarks.html", "benchmarks/timing.csv"
TUNED = ("tuned.csv", "candidates.csv", "efforts.csv", "saturation.csv")
PROTOCOLS = ("protocols.csv", "choices.csv", "thresholds.csv")
COMPARISON = ("comparison.csv", "comparison.tex", "slopes.csv", "violations.csv")
SUITE = (
    *(
        "suite_scores.csv",
        "suite_profile.csv",
        "suite_pairs.csv",
        "suite_paired.csv",
        "suite_hypotheses.csv",
    ),
    *("suite_ranking.csv", "suite_stability.csv", "suite_runs.csv", "suite_searches.csv"),
)
SHOWN = ("environments.csv", "drift.parquet")  # of the environments that are to be shown
LEARNING = ("learning.parquet", "learning.csv")  # of an experiment whose policies are kept
RUNS = (
    "environments",
    "simulations",
    "policies",
    "searches",
    "tuning",
)  # folders of what jobs compute
FIGURE = ("svg", "png")  # the forms of a figure
NOT_RESULTS = ("jobs", "logs", "benchmarks", BENCHMARKS)  # they depend on clocks and machines


def optima(name: object) -> str:
    """Of an experiment or a tuning."""
    return f"environments/{name}.parquet"


def simulations(experiment: object, unit: object, seeds: object) -> str:
    return f"simulations/{experiment}/{unit}/seeds={seeds}.parquet"


def policies(experiment: object, unit: object) -> str:
    """Of the learners of a unit, in some episodes of one run."""
    return f"policies/{experiment}/{unit}.parquet"


def search(name: object, algorithm: object, episodes: object, number: object) -> str:
    """One of the searches of a tuning."""
    return f"searches/{name}/{algorithm}/K={episodes}/search={number}.parquet"


def record(name: object) -> str:
    """Of the searches of a tuning, below the folder that the configuration names."""
    return f"{name}.json"


def tuning(name: object, algorithm: object, episodes: object) -> str:
    return f"tuning/{name}/{algorithm}/K={episodes}.parquet"


def table(name: str, experiment: object = None) -> str:
    """Of one experiment, or of all of them together."""
    return f"tables/{name}" if experiment is None else f"tables/{experiment}/{name}"


def claims(group: object) -> str:
    """What the checks of a group of claims found, and the data behind it."""
    return f"claims/{group}.json"


def figure(name: object, form: str = "svg") -> str:
    return f"figures/{name}.{form}"


def asset(name: object) -> str:
    """A style or script of the page."""
    return f"page/{name}"


def script(name: object) -> str:
    """Data that the page loads when they are asked for."""
    return f"page/data/{name}.js"


def notebook(name: object, form: str = "ipynb") -> str:
    return f"notebooks/{name}.{form}"


def job(name: str) -> str:
    """The specification of a job: what decides the result that it makes."""
    return f"jobs/{name}.json"


def job_of(result: str) -> str:
    """The specification of the job that makes one file."""
    return job(result.rpartition(".")[0])


def kernels(algorithm: object) -> str:
    """Says that an algorithm's kernels are compiled, or that whoever needs them compiles them."""
    return f"logs/kernels/{algorithm}.ready"


def log(name: str) -> str:
    """Of the job that makes the result ``name``."""
    return f"logs/{name.rpartition('.')[0]}.log"

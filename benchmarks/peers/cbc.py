"""CBC on a linear program in standard form: for each line of JSON on standard input, its CPU seconds and the value.

They are those of its process, so that reading the program is among them.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import numpy as np
import pulp

CBC = pulp.PULP_CBC_CMD().path
PRECISE = ("-primalTolerance", "1e-9", "-dualTolerance", "1e-9")


def written(arrays, folder):
    """As a file that CBC reads."""
    xs = [pulp.LpVariable(f"x{i}", lowBound=0) for i in range(len(arrays["c"]))]
    problem = pulp.LpProblem("optimum", pulp.LpMinimize)
    problem += pulp.LpAffineExpression(zip(xs, arrays["c"], strict=True))
    (above,), (limit,) = arrays["A_ub"], arrays["b_ub"]
    problem += pulp.LpAffineExpression(zip(xs, above, strict=True)) <= limit
    terms = [[] for _ in arrays["b_eq"]]
    for row, column, entry in zip(arrays["row"], arrays["column"], arrays["entry"], strict=True):
        terms[row].append((xs[column], entry))
    for of_row, value in zip(terms, arrays["b_eq"], strict=True):
        problem += pulp.LpAffineExpression(of_row) == value
    problem.writeMPS(str(folder / "program.mps"))
    return folder / "program.mps"


print("ready", flush=True)
files = {}
with tempfile.TemporaryDirectory() as folder:
    for line in sys.stdin:
        name = json.loads(line)["file"]
        if name not in files:
            files = {name: written(np.load(name), Path(folder))}
        before = getrusage(RUSAGE_CHILDREN)
        said = subprocess.run(
            [CBC, str(files[name]), *PRECISE, "-solve"], capture_output=True, text=True, check=True
        ).stdout
        value = float(re.search(r"Optimal - objective value\s+(\S+)", said)[1])
        after = getrusage(RUSAGE_CHILDREN)
        taken = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        print(json.dumps({"seconds": taken, "value": value}), flush=True)

"""Linear CMDPs: the lemmas (C15, in parts), Theorems 3 and 4, the other approach, the remarks (C16-C18, C23, C24).

linear_lemmas          C15 and its parts, on runs of Algorithm 3 and on exact examples
linear_theorems        the orders, the K from which they say anything, and what the proofs lack
linear_counterexample  one environment that contradicts every rate as printed
linear_runs            Algorithm 3 in plain numpy, many runs at once
"""

from nscmdp.analysis.claims import linear_lemmas, linear_theorems

__all__ = ["linear_lemmas", "linear_theorems"]

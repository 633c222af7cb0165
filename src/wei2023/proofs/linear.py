"""Linear CMDPs: lemmas (C15, in parts, C29), Theorems 3 and 4 and their like (C16 to C18, C23).

linear_lemmas      on runs of Algorithm 3 (linear_runs) and on exact examples
linear_theorems    orders, and what the proofs lack; linear_counterexample contradicts every rate
"""

from wei2023.proofs import linear_lemmas, linear_theorems

__all__ = ["linear_lemmas", "linear_theorems"]

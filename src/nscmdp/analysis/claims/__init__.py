"""Verdicts on the paper's claims, computed: from exact mathematics, from runs of their own, and from the tables.

findings         what a check comes to, and the words of verdicts
instrumented     Algorithm 1 as printed with all its tables in sight, many runs at once, for the checks that need them
learning_rates   the learning rates and the drift of values (C1, C3, C7)
optimism         ranges, concentration, over-estimation and estimation error (C2, C4, C5, C6)
queue            the virtual queue: drift, negative drift, its bound (C8 to C11)
theorems         Theorems 1 and 2, the assumption on local budgets (C12, C14, C22)
bandit           the bandit over bandits (C13)
linear           the lemmas and theorems of linear CMDPs (C15 to C18, C23, C24)
simulation       the paper's simulation (C20), in parts
arithmetic       memory, Table 1 and the remarks on it (C19, C21, C25)
"""

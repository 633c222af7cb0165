"""The suite: frozen environments, learners compared on them, and the search that chooses their constants."""

"""Non-stationary constrained MDPs: drifting models, learners, exact optima and exact regret."""

from nscmdp._registration import register_with_gymnasium

__version__ = "0.1.0"

_PUBLIC = {
    "CMDP": "nscmdp.cmdp",
    "algorithms": "nscmdp.algorithms",
    "budget": "nscmdp.budget",
    "environments": "nscmdp.environments",
    "optimum": "nscmdp.optimum",
    "simulate": "nscmdp.simulate",
}
__all__ = ["CMDP", "algorithms", "budget", "environments", "optimum", "simulate"]


def __getattr__(name: str) -> object:
    """Import what is asked for when it is asked for: planning a study needs no compiler."""
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(_PUBLIC[name])
    return getattr(module, name) if name == "CMDP" else module


register_with_gymnasium()

"""Non-stationary constrained MDPs: drifting models, learners, exact optima and exact regret."""

from nscmdp._registration import register_with_gymnasium

__version__ = "0.1.0"

__all__ = ["CMDP", "algorithms", "budget", "environments", "optimum", "simulate"]
# Other packages may import these modules, with what they contain; all others are the library's own.
MODULES = (
    *("algorithms", "budget", "cmdp", "drift", "environments", "learner", "metrics", "optimum"),
    *("plugins", "policies", "problem", "randomness", "simulate", "files", "suite"),
    *("cli", "cli.commands", "cli.screen", "kernels.cache", "kernels.jit", "kernels.sources"),
)


def __getattr__(name: str) -> object:
    """Import what is asked for when it is asked for: planning a study needs no compiler."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f"{__name__}.{name.lower()}")
    return getattr(module, name) if name == "CMDP" else module


register_with_gymnasium()

"""Registers the environments with Gymnasium, whichever of the two packages is imported first.

``gymnasium.make("nscmdp:GridWorld-v0")`` imports nscmdp and then looks for the id. (Since its version 1.0 Gymnasium
reads no entry points.) To import Gymnasium with nscmdp would cost every process a fifth of a second. So: where
Gymnasium is there already, its registry is filled at once, and otherwise as soon as somebody imports it.
"""

import sys
from importlib.util import find_spec
from typing import Any


def register() -> None:
    """One id for each environment: GridWorld-v0 of grid_world."""
    from gymnasium.envs import registration

    from nscmdp import environments

    for name in environments.NAMES:
        registered = f"{name.title().replace('_', '')}-v0"
        if registered not in registration.registry:
            registration.register(
                registered, "nscmdp.gymnasium_envs:DriftingEnv", kwargs={"environment": name}
            )


def register_with_gymnasium() -> None:
    """Now, or when it is imported."""
    if sys.modules.get("gymnasium") is not None:
        register()
    elif not any(isinstance(finder, WhenImported) for finder in sys.meta_path):
        sys.meta_path.insert(0, WhenImported())


class WhenImported:
    """Finds Gymnasium as all other finders do, and registers after it has been loaded."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "gymnasium":
            return None
        sys.meta_path.remove(self)  # for this search, which asks all finders
        spec = find_spec(name)
        sys.meta_path.insert(0, self)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_register(module: Any) -> None:
                load(module)
                sys.meta_path.remove(self)
                register()

            spec.loader.exec_module = load_and_register  # type: ignore[method-assign]
        return spec

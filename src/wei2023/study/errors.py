"""What is wrong with a configuration, in one line: the key, the value found and what would be accepted."""

import difflib
import json
import re
import types
from collections.abc import Iterable
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticCustomError

from nscmdp.plugins import unknown

LONGEST = 120  # characters of a value that are shown
PROBLEM = "problem"  # our own type of error


class Unacceptable(ValueError):
    """A configuration that cannot be run; the message is one line."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.splitlines()))


class Problem(NamedTuple):
    key: str  # experiments[0].environment.map
    value: str
    message: str
    unknown: bool = False  # is it a key that there is not?

    def __str__(self) -> str:
        key = self.key or "all of it"
        return f"{key} = {self.value}: {self.message}" if self.value else f"{key} {self.message}"


def below(key: str, value: Any, message: str) -> PydanticCustomError:
    """For validators: what stands at ``key``, below the model that they validate, is wrong."""
    return raised(Problem(key, shown(value), message))


def raised(problem: Problem) -> PydanticCustomError:
    return PydanticCustomError(PROBLEM, "{message}", problem._asdict())


def shown(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def infeasible(key: str, options: dict[str, Any], error: Exception) -> Unacceptable:
    """No policy keeps the constraint: its limit is named, where the environment has one."""
    found = f".limit = {options['limit']}" if "limit" in options else ""
    return Unacceptable(f"config: {key}.environment{found} is infeasible: {error}")


def explain(error: ValidationError, model: Any) -> Unacceptable:
    """The first problem that was found, keys that there are not before all others."""
    first, others = foremost(error, model)
    return Unacceptable(f"config: {first}" + (f" (and {others} more)" if others else ""))


def foremost(error: ValidationError, model: Any) -> tuple[Problem, int]:
    """The problem to begin with, and how many other keys have one.

    Where a value may be of several types, it has a problem as each: the one that is deepest is the one that is meant.
    """
    problems = [_problem(found, model) for found in error.errors(include_url=False)]
    first = min(problems, key=lambda one: not one.unknown)
    alike = [one for one in problems if one.key.startswith(first.key)]
    return max(alike, key=lambda one: (len(one.key), "did you mean" in one.message)), len(
        problems
    ) - len(alike)


def _problem(found: Any, model: Any) -> Problem:
    kind, context, value = found["type"], found.get("ctx", {}), found["input"]
    key, place = _follow(found["loc"], model)
    message = found["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    if kind == "extra_forbidden":
        _, owner = _follow(found["loc"][:-1], model)
        message = unknown(
            found["loc"][-1], getattr(_bare(owner), "model_fields", ()), "unknown key"
        )
        return Problem(key, shown(value), message, unknown=True)
    if kind == "missing":
        return Problem(key, "", "is missing")
    if kind == PROBLEM:
        return Problem(**context)._replace(key=_joined(key, context["key"]))
    if kind == "union_tag_not_found" and isinstance(value, dict):
        return _untagged(key, context["discriminator"].strip("'"), value, place)
    if kind == "union_tag_invalid":
        tag = context["discriminator"].strip("'")
        known = _quoted(context["expected_tags"])
        return Problem(_joined(key, tag), shown(value[tag]), unknown(value[tag], known))
    if kind == "literal_error" and isinstance(value, str):
        message = unknown(value, _quoted(context["expected"]))
    return Problem(key, shown(value), message)


def _untagged(key: str, tag: str, value: dict[str, Any], place: Any) -> Problem:
    """``tag`` says which model is meant: it is missing, or one of the keys is meant to be it."""
    near = difflib.get_close_matches(tag, value, n=1)
    if not near:
        return Problem(_joined(key, tag), "", "is missing")
    known = dict.fromkeys(
        field for member in get_args(_bare(place)) for field in member.model_fields
    )
    where, message = _joined(key, _text(near[0])), unknown(near[0], known, "unknown key")
    return Problem(where, shown(value[near[0]]), message, unknown=True)


def _quoted(text: str) -> list[str]:
    """The names in 'one', 'two' or 'three'."""
    return re.findall(r"'([^']*)'", text)


def _follow(location: Iterable[int | str], model: Any) -> tuple[str, Any]:
    """The key as the file writes it, and the type of what stands there.

    Pydantic also names the member of a union that it has tried, which the file does not.
    """
    here, key = model, ""
    for part in location:
        here = _bare(here)
        members = get_args(here) if _is_union(here) else ()
        if members and isinstance(part, str):
            here = next((one for one in members if getattr(one, "__name__", "") == part), None)
            continue
        key += f"[{part}]" if isinstance(part, int) else f".{_text(part)}"
        if isinstance(here, type) and issubclass(here, BaseModel) and part in here.model_fields:
            here = here.model_fields[str(part)].annotation
        else:
            here = get_args(here)[-1] if get_origin(here) in (list, dict) else None
    return key.lstrip("."), here


def _bare(annotation: Any) -> Any:
    """Without constraints, and without None as the alternative."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if _is_union(annotation):
        others = [one for one in get_args(annotation) if one is not type(None)]
        return _bare(others[0]) if len(others) == 1 else annotation
    return annotation


def _is_union(annotation: Any) -> bool:
    return get_origin(annotation) in (Union, types.UnionType)


def _joined(key: str, part: str) -> str:
    return f"{key}.{part}".strip(".")


def _text(key: object) -> str:
    """A key as it can stand in one line."""
    return shown(str(key))[1:-1]

"""What is wrong with a configuration, in one line: the key, the value found and what would be accepted."""

import difflib
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, get_args

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

    def below(self, key: str) -> "Problem":
        return self._replace(key=f"{key}.{self.key}".strip("."))


def below(key: str, value: Any, message: str) -> PydanticCustomError:
    """For validators: what stands at ``key``, below the model that they validate, is wrong."""
    return raised(Problem(key, shown(value), message))


def raised(problem: Problem) -> PydanticCustomError:
    return PydanticCustomError(PROBLEM, "{message}", problem._asdict())


def shown(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def foremost(error: ValidationError, raw: Any, model: Any) -> Problem:
    """The problem to begin with: keys that there are not come before all others.

    Where a value may be of several types, it has a problem as each: the deepest one is meant.
    """
    problems = [_problem(found, raw, model) for found in error.errors(include_url=False)]
    first = min(problems, key=lambda one: not one.unknown)
    alike = [one for one in problems if one.key.startswith(first.key)]
    return max(alike, key=lambda one: (len(one.key), "did you mean" in one.message))


def _problem(found: Any, raw: Any, model: Any) -> Problem:
    kind, context, value = found["type"], found.get("ctx", {}), found["input"]
    key, last = _key(found["loc"], raw), str(found["loc"][-1] if found["loc"] else "")
    problem = Problem(key, shown(value), found["msg"].removeprefix("Value error, "))
    tag = context.get("discriminator", "").strip("'")
    if kind == PROBLEM:
        return Problem(**context).below(key)
    if kind == "missing":
        return Problem(last, "", "is missing").below(key)
    if kind == "extra_forbidden":
        known = [name for one in _owners(found["loc"][:-1], model) for name in one.model_fields]
        return problem._replace(message=unknown(last, known, "unknown key"), unknown=True)
    if kind == "union_tag_not_found" and isinstance(value, dict):  # it is missing, or misspelt
        near = difflib.get_close_matches(tag, value, n=1)
        if not near:
            return Problem(tag, "", "is missing").below(key)
        message = unknown(near[0], [tag], "unknown key")
        return Problem(near[0], shown(value[near[0]]), message, unknown=True).below(key)
    if kind == "union_tag_invalid":
        message = unknown(value[tag], re.findall(r"'([^']*)'", context["expected_tags"]))
        return Problem(tag, shown(value[tag]), message).below(key)
    if kind == "literal_error" and isinstance(value, str):
        message = unknown(value, re.findall(r"'([^']*)'", context["expected"]))
        return problem._replace(message=message)
    return problem._replace(message=problem.message[:1].lower() + problem.message[1:])


def _key(location: Iterable[int | str], raw: Any) -> str:
    """The key as the file writes it: pydantic also names the member of a union that it has tried."""
    key = ""
    for part in location:
        there = range(len(raw)) if isinstance(raw, list) else raw if isinstance(raw, dict) else ()
        if part in there:
            raw = raw[part]
            key += f"[{part}]" if isinstance(part, int) else f".{shown(part)[1:-1]}"
    return key.lstrip(".")


def _owners(location: Iterable[int | str], model: Any) -> list[type[BaseModel]]:
    """The models that a value at some place may be of."""
    here = [*_models(model)]
    for part in location:
        fields = [one.model_fields[str(part)] for one in here if part in one.model_fields]
        inner = [one for field in fields for one in _models(field.annotation)]
        here = [one for one in here if one.__name__ == part] or inner or here
    return here


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def checked(model: Any, raw: Any, where: str = "") -> Any:
    """What a model makes of a raw value; ``where`` names the key that it stands under."""
    try:
        return model.model_validate_json(json.dumps(raw))
    except ValidationError as error:
        raise Unacceptable(f"config: {foremost(error, raw, model).below(where)}") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise Unacceptable(f"config: {error}: expected text, numbers, lists and mappings") from None

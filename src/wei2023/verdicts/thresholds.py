"""What workflow/claims.yaml says of the thresholds of the simulation's claim, and of their ranges."""

from pathlib import Path
from typing import Annotated

import yaml
from pydantic import Field, ValidationError, model_validator

from wei2023.runs.parts import Thresholds
from wei2023.study.catalogue import CLAIMS
from wei2023.study.config import Strict

Share = Annotated[float, Field(ge=0, le=1)]


class Threshold(Strict):
    says: str
    default: float
    range: list[float]

    @model_validator(mode="after")
    def _is_a_range(self) -> "Threshold":
        if self.default not in self.range or self.range != sorted({*self.range}):
            needs = f"increasing values, the default {self.default} among them"
            raise ValueError(f"expected {needs}, not {self.range}")
        return self


class Ranges(Strict):
    learnt: Threshold
    floor: Threshold
    deadline: Threshold
    slack: Threshold

    @model_validator(mode="after")
    def _leave_something_to_judge(self) -> "Ranges":
        shares = self.deadline.range
        if not 0 < shares[0] <= shares[-1] < 1:
            raise ValueError(f"deadline: expected shares of the run between 0 and 1, not {shares}")
        return self


class Rules(Strict):
    thresholds: Ranges
    agreement: Annotated[float, Field(gt=0.5, le=1)]  # the share of runs that must agree
    unlearnt: Share

    @property
    def default(self) -> Thresholds:
        return Thresholds(*(getattr(self.thresholds, name).default for name in Thresholds._fields))

    def moved(self, name: str) -> list[tuple[float, Thresholds]]:
        """One threshold over its range, the others at their defaults."""
        values = getattr(self.thresholds, name).range
        return [(value, self.default._replace(**{name: value})) for value in values]


def load(file: Path = CLAIMS) -> Rules:
    raw = yaml.safe_load(file.read_text(encoding="utf-8"))
    try:
        return Rules.model_validate({key: raw.get(key) for key in Rules.model_fields})
    except ValidationError as error:
        raise ValueError(f"{file}: {error}") from None

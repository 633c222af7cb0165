"""What workflow/claims.yaml says: thresholds with their ranges, and the names of the classes."""

from pathlib import Path
from typing import Annotated, NamedTuple

import yaml
from pydantic import Field, ValidationError, model_validator

from nscmdp.study.catalogue import CLAIMS
from nscmdp.study.config import Strict

LEDGER = ("claims", "verdicts")  # what the file says of the other claims
Share = Annotated[float, Field(ge=0, le=1)]


class At(NamedTuple):
    """One value of each threshold."""

    learnt: float
    floor: float
    deadline: float
    slack: float
    agreement: float


class Threshold(Strict):
    says: str
    default: float
    range: list[float]

    @model_validator(mode="after")
    def _is_a_range(self) -> "Threshold":
        if self.default not in self.range or self.range != sorted({*self.range}):
            raise ValueError(f"expected increasing values, the default {self.default} among them, not {self.range}")
        return self


class Thresholds(Strict):
    learnt: Threshold
    floor: Threshold
    deadline: Threshold
    slack: Threshold
    agreement: Threshold

    @model_validator(mode="after")
    def _leave_something_to_judge(self) -> "Thresholds":
        if not 0 < self.deadline.range[0] <= self.deadline.range[-1] < 1:
            raise ValueError(f"deadline: expected shares of the run between 0 and 1, not {self.deadline.range}")
        if not 0.5 < self.agreement.range[0] <= self.agreement.range[-1] <= 1:
            raise ValueError(f"agreement: expected shares of seeds above one half, not {self.agreement.range}")
        return self


class Classes(Strict):
    holds: str
    depends: str
    fails: str
    unjudged: str


class Rules(Strict):
    thresholds: Thresholds
    binding: Annotated[float, Field(ge=0)]
    unlearnt: Share
    trials: Annotated[int, Field(ge=1)]
    classes: Classes

    @property
    def default(self) -> At:
        return At(**{name: getattr(self.thresholds, name).default for name in At._fields})

    def moved(self, name: str) -> list[At]:
        """One threshold over its range, the others at their defaults."""
        return [self.default._replace(**{name: value}) for value in getattr(self.thresholds, name).range]


def load(file: Path = CLAIMS) -> Rules:
    raw = yaml.safe_load(file.read_text(encoding="utf-8"))
    try:
        return Rules.model_validate({key: value for key, value in raw.items() if key not in LEDGER})
    except ValidationError as error:
        raise ValueError(f"{file}: {error}") from None

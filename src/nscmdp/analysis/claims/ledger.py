"""What workflow/claims.yaml says of the paper's claims: where each stands, what it says, and what decides it."""

from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, ValidationError, model_validator

from nscmdp.analysis.claims.findings import VERDICTS
from nscmdp.study.catalogue import CLAIM_GROUPS, CLAIMS
from nscmdp.study.config import Strict

GROUPS = (*CLAIM_GROUPS, "simulation")


class Entry(Strict):
    id: Annotated[str, Field(pattern=r"^C\d+[a-z]?'*$")]  # with a prime: the corrected statement
    group: Literal[GROUPS]  # type: ignore[valid-type]  # the file of its check
    where: str  # in the paper
    statement: str
    formula: str  # LaTeX
    measured: str
    test: str
    corrects: str | None = None


class Classes(Strict):
    holds: str
    depends: str
    fails: str
    unjudged: str


class Ledger(Strict):
    classes: Classes
    verdicts: dict[str, Literal["holds", "depends", "fails", "unjudged"]]  # the class of every verdict
    claims: list[Entry]

    @model_validator(mode="after")
    def _is_whole(self) -> "Ledger":
        if {*self.verdicts} != {*VERDICTS}:
            raise ValueError(f"verdicts: expected {', '.join(VERDICTS)}, not {', '.join(self.verdicts)}")
        ids = [entry.id for entry in self.claims]
        twice = {name for name in ids if ids.count(name) > 1}
        if twice:
            raise ValueError(f"claims: {min(twice)} stands there twice")
        for entry in self.claims:
            if entry.corrects is not None and entry.corrects not in ids:
                raise ValueError(f"claims: {entry.id} corrects {entry.corrects}, which is not there")
        return self

    def class_of(self, verdict: str) -> str:
        return getattr(self.classes, self.verdicts[verdict])


def load(file: Path = CLAIMS) -> Ledger:
    raw: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    try:
        return Ledger.model_validate({key: raw.get(key) for key in Ledger.model_fields})
    except ValidationError as error:
        raise ValueError(f"{file}: {error}") from None

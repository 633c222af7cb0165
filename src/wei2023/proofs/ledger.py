"""What workflow/claims.yaml says of the paper's claims: where each stands, what it says, and what decides it."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, Field, ValidationError, model_validator

from wei2023.proofs.findings import VERDICTS
from wei2023.study.catalogue import CLAIM_GROUPS, CLAIMS
from wei2023.study.config import Strict

GROUPS = (*CLAIM_GROUPS, "simulation")
Id = Annotated[str, Field(pattern=r"^C\d+[a-z]?$")]
Covered = Annotated[str, Field(pattern=r"^C\d+[a-z]?'?$")]


def two_sentences(reason: str) -> str:
    sentences = 1 + len(re.findall(r"[.!?]\s", reason))
    if len(reason) > 400 or sentences > 2:
        raise ValueError(f"why has {len(reason)} characters and {sentences} sentences: 400 and 2")
    return reason


Reason = Annotated[str, AfterValidator(two_sentences)]


class Entry(Strict):
    """One row: a claim, or several with one cause."""

    id: Id
    covers: list[Covered] = Field(default=[])  # other ids that it stands for
    group: Literal[GROUPS]  # type: ignore[valid-type]  # the file of its check
    why: dict[Literal[*VERDICTS], Reason]  # type: ignore[valid-type]  # of each verdict it may get
    where: str  # in the paper
    statement: str
    formula: str  # LaTeX
    corrected: str | None = None  # the statement as it holds, or as far as it does
    measured: str
    test: str


class Ledger(Strict):
    claims: list[Entry]

    @model_validator(mode="after")
    def _ids_are_distinct(self) -> "Ledger":
        ids = [name for entry in self.claims for name in (entry.id, *entry.covers)]
        twice = {name for name in ids if ids.count(name) > 1}
        if twice:
            raise ValueError(f"claims: {min(twice)} is the id of two rows, or covered twice")
        return self


def load(file: Path = CLAIMS) -> Ledger:
    raw: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    try:
        return Ledger.model_validate({key: raw.get(key) for key in Ledger.model_fields})
    except ValidationError as error:
        raise ValueError(f"{file}: {error}") from None

"""A run is compared with the reference value by value, and every difference is named."""

import json

import pytest

from wei2023 import cli
from wei2023.report import reference
from wei2023.study import layout

CLAIM = {
    "verdict": "holds",
    "value": 1.25,
    "low": 1.2,
    "high": 1.3,
    "slack": None,
    "evidence": {"why": "so"},
}
ANSWER = {"growth": [{"algorithm": "A", "gap_slope_K": 0.79}], "C20": {"holds_in": 0, "void": True}}


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    write(folder, ANSWER, [{"id": "C1", **CLAIM}, {"id": "C3'", **CLAIM}])
    reference.write(folder, tmp_path / "reference.json")
    return folder


def write(folder, answer, claims):
    (folder / layout.ANSWER).write_text(json.dumps(answer))
    (folder / layout.CLAIMS).write_text(json.dumps(claims))


def compared(folder):
    return [str(one) for one in reference.compare(folder, folder.parent / "reference.json")]


def test_the_same_results_do_not_differ(results):
    assert compared(results) == []


@pytest.mark.parametrize("key", reference.CLAIM)
def test_one_altered_value_is_named(results, key):
    changed = {"verdict": "mixed", "slack": 0.5}.get(key, CLAIM[key] and 1.001 * 1.25)
    write(results, ANSWER, [{"id": "C1", **CLAIM}, {"id": "C3'", **CLAIM, key: changed}])
    (found,) = compared(results)
    assert found.startswith(f"claims/C3'/{key}: ")
    assert "the reference has" in found


def test_a_number_within_the_tolerance_is_the_same_and_one_beyond_is_not(results):
    for factor, number in ((1 + 1e-8, 0), (1 + 1e-4, 1)):
        answer = {**ANSWER, "growth": [{"algorithm": "A", "gap_slope_K": 0.79 * factor}]}
        write(results, answer, [{"id": "C1", **CLAIM}, {"id": "C3'", **CLAIM}])
        assert len(compared(results)) == number


def test_sentences_are_not_compared_and_words_of_closed_lists_are(results):
    protocol = {
        "name": "as printed",
        "reason": "one",
        "frame_end": "full",
        "parts": {"C20a": {"agree": 3, "of": 20}},
    }
    changes = {
        "reason": ("another", []),
        "frame_end": ("bump", ["answer/protocols/as printed/frame_end"]),
    }
    for key, (value, said) in changes.items():
        write(
            results, {"sentences": ["It holds."], "protocols": [protocol]}, [{"id": "C1", **CLAIM}]
        )
        reference.write(results, results.parent / "reference.json")
        write(
            results,
            {"sentences": ["No."], "protocols": [protocol | {key: value}]},
            [{"id": "C1", **CLAIM}],
        )
        assert [found.split(":")[0] for found in compared(results)] == said


def test_what_stands_on_one_side_alone_is_named(results):
    write(results, {**ANSWER, "more": 1}, [{"id": "C1", **CLAIM}])
    found = compared(results)
    assert len(found) == len(reference.CLAIM) + 1
    assert "answer/more: 1, the reference has nothing" in found


def test_what_the_suite_came_to_is_compared_too(results):
    ranking, tested = (
        results / layout.table(f"suite_{name}.csv") for name in ("ranking", "hypotheses")
    )
    ranking.parent.mkdir()
    ranking.write_text("rank,learner,gap,low,high\n1,triple_q,0.1,0.05,0.15\n")
    tested.write_text("id,difference,low,high,p_holm,verdict,agree\nluck,,,,,not tested,3\n")
    reference.write(results, results.parent / "reference.json")
    assert compared(results) == []
    ranking.write_text("rank,learner,gap,low,high\n1,triple_q,0.101,0.05,0.15\n")
    tested.write_text("id,difference,low,high,p_holm,verdict,agree\nluck,,,,,holds,3\n")
    assert compared(results) == [
        "suite/triple_q/gap: 0.101, the reference has 0.1",
        'suite/luck/verdict: "holds", the reference has "not tested"',
    ]


def test_a_truth_is_no_number(results):
    write(
        results,
        {**ANSWER, "C20": {"holds_in": 0, "void": 1}},
        [{"id": "C1", **CLAIM}, {"id": "C3'", **CLAIM}],
    )
    assert compared(results) == ["answer/C20/void: 1, the reference has true"]


def test_the_command_fails_where_a_value_differs_and_names_it(results, capsys):
    call = ["verify", str(results), "--reference", str(results.parent / "reference.json")]
    assert cli.main(call) == 0
    write(
        results,
        {**ANSWER, "C20": {"holds_in": 3, "void": True}},
        [{"id": "C1", **CLAIM}, {"id": "C3'", **CLAIM}],
    )
    with pytest.raises(SystemExit) as ended:
        cli.main(call)
    assert ended.value.code == 1
    assert "answer/C20/holds_in: 3, the reference has 0" in capsys.readouterr().out
    assert cli.main([*call, "--update"]) == 0
    assert cli.main(call) == 0


def test_a_folder_without_results_is_refused(tmp_path):
    with pytest.raises(ValueError, match="expected a finished run"):
        reference.gather(tmp_path)

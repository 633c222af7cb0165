"""The answer is made from numbers: every sentence turns where its data do."""

import copy

import pytest

from shipped import ROOT
from wei2023.report import readme, tables
from wei2023.verdicts import answer, thresholds

RULES = thresholds.load(ROOT / "workflow/claims.yaml")
PARTS = answer.PARTS


def row(
    name, K=80_000, *, agree=20, frame_end="full", baselines="released", tuned_for=None, **numbers
):
    """A protocol under which so many of 20 runs agree to every part and to the whole claim."""
    return {
        "name": name,
        "K": K,
        "frame_end": frame_end,
        "constants": "printed" if name.startswith("as printed") else "others",
        "baselines": baselines,
        "reading": "default",
        "parts": {part: {"agree": agree, "of": 20} for part in PARTS},
        "whole": {"all": {"agree": agree, "of": 20}, "all forgiving": {"agree": agree, "of": 20}},
        "mean": {"all": agree == 20, "all forgiving": agree == 20},
        "running_mean": False,
        "margins": dict.fromkeys(PARTS, 1.0),
        "numbers": {
            "share": 0.85,
            "triple_q_share": 0.9,
            "late_cost": 4.5,
            "limit": 5.0,
            **numbers,
        },
        "keeps": {"triple_q": {"agree": 19, "of": 20}},
        "tuned_for": tuned_for,
        "recorded": False,
    }


WITH_DIPS = {"all": {"agree": 0, "of": 20}, "all forgiving": {"agree": 20, "of": 20}}


def eta(value, breaks="holds", own="does not hold", framed="does not hold"):
    """Algorithm 1 and Triple-Q at one eta and eps: who breaks the limit?"""
    made = {
        "K": 80_000,
        "eta": value,
        "eps": 0.5,
        "algorithm_1_breaks": own,
        "triple_q_breaks": breaks,
    }
    return made | {
        "triple_q_same_frame_breaks": framed,
        "algorithm_1_keeps": "holds",
        "triple_q_keeps": breaks,
    }


NUMBERS = {
    "protocols": [
        row("as printed", agree=0, share=0.01),
        row("own, short", agree=0, tuned_for="margin"),
        row("own, long", 1_000_000, agree=20, tuned_for="margin") | {"whole": WITH_DIPS},
        row("own, bump", frame_end="bump", agree=3, tuned_for="margin"),
        row("equal", agree=0, baselines="tuned", tuned_for="gap"),
        row("same eta", agree=0, baselines="same eta", frame_end="bump"),
    ],
    "choices": [],
    "unstated": [
        {"name": name, "text": "", "stated": name == "search"} for name in ("K", "eta", "search")
    ],
    "eta": [eta(10.0, "does not hold"), eta(2150.0, "holds", "holds", "holds")],
    "still": True,
    "claims": {"holds": ["C1", "C2"], "false": ["C13"]},
}


def said(numbers):
    return answer.sentences(numbers, RULES)


def changed(*rows, **more):
    """The numbers with some protocols replaced, by name."""
    numbers = copy.deepcopy(NUMBERS) | more
    by_name = {one["name"]: one for one in (*numbers["protocols"], *rows)}
    return numbers | {"protocols": [*by_name.values()]}


def test_the_answer_has_five_sentences():
    missing, printed, from_which, ordering, reader = said(NUMBERS)
    assert "leaves 2 choices open (K, eta)" in missing
    assert "learns nothing" in printed
    assert "1% at K = 80,000" in printed
    assert (
        "with all tables reset at a frame's end from K = 1,000,000 on and with the earlier code's"
        in from_which
    )
    assert "which forgets nothing, at no K; the mean of the runs" in from_which
    assert (
        "is the order of eta: it appears under 1 of 4 protocols with released baselines" in ordering
    )
    assert (
        "at 0 of 2 pairs of equal eta and eps, at 0 of 2 where the frame is equal too and under 0 of 1"
        in ordering
    )
    assert (
        "with all tables reset every frame of the printed length, eta changes nothing" in ordering
    )
    assert (
        "not that Algorithm 1 alone keeps the limit; Triple-Q gets closer to the optimum under 1 of 1"
        in reader
    )


def test_where_the_order_survives_equal_eta_and_not_equal_frames_the_dual_decides():
    ordering = said(changed(eta=[eta(10.0, "does not hold"), eta(60.0)]))[3]
    assert "is the order of eta, eps and the frame, which set how fast the dual moves" in ordering
    assert (
        "at 1 of 2 pairs of equal eta and eps, at 0 of 2 where the frame is equal too" in ordering
    )


def test_where_the_order_survives_equal_eta_and_equal_frames_the_sentence_turns():
    ordering = said(changed(eta=[eta(10.0, "does not hold"), eta(60.0, framed="holds")]))[3]
    assert "is not that of eta, eps and frame alone" in ordering


def test_triple_q_tuned_in_the_same_way_is_named():
    tuned = row("both", baselines="tuned", agree=0, tuned_for="margin")
    assert "keeps it in 19 of 20 runs when it is tuned as Algorithm 1 is" in said(changed(tuned))[4]


def test_where_the_claim_survives_equal_tuning_the_sentences_turn():
    numbers = changed(row("equal", agree=19, baselines="tuned", tuned_for="gap"))
    assert "is not that of eta, eps and frame alone" in said(numbers)[3]
    assert "is evidence for Algorithm 1" in said(numbers)[4]


def test_where_no_protocol_holds_the_sentences_turn():
    numbers = changed(row("own, long", 1_000_000, agree=0, tuned_for="margin"))
    assert "from K" not in said(numbers)[2]
    assert said(numbers)[2].count("at no K") == 4
    assert "appears nowhere" in said(numbers)[3]
    assert "holds under no protocol" in said(numbers)[4]


def test_where_the_printed_constants_learn_it_is_said():
    assert "Algorithm 1 learns:" in said(changed(row("as printed", share=0.7)))[1]


def test_where_the_mean_alone_meets_the_claim_it_is_said():
    mean = {"mean": {"all": False, "all forgiving": True}}
    sentence = said(
        changed(row("own, bump", frame_end="bump", agree=3, tuned_for="margin") | mean)
    )[2]
    runs, _, mean = sentence.partition(";")
    assert "which forgets nothing, at no K" in runs
    assert "which forgets nothing, from K = 80,000 on" in mean


def test_from_which_K_on_needs_every_larger_K():
    rows = [row("a", 1), row("b", 2, agree=0), row("c", 3), row("d", 4)]

    def first_K(*rows):
        return answer.first_K([*rows], lambda one: answer.holds(one, RULES))

    assert first_K(*rows) == 3
    assert first_K(row("a", 1), row("b", 2)) == 1
    assert first_K(row("a", 1), row("b", 2, agree=17)) is None


def test_only_what_an_author_would_run_says_from_which_K_on():
    """Equal treatment, another reading and a choice other than K are left out."""
    other = {**row("other reading", 5, tuned_for="margin"), "reading": "reward_drift 0.0"}
    option = {**row("option", 6, tuned_for="margin"), "choice": "eps"}
    longer = {**row("longer", 7, tuned_for="margin"), "choice": "K"}
    numbers = changed(other, row("equal", 8, baselines="tuned", tuned_for="gap")) | {
        "choices": [option, longer]
    }
    found = [one["name"] for one in answer.tuned_by_an_author(numbers)]
    assert found == ["own, bump", "longer", "own, short", "own, long"]


def test_the_text_has_the_sentences_and_a_row_for_each_protocol():
    text = readme.answer({**NUMBERS, "sentences": said(NUMBERS)})
    for number, sentence in enumerate(said(NUMBERS), start=1):
        assert f"{number}. {sentence}" in text
    assert "| **holds** | C1, C2 |" in text
    assert (
        "| own, long | 1,000,000 | 20/20 | 20/20 | 20/20 | 20/20 | 20/20 | 20/20 | 85% | 4.50 | 19/20 |"
        in text
    )


def test_a_recorded_row_is_marked_and_a_part_that_is_not_asked_is_a_dash():
    found = {**row("long", 10_000_000), "recorded": True}
    found["parts"]["C20e"] = {"agree": 0, "of": 0}
    shown = tables.protocols([found]).only("protocol", "RestartQ-UCB")
    assert shown.rows == [["long (recorded)", "-"]]


def test_a_block_stands_between_the_marks_and_replaces_what_stood_there():
    begin, end = readme.ANSWER
    text = f"# A project\n\n{begin}- an older answer\n{end}\n## More\n"
    found = readme.between(text, readme.ANSWER, "new\n")
    assert found == f"# A project\n\n{begin}\nnew\n\n{end}\n## More\n"
    assert readme.between(found, readme.ANSWER, "new\n") == found
    with pytest.raises(ValueError, match="must have one line"):
        readme.between("# A project\n", readme.ANSWER, "new\n")

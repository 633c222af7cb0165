"""A slim drawing is the same drawing."""

import re
from io import StringIO
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wei2023.report import svg

SVG = "{http://www.w3.org/2000/svg}"
LINK = "{http://www.w3.org/1999/xlink}href"


@pytest.fixture(scope="module")
def drawing():
    """All that our figures have: lines, markers, hatches, images, formulas, the same words twice."""
    figure, axes = plt.subplots(1, 2)
    axes[0].plot(np.linspace(0, 1, 500), np.linspace(0, 1, 500) ** 2, "--", label="curve")
    axes[0].plot([0, 0.5, 1], [1, 0.5, 0.2], "o", label="points")
    axes[0].scatter([0.1, 0.2, 0.3, 0.4], [0.5] * 4, alpha=0.3)
    axes[1].bar([0, 1], [1, 2], hatch="//")
    axes[1].imshow(np.eye(3), extent=(0, 1, 1, 2))
    for ax in axes:
        ax.set(xlabel="the same words", title="$K^{4/5}$")
    axes[0].legend()
    file = StringIO()
    figure.savefig(file, format="svg")
    plt.close(figure)
    return file.getvalue()


@pytest.fixture(scope="module")
def slim(drawing):
    return svg.slim(drawing)


def painted(drawing):
    """The number of glyphs and marks, paths and images, with those of groups that are used again."""
    root = ElementTree.fromstring(drawing)
    named = {element.get("id"): element for element in root.iter() if element.get("id")}

    def count(element):
        if element.tag in (f"{SVG}defs", f"{SVG}clipPath"):
            return 0
        if element.tag == f"{SVG}use":
            used = named[(element.get("href") or element.get(LINK))[1:]]
            return count(used) if used.tag == f"{SVG}g" else 1
        return (element.tag in (f"{SVG}path", f"{SVG}image")) + sum(map(count, element))

    return count(root)


def test_it_has_half_the_bytes_and_paints_as_many_things(drawing, slim):
    assert len(slim) < 0.5 * len(drawing)
    assert painted(slim) == painted(drawing) > 100


def test_once_more_changes_nothing(slim):
    assert svg.slim(slim) == slim


def test_no_coordinate_is_finer_than_a_hundredth(slim):
    root = ElementTree.fromstring(slim)
    for element in root.iter():
        for place in ("d", *svg.PLACES):
            assert not re.search(r"\.\d{3}", re.sub(r"scale\(.*?\)", "", element.get(place, "")))
    assert "scale(0.015625)" in slim  # of glyphs: a hundredth would not do


def test_what_is_referred_to_is_there_and_nothing_else_is_named(slim):
    named = re.findall(r' id="(\w+)"', slim)
    assert sorted(named) == sorted(set(re.findall(r'(?:href="|url\()#(\w+)', slim)))
    assert set(re.findall(r' class="(\w+)"', slim)) <= set(re.findall(r"\.(\w+)\{", slim))
    assert "style=" not in slim


def test_words_that_occur_again_are_drawn_once(slim):
    root = ElementTree.fromstring(slim)
    words = [group for group in root.iter(f"{SVG}g") if group.get("id")]
    assert max(len(word) for word in words) == len("the same words")


def test_marks_that_shine_through_each_other_are_not_grouped():
    marks = '<use href="#a" style="{}"/>' * 3
    frame = '<svg xmlns="http://www.w3.org/2000/svg"><style></style><defs><path id="a" d="M 0 0"/></defs>{}</svg>'
    assert svg.slim(frame.format(marks.format(*["fill: red"] * 3))).count("class=") == 1
    assert svg.slim(frame.format(marks.format(*["opacity: 0.5"] * 3))).count("class=") == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "translate(12.3456 -0.001) scale(0.0924 -0.0924)",
            "translate(12.35 0) scale(0.0924 -0.0924)",
        ),
        ("rotate(-90)", "rotate(-90)"),
        ("0.5", ".5"),
        ("-0.126", "-.13"),
        ("1252.80pt", "1252.8pt"),
    ],
)
def test_numbers_are_rounded_once_and_for_all(text, expected):
    assert svg.rounded(text) == expected
    assert svg.rounded(expected) == expected


def points(path):
    """Of a path that is written relative to where it has come; those of curves with their control points."""
    here = start = np.zeros(2)
    found = []
    for command, numbers in re.findall(r"([mlqcz])([^mlqcz]*)", path):
        steps = np.array(re.findall(svg.NUMBER, numbers), float).reshape(
            -1, {"q": 2, "c": 3}.get(command, 1), 2
        )
        for number, step in enumerate(steps):
            found.append(here + step)
            here = found[-1][-1]
            start = here if command == "m" and number == 0 else start
        here = start if command == "z" else here
    return np.vstack(found)


def test_curves_and_closed_parts_stay_where_they_were():
    closed, curves = (
        "M 1.004 1 \nL 5 1 \nL 5 5 \nz \n",
        "Q 11 12.5 13 10 \nQ 15 7.346 17 10 \nC 18 11 19 12 20.5 10 \n",
    )
    path = f"{closed}M 10 10 \n{curves}L 30 30 \n"
    assert svg.shorter(path).count("z") == 1
    expected = np.array(re.findall(r"[\d.]+", path), float).reshape(-1, 2)
    np.testing.assert_allclose(points(svg.shorter(path)), expected, atol=0.005)


@given(st.lists(st.tuples(st.floats(0, 300), st.floats(0, 300)), min_size=2, max_size=40))
def test_a_thinned_line_passes_all_its_vertices_nearby(vertices):
    kept = points(svg.shorter("M " + " \nL ".join(f"{x:.6f} {y:.6f}" for x, y in vertices)))
    vertices = np.array(vertices)
    np.testing.assert_allclose(kept[[0, -1]], vertices[[0, -1]], atol=0.006)
    starts, along = kept[:-1], np.diff(kept, axis=0)
    for vertex in vertices:
        share = np.clip(
            ((vertex - starts) * along).sum(1) / np.maximum((along**2).sum(1), 1e-12), 0, 1
        )
        assert np.hypot(*(starts + share[:, None] * along - vertex).T).min() < svg.TOLERANCE + 0.01


def test_a_line_of_many_points_is_thinned():
    path = "M " + " \nL ".join(f"{x} {0.1 * (x % 2)}" for x in range(200))
    assert len(points(svg.shorter(path))) == 2

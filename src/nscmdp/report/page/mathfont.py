"""The font of equations, so that they look the same on every machine, one without mathematical fonts included.

Browsers lay out MathML by a font's table of mathematical constants and of larger variants of brackets, roots and sums.
The STIX fonts that come with matplotlib (SIL Open Font License) have the glyphs, in several files, but no such table:
what formulas need of them is put together here. Sizes are in thousandths of the font size.
"""

import base64
import io
from functools import cache
from pathlib import Path

import matplotlib
from fontTools import subset
from fontTools.otlLib.builder import buildMathTable
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont
from fontTools.ttLib.tables._g_l_y_f import Glyph

NAME = "equations"  # "STIX" is reserved for the fonts as they were
SIZES = ("One", "Two", "Three")
WIDE = "()[]"  # not to be had in the largest size: browsers keep the room of the widest one free at every size
STRETCHED = WIDE + "{}\u230a\u230b\u2308\u2309\u27e8\u27e9\u221a\u2211\u220f"
BARS = "|\u2016"
ITALIC = {*range(0x1D434, 0x1D468), *range(0x1D6E2, 0x1D71C), 0x210E}
CHARACTERS = {
    *map(chr, range(0x20, 0x7F)),
    *map(chr, range(0x391, 0x3CA)),  # Greek
    *map(chr, ITALIC),
    *map(chr, range(0x1D49C, 0x1D4B6)),  # script capitals, and those that stand elsewhere
    *"\u212c\u2130\u2131\u210b\u2110\u2112\u2133\u211b\u2102\u210d\u2115\u2119\u211a\u211d\u2124\U0001d53c",
    *"\u00a0\u00af\u00b1\u00b7\u00d7\u02c6\u02c9\u02dc\u03d1\u03d5\u03f1\u03f5\u2009\u2020\u2026\u2032\u2033\u2190\u2192\u21d2",
    *"\u2200\u2202\u2203\u2207\u2208\u2212\u221d\u221e\u2223\u222b\u2248\u2260\u2264\u2265\u2270\u22a4\u22c5\u22ef\u27fa",
    *STRETCHED,
    *BARS,
}
RULE = 62
CONSTANTS = {
    "ScriptPercentScaleDown": 72,
    "ScriptScriptPercentScaleDown": 58,
    "DelimitedSubFormulaMinHeight": 1500,
    "DisplayOperatorMinHeight": 1300,
    "MathLeading": 150,
    "AxisHeight": 259,
    "AccentBaseHeight": 450,
    "FlattenedAccentBaseHeight": 662,
    "SubscriptShiftDown": 210,
    "SubscriptTopMax": 360,
    "SubscriptBaselineDropMin": 160,
    "SuperscriptShiftUp": 360,
    "SuperscriptShiftUpCramped": 252,
    "SuperscriptBottomMin": 120,
    "SuperscriptBaselineDropMax": 230,
    "SubSuperscriptGapMin": 150,
    "SuperscriptBottomMaxWithSubscript": 380,
    "SpaceAfterScript": 40,
    "UpperLimitGapMin": 135,
    "UpperLimitBaselineRiseMin": 300,
    "LowerLimitGapMin": 135,
    "LowerLimitBaselineDropMin": 670,
    "StackTopShiftUp": 470,
    "StackTopDisplayStyleShiftUp": 780,
    "StackBottomShiftDown": 385,
    "StackBottomDisplayStyleShiftDown": 690,
    "StackGapMin": 150,
    "StackDisplayStyleGapMin": 300,
    "FractionNumeratorShiftUp": 480,
    "FractionNumeratorDisplayStyleShiftUp": 720,
    "FractionDenominatorShiftDown": 480,
    "FractionDenominatorDisplayStyleShiftDown": 700,
    "FractionNumeratorGapMin": RULE,
    "FractionNumDisplayStyleGapMin": 150,
    "FractionRuleThickness": RULE,
    "FractionDenominatorGapMin": RULE,
    "FractionDenomDisplayStyleGapMin": 150,
    "OverbarVerticalGap": 175,
    "OverbarRuleThickness": RULE,
    "OverbarExtraAscender": RULE,
    "UnderbarVerticalGap": 175,
    "UnderbarRuleThickness": RULE,
    "UnderbarExtraDescender": RULE,
    "StretchStackTopShiftUp": 800,
    "StretchStackBottomShiftDown": 590,
    "StretchStackGapAboveMin": RULE,
    "StretchStackGapBelowMin": RULE,
    "RadicalVerticalGap": 75,
    "RadicalDisplayStyleVerticalGap": 140,
    "RadicalRuleThickness": RULE,
    "RadicalExtraAscender": RULE,
    "RadicalKernBeforeDegree": 277,
    "RadicalKernAfterDegree": -335,
    "RadicalDegreeBottomRaisePercent": 60,
}


@cache
def css() -> str:
    """A style sheet with the font in it: a page from disk may not be allowed to load one from another file."""
    face = (
        f'@font-face {{ font-family: {NAME}; src: url("data:font/ttf;base64,{base64.b64encode(made()).decode()}"); }}'
    )
    return f'{face}\nmath {{ font-family: {NAME}, "STIX Two Math", "Cambria Math", math; }}\n'


def made() -> bytes:
    """The font. Not compressed: how well that is done differs between machines."""
    folder = Path(matplotlib.get_data_path(), "fonts/ttf")
    font = TTFont(folder / "STIXGeneral.ttf", recalcTimestamp=False)
    variants = _with_larger(font, [TTFont(folder / f"STIXSiz{size}SymReg.ttf") for size in SIZES])
    _lower_the_prime(font)
    _reduce(font, [name for larger in variants.values() for name, _ in larger])
    buildMathTable(
        font,
        CONSTANTS,
        italicsCorrections=_overhang(font),
        vertGlyphVariants=variants,
        vertGlyphAssembly=_bars(font),
        horizGlyphVariants={name: [(name, font["hmtx"][name][0])] for name in _names(font, "\u02c9")},
    )
    written = io.BytesIO()
    font.save(written)
    return written.getvalue()


def _names(font: TTFont, characters: str) -> list[str]:
    return [font.getBestCmap()[ord(character)] for character in characters]


def _height(font: TTFont, name: str) -> int:
    glyph = font["glyf"][name]
    return glyph.yMax - glyph.yMin


def _with_larger(font: TTFont, sizes: list[TTFont]) -> dict[str, list[tuple[str, int]]]:
    """Add the glyphs of other sizes to a font; the variants of each by height."""
    found = {}
    for character, name in zip(STRETCHED, _names(font, STRETCHED), strict=True):
        found[name] = [(name, _height(font, name))]
        for number, size in enumerate(sizes[: 2 if character in WIDE else None], start=1):
            if ord(character) in size.getBestCmap():
                (there,) = _names(size, character)
                larger = f"{name}.{number}"
                font["glyf"][larger], font["hmtx"][larger] = _outline(size, there), size["hmtx"][there]
                found[name].append((larger, _height(size, there)))
    return found


def _outline(font: TTFont, name: str, transformation: tuple[float, ...] = (1, 0, 0, 1, 0, 0)) -> Glyph:
    drawn, pen = DecomposingRecordingPen(font.getGlyphSet()), TTGlyphPen(None)
    font.getGlyphSet()[name].draw(drawn)
    drawn.replay(TransformPen(pen, transformation))
    return pen.glyph()


def _lower_the_prime(font: TTFont) -> None:
    """It is drawn where it stands in text; in formulas it is a superscript, small and raised."""
    (name,) = _names(font, "\u2032")
    font["glyf"][name] = _outline(font, name, (1.35, 0, 0, 1.35, -60, -457))
    font["hmtx"][name] = (300, 41)


def _reduce(font: TTFont, more: list[str]) -> None:
    """To what formulas need."""
    options = subset.Options(layout_features=[], name_IDs=[0, 13], hinting=False, notdef_outline=True)
    options.drop_tables += ["FFTM", "GDEF", "GPOS", "GSUB"]
    chosen = subset.Subsetter(options)
    chosen.populate(unicodes={ord(one) for one in CHARACTERS} & {*font.getBestCmap()}, glyphs=more)
    chosen.subset(font)
    font["name"].setName(NAME, 1, 3, 1, 0x409)


def _overhang(font: TTFont) -> dict[str, int]:
    """By how much slanted letters exceed their width: a superscript keeps off it."""
    names = [font.getBestCmap()[code] for code in sorted(ITALIC & {*font.getBestCmap()})]
    return {name: max(0, font["glyf"][name].xMax - font["hmtx"][name][0]) for name in names}


def _bars(font: TTFont) -> dict[str, list]:
    """A bar of any height is made of bars."""
    found = {}
    for name in _names(font, BARS):
        height = _height(font, name)
        found[name] = [[(name, 0, 0, height // 2, height), (name, 1, height // 2, height // 2, height)], 0]
    return found

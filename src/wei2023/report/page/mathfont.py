"""The font of equations, so that they look the same on every machine, one without mathematical fonts included.

It is STIX Two Math (SIL Open Font License), which ziamath carries, with the characters that formulas use.
"""

import base64
import io
from functools import cache
from importlib.metadata import distribution

from fontTools import subset
from fontTools.ttLib import TTFont

NAME = "equations"
RANGES = (
    (0x20, 0x7F),
    (0xA0, 0x100),
    (0x2B0, 0x370),  # accents
    (0x370, 0x400),  # Greek
    (0x2000, 0x2070),  # spaces, dots, primes
    (0x2100, 0x2200),  # letters like symbols, arrows
    (0x2200, 0x2300),  # operators
    (0x2308, 0x230C),  # floors and ceilings
    (0x27E8, 0x27FB),
    (0x1D434, 0x1D468),  # italic
    (0x1D49C, 0x1D4D0),  # script
    (0x1D538, 0x1D56C),  # double-struck
    (0x1D6E2, 0x1D71C),  # italic Greek
)


@cache
def css() -> str:
    """A style sheet with the font in it: a page from disk may not be allowed to load one from another file."""
    font = base64.b64encode(made()).decode()
    face = f'@font-face {{ font-family: {NAME}; src: url("data:font/ttf;base64,{font}"); }}'
    return f'{face}\nmath {{ font-family: {NAME}, "STIX Two Math", "Cambria Math", math; }}\n'


def made() -> bytes:
    """Not compressed: how well that is done differs between machines."""
    file = distribution("ziamath").locate_file("ziamath/fonts/STIXTwoMath-Regular.ttf")
    font = TTFont(str(file), recalcTimestamp=False)
    reduced = subset.Subsetter(subset.Options(layout_features=[], name_IDs=[0, 13], hinting=False))
    reduced.populate(unicodes={code for first, end in RANGES for code in range(first, end)})
    reduced.subset(font)
    written = io.BytesIO()
    font.save(written)
    return written.getvalue()

"""Words of a question that a search treats apart: stop words, and words about errors."""

from typing import Final

_STOP_WORDS: Final = """
    a about after also an and any are as at be become became been before being between both but by can could
    did do does doing done each either else every for from had has have having he her here him his how i if in
    into is it its itself just may me might more most must my no nor not of off on one only onto or other our
    out over own per same shall she should so some still such than that the their them then there these they
    this those through to too under until up upon us very was we were what when where whether which while who
    whom whose why will with within without would yet you your
"""
STOP_WORDS: Final = frozenset(_STOP_WORDS.split())
"""English words that a question is asked with rather than about; they are left out of a search."""

STOP_CHARACTERS: Final = frozenset(
    "的了是在我你他她它们这那哪有和与或就都也还又不没很吗呢吧啊把被给到从为对于个之其而但则所以及什么怎样"
)
"""The same in Chinese; a pair of characters that holds one is left out."""

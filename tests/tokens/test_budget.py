"""Taking what fits a budget."""

import pytest

from coppice.tokens.budget import leading


@pytest.mark.parametrize(
    ("budget", "taken"),
    [(-1, []), (0, []), (2, ["a"]), (3, ["a", "bb"]), (5, ["a", "bb"]), (9, ["a", "bb", "cccc", "d"])],
)
def test_what_fits_is_taken_up_to_the_first_that_does_not(budget: int, taken: list[str]) -> None:
    assert leading(iter(["a", "bb", "cccc", "d"]), budget, len) == taken

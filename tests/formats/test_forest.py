from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coppice.formats.entry_index import ROOT, break_cycles, in_order


@pytest.mark.parametrize(
    ("parents", "broken"),
    [
        ([], []),
        ([ROOT, 0, 1], []),
        ([2, 0, ROOT], []),
        ([0], [0]),
        ([1, 0], [0]),
        ([3, 2, 3, 1], [1]),
        ([4, ROOT, 3, 4, 2], [2]),
        ([1, 0, 3, 2], [0, 2]),
    ],
)
def test_a_circle_is_cut_at_its_earliest_position(parents: list[int], broken: list[int]) -> None:
    links = array("q", parents)
    assert break_cycles(links) == broken
    assert [n for n, link in enumerate(links) if link != parents[n]] == broken
    assert all(links[n] == ROOT for n in broken)


@given(st.lists(st.integers(-1, 30), max_size=30))
def test_every_position_comes_once_and_after_its_parent(drawn: list[int]) -> None:
    links = array("q", [parent if parent < len(drawn) else ROOT for parent in drawn])
    break_cycles(links)
    order = list(in_order(links))
    assert sorted(order) == list(range(len(links)))
    place = {position: number for number, position in enumerate(order)}
    assert all(place[parent] < place[n] for n, parent in enumerate(links) if parent != ROOT)

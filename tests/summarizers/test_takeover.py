"""What the offline summaries of real sessions hand over; tests/benchmarks/takeover.py prints the figures."""

import pytest
from takeover_exam import SESSIONS, cut_session, score

FLOORS = {
    "claude-code-session-1": 16,
    "claude-code-session-2": 14,
    "claude-entire-a": 14,
    "codex-hk": 16,
}
"""Probes of 24 at 4,000 tokens, as many as are reached. A probe asks for copied sentences; see
docs/benchmarks.md for what replaced it as the measure."""


@pytest.mark.parametrize("name", SESSIONS)
def test_the_offline_summary_hands_the_work_over(name: str) -> None:
    cut = cut_session(name)
    text, _ = cut.offline(4_000)
    result = score(cut, text)
    assert result.total >= FLOORS[name]
    assert result.tokens <= 4_000
    assert result.word_lists == 0


@pytest.mark.parametrize("name", SESSIONS)
def test_half_the_budget_still_says_who_asked_for_what_and_what_is_open(name: str) -> None:
    cut = cut_session(name)
    text, _ = cut.offline(2_000)
    result = score(cut, text)
    assert result.total >= FLOORS[name] // 2
    assert result.tokens <= 2_000

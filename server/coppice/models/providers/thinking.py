"""What a thinking level is in the requests of each protocol."""

from typing import Any, Final

from coppice.providers import ThinkingLevel

LEAST_BUDGET: Final = 1_024
"""The fewest tokens that Anthropic's older models may be given to think in."""
BUDGETS: Final[dict[ThinkingLevel, int]] = {"off": 0, "low": LEAST_BUDGET, "medium": 8_192, "high": 24_576}
"""Tokens that a model may think in: those that Gemini takes for the efforts of OpenAI's protocol."""


def effort_of(level: ThinkingLevel) -> str:
    """The effort of OpenAI's protocols. Models that always think refuse `none`, and are asked without."""
    return "none" if level == "off" else level


def adaptive_thinking(level: ThinkingLevel) -> dict[str, Any]:
    """The fields of Anthropic's newer models, which think as much as they need at an effort."""
    if level == "off":
        return {"thinking": {"type": "disabled"}}
    return {"thinking": {"type": "adaptive"}, "output_config": {"effort": level}}


def budgeted_thinking(level: ThinkingLevel, max_tokens: int) -> dict[str, Any]:
    """Those of the older ones. Thinking is part of the answer: it gets at most half of `max_tokens`."""
    budget = min(BUDGETS[level], max_tokens // 2)
    return {"thinking": {"type": "enabled", "budget_tokens": budget}} if budget >= LEAST_BUDGET else {}

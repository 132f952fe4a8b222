"""Where Anthropic's prompt cache begins and ends: the breakpoints of a request.

A cached beginning is read up to a breakpoint that an earlier request of the same beginning set, or one within
20 blocks before one of this request (https://docs.claude.com/en/docs/build-with-claude/prompt-caching). The
end of the request before is marked again, so that it is read however many blocks came since.
"""

from typing import Any, Final

_BREAKPOINT: Final = {"type": "ephemeral"}
_MARKED_MESSAGES: Final = 2
"""Of the user: this request ends with the last one, the request before ended with the one before."""


def with_breakpoints(body: dict[str, Any]) -> dict[str, Any]:
    """`body` with breakpoints after the tools and the system prompt, and after the newest messages."""
    marked = dict(body)
    if "system" in body:
        marked["system"] = [_marked({"type": "text", "text": body["system"]})]
    elif body.get("tools"):
        marked["tools"] = [*body["tools"][:-1], _marked(body["tools"][-1])]
    messages = list(body["messages"])
    users = [place for place, message in enumerate(messages) if message["role"] == "user"]
    for place in users[-_MARKED_MESSAGES:]:
        *blocks, last = messages[place]["content"]
        messages[place] = {**messages[place], "content": [*blocks, _marked(last)]}
    return marked | {"messages": messages}


def has_breakpoints(body: dict[str, Any]) -> bool:
    """Whether `with_breakpoints` made the body: every request ends with a message of the user."""
    return any("cache_control" in message["content"][-1] for message in body["messages"][-1:])


def _marked(block: dict[str, Any]) -> dict[str, Any]:
    return {**block, "cache_control": _BREAKPOINT}

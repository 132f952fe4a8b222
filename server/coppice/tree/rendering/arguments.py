"""A tool call's arguments as the JSON text that providers exchange."""

import json

from coppice.tree.messages import ToolCall


def arguments_json(call: ToolCall) -> str:
    """The arguments of a call as the JSON text that OpenAI's protocol wants."""
    return json.dumps(call.arguments, ensure_ascii=False)

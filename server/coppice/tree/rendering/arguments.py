"""A tool call's arguments as the JSON text that providers exchange."""

import json

from coppice.tree.messages import ToolCall


def arguments_json(call: ToolCall) -> str:
    return json.dumps(call.arguments, ensure_ascii=False)

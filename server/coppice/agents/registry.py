"""The agents that `coppice connect` knows. What is not finished is not here."""

from typing import Final

from coppice.agents.claude_code import ClaudeCode
from coppice.agents.codex import Codex
from coppice.agents.connector import Connector
from coppice.agents.copilot import Copilot
from coppice.agents.gemini import Gemini
from coppice.agents.hermes import Hermes
from coppice.agents.openclaw import OpenClaw
from coppice.agents.opencode import Opencode
from coppice.agents.pi import Pi

CONNECTORS: Final[tuple[Connector, ...]] = (
    ClaudeCode(),
    Codex(),
    Pi(),
    Opencode(),
    Copilot(),
    Gemini(),
    Hermes(),
    OpenClaw(),
)
NAMES: Final = tuple(connector.name for connector in CONNECTORS)

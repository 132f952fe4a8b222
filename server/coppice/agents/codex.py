"""Codex 0.169: the user's `~/.codex/config.toml`."""

import json
from hashlib import sha256
from typing import Any, ClassVar, Final

from typing_extensions import override

from coppice.agents.connector import Connector
from coppice.agents.edits import Block, Edit, Section
from coppice.agents.files import read
from coppice.agents.hook_script import hook_script
from coppice.agents.jsonc import ConfigurationError
from coppice.agents.program import HOOK_SECONDS, NO_HOOK, Program, hook_command
from coppice.operating_system import starts_scripts
from coppice.settings.files import parsed_toml

_MATCHER: Final = "compact"
_INSTRUCTIONS: Final = """\
## Earlier work

The tools of the MCP server `coppice` (history_search, history_read, history_overview; tool_search lists
them) have the exact text of past sessions in this project, and of what was compacted in this one. Search
them before debugging an error that may have occurred before, and before asking the user what may have been
decided.
"""


class Codex(Connector):
    """Tables at the end of the file: a table ends what was above it.

    On Windows it runs hooks in cmd, which cannot start the script.
    """

    name: ClassVar[str] = "codex"
    title: ClassVar[str] = "Codex"
    executable: ClassVar[str] = "codex"
    home: ClassVar[tuple[str, str]] = ("CODEX_HOME", ".codex")
    advice: ClassVar[tuple[str, ...]] = (
        "Codex skips a new hook silently until you have trusted it: start `codex` once and approve it there."
        if starts_scripts()
        else NO_HOOK,
    )

    @override
    def edits(self, program: Program) -> list[Edit]:
        command, *arguments = (*program.words, "mcp")
        lines = ["[mcp_servers.coppice]", f"command = {_toml(command)}", f"args = {_toml(arguments)}"]
        if program.environment:
            pairs = ", ".join(f"{key} = {_toml(value)}" for key, value in program.environment.items())
            lines.append(f"env = {{ {pairs} }}")
        what = "the MCP server `coppice`"
        edits: list[Edit] = []
        if starts_scripts():
            lines += self._hook()
            what += ", and a hook that adds what was lost after a compaction"
            edits.append(hook_script(program, self.name))
        tables = "\n".join(lines) + "\n"
        file = self.folder / "config.toml"
        return [Block(path=file, what=what, tables=tables, name=("mcp_servers", "coppice")), *edits]

    def _hook(self) -> list[str]:
        return [
            "",
            "[[hooks.SessionStart]]",
            f"matcher = {_toml(_MATCHER)}",
            "",
            "[[hooks.SessionStart.hooks]]",
            'type = "command"',
            f"command = {_toml(_command())}",
            f"timeout = {HOOK_SECONDS}",
        ]

    @override
    def instructions(self) -> Section:
        return Section(
            path=self.folder / "AGENTS.md",
            what="a section that tells Codex when to search the history",
            lines=_INSTRUCTIONS,
        )

    @override
    def problems(self) -> list[str]:
        if not starts_scripts():
            return []
        state = self._hook_state()
        if state.get("trusted_hash") != _definition_hash():
            return ["Its hook is not trusted as it is now: start `codex` and approve it there."]
        if state.get("enabled") is False:
            return ["Its hook is trusted and switched off: start `codex` and switch it on there."]
        return []

    def _hook_state(self) -> dict[str, Any]:
        """What Codex recorded of our hook, which it names by the file and the place in it."""
        try:
            config = parsed_toml(read(self.folder / "config.toml") or "")
            place = next(
                f"{n}:{m}"
                for n, group in enumerate(config["hooks"]["SessionStart"])
                for m, hook in enumerate(group.get("hooks", []))
                if hook.get("command") == _command()
            )
            file = self.folder.resolve() / "config.toml"
            state = config["hooks"]["state"][f"{file}:session_start:{place}"]
        except (AttributeError, ConfigurationError, LookupError, StopIteration, TypeError, ValueError):
            return {}
        return state if isinstance(state, dict) else {}


def _command() -> str:
    return hook_command(Codex.name)


def _definition_hash() -> str:
    """What Codex 0.169 calls the `currentHash` of our hook, with the defaults of what is not configured."""
    hook = {"async": False, "command": _command(), "timeout": HOOK_SECONDS, "type": "command"}
    definition = {"event_name": "session_start", "hooks": [hook], "matcher": _MATCHER}
    text = json.dumps(definition, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def _toml(value: str | list[str]) -> str:
    """JSON's strings and lists of strings are TOML's, but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

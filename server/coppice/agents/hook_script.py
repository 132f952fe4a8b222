"""The shell script that an agent runs as its hook. It outlives the hook's process, and Coppice.

What an agent shows of a hook that fails, by itself (in the versions of docs/agents/README.md): Claude Code
its standard error, Codex the code only, Gemini CLI its command and standard error, Copilot CLI nothing unless
the code is 2. So the script puts one line where the agent shows it, and ends with a code after which the
agent goes on.
"""

import shlex
from typing import Final

from coppice.agents.edits import OwnFile
from coppice.agents.hook import LATE
from coppice.agents.hook_log import log_file
from coppice.agents.program import Program, hook_file
from coppice.directories import config_directory

_AFTER_TOOL: Final = ("AfterTool", "postToolUse")
"""Events that come many times in a turn: the next prompt, which is answered for the same, shows the line."""

_SYSTEM_MESSAGE: Final = """printf '{"systemMessage": "%s"}\\n' "$line\""""
_SHOWING: Final = {
    "claude-code": """printf '%s\\n' "$line" >&3; exit 1""",
    "codex": _SYSTEM_MESSAGE,
    "copilot": """printf '%s\\n' "$line" >&3; exit 2""",
    "gemini": _SYSTEM_MESSAGE,
}

_SCRIPT: Final = """\
#!/bin/sh
# Written by `coppice connect @agent@`; `coppice connect --remove @agent@` takes it out.
# Where Coppice's hook dies, is late or cannot start, one line says so, and the agent goes on.
exec 3>&2 2>/dev/null # a shell, too, says what killed a program
COPPICE_CONFIG_DIRECTORY=@folder@ # to look for it takes as long as all else
export COPPICE_CONFIG_DIRECTORY
answer=$(@command@ "$@" 3>&-)
code=$?
case $code in
    0) [ -z "$answer" ] || printf '%s\\n' "$answer"; exit 0 ;;
    @late@) happened='did not answer in time' ;; # which it has logged
    126|127) happened='cannot start, because Coppice is no longer where it was installed' ;;
    *) if [ $code -gt 128 ]; then happened="was ended by signal $((code - 128))"
       else happened="ended with code $code"; fi ;;
esac
case $1 in @after@) exit 0 ;; esac
if [ $code -ne @late@ ]; then
    printf '%s @agent@ failure: its hook %s\\n' "$(date -u +%Y-%m-%dT%H:%M:%S+00:00)" "$happened" >>@log@
fi
line="Coppice's hook $happened, and nothing was added. "@advice@
@showing@
"""
_ADVICE: Final = (
    "`coppice status` shows its failures, `coppice connect {0}` writes it anew, "
    "`coppice connect --remove {0}` takes it out."
)


def hook_script(program: Program, agent: str) -> OwnFile:
    """The script of an agent, as a file of ours."""
    values = {
        "agent": agent,
        "command": shlex.join(program.hook_words(agent)),
        "folder": shlex.quote(str(config_directory())),
        "late": str(LATE),
        "after": "|".join(_AFTER_TOOL),
        "log": shlex.quote(str(log_file())),
        "advice": shlex.quote(_ADVICE.format(agent)),
        "showing": _SHOWING[agent],
    }
    content = _SCRIPT
    for name, value in values.items():
        content = content.replace(f"@{name}@", value)
    return OwnFile(path=hook_file(agent), what="the script that its hooks run", content=content)

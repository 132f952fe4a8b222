"""What an agent's hooks cost, next to Python itself, in time of the processor.

.venv/bin/python tests/benchmarks/idle_hook.py [RUNS [SHARED]]

First hooks that have nothing to add: they run at each prompt or tool. With the folder of the recorded
sessions also those that run once after a compaction, and what these take in a process that did it before.
"""

import json
import os
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from coppice.agents import files
from coppice.agents.hook_script import hook_script
from coppice.agents.program import Program, hook_command

LINE: Final = '{"type":"assistant.message","data":{"content":"' + "x" * 1900 + '"},"id":"a"}\n'
MEGABYTES: Final = (1, 10, 50)
AGAIN: Final = """
import sys, time
from pathlib import Path
from coppice.agents.completing import lost_text
transcript, agent = Path(sys.argv[1]), sys.argv[2]
for _ in range(2):
    began = time.process_time()
    lost_text(transcript, agent, recorded=agent == "codex")
print(time.process_time() - began)
"""


def computed(command: str, event: dict[str, Any]) -> float:
    """Milliseconds of the processor, in the kernel and outside."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    given = json.dumps(event).encode()
    subprocess.run(["sh", "-c", command], input=given, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def idle(folder: Path) -> dict[str, tuple[str, dict[str, Any]]]:
    """Commands with their events, by name."""
    cases: dict[str, tuple[str, dict[str, Any]]] = {
        "python -c pass": (f"{shlex.quote(sys.executable)} -c pass", {}),
        "gemini": (hook_command("gemini", "AfterTool"), {"transcript_path": "/nowhere"}),
    }
    for size in MEGABYTES:
        path = folder / "session-state" / str(size) / "events.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text(LINE * (size * 1_000_000 // len(LINE)))
        command = hook_command("copilot", "postToolUse")
        cases[f"copilot, {size} MB without a compaction"] = command, {"sessionId": str(size)}
    return cases


def main(runs: int, shared: Path | None) -> None:
    """In turn, so that all meet the same load."""
    with tempfile.TemporaryDirectory() as name:
        os.environ |= {"COPPICE_CONFIG_DIRECTORY": name, "COPILOT_HOME": name}
        for agent in ("claude-code", "codex", "copilot", "gemini"):
            script = hook_script(Program.installed(), agent)
            files.write(script.path, script.content)
        cases = idle(Path(name))
        recorded = [] if shared is None else sorted((shared / "data").glob("c*.jsonl"))
        for path in recorded:
            event = {"hook_event_name": "SessionStart", "source": "compact", "session_id": "s"}
            cases[path.name] = hook_command(_agent(path)), {**event, "transcript_path": str(path)}
        times: dict[str, list[float]] = {case: [] for case in cases}
        for _ in range(runs):
            for case, (command, event) in cases.items():
                times[case].append(computed(command, event))
        for case, each in times.items():
            print(f"{case}: {statistics.median(each):.1f} ms (least {min(each):.1f})")
        for path in recorded:
            words = [sys.executable, "-c", AGAIN, str(path), _agent(path)]
            seconds = float(subprocess.run(words, capture_output=True, check=True).stdout)
            print(f"{path.name}, in a process that did it before: {1000 * seconds:.0f} ms")


def _agent(path: Path) -> str:
    return "codex" if path.name.startswith("codex") else "claude-code"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 25, Path(sys.argv[2]) if len(sys.argv) > 2 else None)

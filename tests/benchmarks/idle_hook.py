"""What an agent's hook that has nothing to add costs, next to Python itself, in time of the processor.

.venv/bin/python tests/benchmarks/idle_hook.py [RUNS]
"""

import os
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from coppice.agents import files
from coppice.agents.hook_script import hook_script
from coppice.agents.program import Program, hook_command

EVENT = b'{"hook_event_name": "AfterTool", "transcript_path": "/nowhere"}'


def computed(command: str) -> float:
    """Milliseconds of the processor, in the kernel and outside."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["sh", "-c", command], input=EVENT, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main(runs: int) -> None:
    """In turn, so that all meet the same load."""
    os.environ["COPPICE_CONFIG_DIRECTORY"] = tempfile.mkdtemp()
    script = hook_script(Program.installed(), "gemini")
    files.write(script.path, script.content)
    commands = {
        "python -c pass": f"{shlex.quote(sys.executable)} -c pass",
        "hook": hook_command("gemini", "AfterTool"),
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            times[name].append(computed(command))
    for name, each in times.items():
        print(f"{name}: {statistics.median(each):.1f} ms (least {min(each):.1f})")
    print(f"ratio {statistics.median(times['hook']) / statistics.median(times['python -c pass']):.1f}")
    script.path.unlink()
    Path(os.environ["COPPICE_CONFIG_DIRECTORY"], "agents").rmdir()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 25)

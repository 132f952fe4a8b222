"""Has each real agent record sessions, and checks that the readers of transcripts understand all of them.

COPPICE_TEST_AGENTS=~/agents .venv/bin/python tests/real_agents/recording.py FOLDER [AGENT…]

The model is scripted. FOLDER, outside of the checkout, gets a home for each session; what is there is
only checked. Takes some ten minutes, so CI checks only the sessions of the tests next to this.
"""

import base64
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from real_agents.conftest import SECONDS, RealAgent, made_agent, write
from real_agents.scripted_model import Answer, Asked, ScriptedModel
from real_agents.test_pi_tree import COMMAND as BACK
from real_agents.test_three_compactions import CALLS, LONG, OPTIONS, RULE, SUMMARY, TOOLS, ThreeWindows
from records_counting import counts_of, transcripts

from coppice.formats.session import SessionReader
from coppice.tree.entries import CompactionEntry, MessageEntry

AGENTS: Final = ("claude-code", "codex", "pi", "opencode", "copilot", "gemini")
SHELL: Final = {**TOOLS, "pi": ("bash", "command"), "gemini": ("run_shell_command", "command")}
CONTINUE: Final = {
    "claude-code": ("--continue",),
    "codex": ("resume", "--last"),
    "copilot": ("--continue",),
    "gemini": ("--resume", "latest"),
    "opencode": ("--continue",),
    "pi": ("--continue",),
}
FORK: Final = {
    "claude-code": ("--continue", "--fork-session"),
    "opencode": ("--continue", "--fork"),
    "pi": ("--continue",),
}
IMAGE: Final = {
    "claude-code": ("Read", "file_path"),
    "codex": ("view_image", "path"),
    "copilot": ("view", "path"),
    "gemini": ("read_file", "file_path"),
    "opencode": ("read", "filePath"),
    "pi": ("read", "path"),
}
FREELY: Final = {
    "claude-code": ("--permission-mode", "acceptEdits"),
    "codex": ("--dangerously-bypass-approvals-and-sandbox",),
}
"""Options with which files are written unasked."""
WRITE: Final = {
    "claude-code": ("Write", "file_path", "content"),
    "copilot": ("create", "path", "file_text"),
    "gemini": ("write_file", "file_path", "content"),
    "opencode": ("write", "filePath", "content"),
    "pi": ("write", "path", "content"),
}
PIXEL: Final = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAX+XDSwAAAABJRU5ErkJggg=="
)
UNICODE: Final = "Prüfung 日本 😀 'a\"b"


def calling(agent: RealAgent, *answers: Answer) -> None:
    """The model gives these answers in turn, then ends the turn. Titles are asked for without tools."""
    left = list(answers)

    def script(asked: Asked) -> Answer:
        if not asked.tools:
            return Answer(SUMMARY)
        return left.pop(0) if left else Answer("Done.")

    agent.model.script = script


def shell(agent: RealAgent, command: str, text: str = "I run it.") -> Answer:
    tool, argument = SHELL[agent.name]
    return Answer(text, tool=tool, arguments={argument: command})


def run(agent: RealAgent, prompt: str, *more: str) -> None:
    """Where an agent takes its options before those that end in the prompt, they come first."""
    once = agent.arguments
    if agent.name in ("gemini", "copilot") and more:
        agent.arguments, more = (*more, *once), ()
    try:
        agent.run(prompt, *more)
    finally:
        agent.arguments = once


def plain(agent: RealAgent) -> None:
    calling(agent)
    run(agent, "Hello. Say that it is done.")


def tools(agent: RealAgent) -> None:
    calling(agent, *(shell(agent, f"echo line {n}", text="" if n % 2 else "Next.") for n in range(5)))
    run(agent, f"{RULE} Print five lines.")


def failing(agent: RealAgent) -> None:
    nothing = Answer("Another.", tool="no_such_tool", arguments={"a": 1})
    calling(agent, shell(agent, "echo wrong >&2; exit 3"), nothing, shell(agent, "kill -SEGV $$"))
    run(agent, "Run what fails.")


def long(agent: RealAgent) -> None:
    line = "head -c 300000 /dev/zero | tr '\\0' x"
    calling(agent, shell(agent, LONG), shell(agent, line))
    run(agent, "Print much. " + "A long prompt. " * 2000)


def foreign(agent: RealAgent) -> None:
    agent.project = agent.project.with_name(UNICODE)
    agent.project.mkdir()
    calling(
        agent,
        shell(agent, "printf 'äöü \\xff \\x1b[31mred 日本 😀\\n'; ls"),
        *writing(agent, f"{UNICODE}.txt"),
    )
    run(agent, f"Schreib 日本 😀 \u2028 {UNICODE}")


def writing(agent: RealAgent, name: str) -> list[Answer]:
    path = str(agent.project / name)
    if agent.name not in WRITE:
        patch = f"*** Begin Patch\n*** Add File: {name}\n+one\n+zwei\n*** End Patch\n"
        return [shell(agent, f"apply_patch <<'EOF'\n{patch}EOF")]
    tool, file, content = WRITE[agent.name]
    more = {"description": "a file"} if agent.name == "gemini" else {}
    return [Answer("I write.", tool=tool, arguments={file: path, content: "one\nzwei\n", **more})]


def files(agent: RealAgent) -> None:
    calling(
        agent, *writing(agent, "one.txt"), *writing(agent, "two.txt"), shell(agent, "cat one.txt; rm one.txt")
    )
    run(
        agent,
        "Write two files.",
        *FREELY.get(agent.name, ()),
    )


def image(agent: RealAgent) -> None:
    picture = agent.project / "bild.png"
    picture.write_bytes(PIXEL)
    tool, argument = IMAGE[agent.name]
    calling(agent, Answer("I look.", tool=tool, arguments={argument: str(picture)}))
    run(agent, "Look at bild.png.")


def resumed(agent: RealAgent) -> None:
    for number in range(3):
        calling(agent, shell(agent, f"echo session {number}"))
        run(agent, f"Prompt {number}.", *(CONTINUE[agent.name] if number else ()))


def forked(agent: RealAgent) -> None:
    """Codex, Copilot and Gemini begin another session: they cannot fork without a terminal."""
    resumed(agent)
    if agent.name == "pi":
        write(agent.home / ".pi" / "agent" / "extensions" / "back.ts", BACK)
        calling(agent)
        run(agent, "/back", "--continue")
    calling(agent, shell(agent, "echo fork"))
    run(agent, "Another way.", *FORK.get(agent.name, ()))


def compacted(agent: RealAgent) -> None:
    if agent.name in TOOLS:
        agent.model.script = ThreeWindows(agent, compactions=2, most_calls=CALLS)
        run(agent, f"{RULE} List the numbers.", *OPTIONS.get(agent.name, ()))
        return
    full = 900_000 if agent.name == "gemini" else 26_000
    seen: list[str] = []

    def script(asked: Asked) -> Answer:
        if not asked.tools or ("state_snapshot" in asked.last and RULE not in asked.last):
            return Answer(f"<state_snapshot>{SUMMARY}</state_snapshot>")
        seen.append("")
        if len(seen) % 4 == 0:
            return Answer("Done.")
        tool, argument = SHELL[agent.name]
        tokens = full if len(seen) % 4 == 3 else 1000
        return Answer("I list.", tool=tool, arguments={argument: f"{LONG} # {len(seen)}"}, tokens=tokens)

    agent.model.script = script
    run(agent, f"{RULE} List the numbers.")
    run(agent, "Go on.", *CONTINUE[agent.name])
    run(agent, "Go on again.", *CONTINUE[agent.name])


def killed(agent: RealAgent) -> None:
    stopped(agent, signal.SIGKILL)


def interrupted(agent: RealAgent) -> None:
    stopped(agent, signal.SIGINT)


def stopped(agent: RealAgent, by: signal.Signals) -> None:
    """Ended while a command runs, and gone on with."""
    reached = agent.project / "reached"
    calling(agent, shell(agent, "echo before"), shell(agent, f"touch '{reached}'; sleep 5; echo after"))
    started = threading.Event()

    def watch() -> None:
        for _ in range(SECONDS * 4):
            if reached.exists():
                break
            time.sleep(0.25)
        time.sleep(1)  # some write late
        started.set()

    threading.Thread(target=watch, daemon=True).start()
    agent.kill(started, "Run it.", *FREELY.get(agent.name, ()), by=by)
    calling(agent, shell(agent, "echo again"))
    run(agent, "Go on.", *CONTINUE[agent.name])


SCENES: Final[tuple[Callable[[RealAgent], None], ...]] = (
    plain,
    tools,
    failing,
    long,
    foreign,
    files,
    image,
    resumed,
    forked,
    compacted,
    killed,
    interrupted,
)


def record(folder: Path, name: str, scene: Callable[[RealAgent], None]) -> str | None:
    """Records a session in a home of its own; why that failed, if it did."""
    place = folder / f"{name}-{scene.__name__}"
    if place.exists():
        return None
    model = ScriptedModel()
    try:
        agent = made_agent(name, model, place)
        assert agent is not None, "it is not installed"
        scene(agent)
    except (AssertionError, OSError, subprocess.SubprocessError) as error:
        return f"{type(error).__name__}: {str(error)[-300:]}"
    finally:
        model.close()
    return None


def problems_of(scene: Callable[[RealAgent], None], reader: SessionReader) -> list[str]:
    """What is wrong with what a reader makes of the transcript of a scene."""
    counts = counts_of(reader)
    entries = list(reader)
    lacking = len(counts.calls - counts.results)
    compactions = sum(isinstance(each, CompactionEntry) for each in entries)
    leaves = {each.id for each in entries} - {each.parent_id for each in entries}
    times = [each.timestamp for each in entries if isinstance(each, MessageEntry)]
    place = {each.id: number for number, each in enumerate(entries)}
    orphans = sum(
        each.parent_id is not None and place.get(each.parent_id, number) >= number
        for number, each in enumerate(entries)
    )
    checks = {
        f"{counts.unknown} unknown": counts.unknown > 0,
        f"{lacking} calls without a result": lacking > (1 if scene in (killed, interrupted) else 0),
        "results without a call": bool(counts.results - counts.calls),
        f"{compactions} compactions": scene is compacted and compactions < 2,
        "times not in order": times != sorted(times),
        f"{orphans} entries before their parents": orphans > 0,
        f"{len(leaves)} leaves": scene is forked and reader.format == "pi" and len(leaves) < 2,
        "no entry": not entries,
    }
    return [text for text, is_so in checks.items() if is_so]


def main(folder: Path, names: list[str]) -> int:
    """0 where every record of every transcript is understood, and every call that ended has its result."""
    totals: Counter[str] = Counter()
    bad = 0
    for name in names or AGENTS:
        for scene in SCENES:
            if (reason := record(folder, name, scene)) is not None:
                print(f"{name}-{scene.__name__}: not recorded: {reason}", flush=True)
            for path, reader, records in transcripts([folder / f"{name}-{scene.__name__}" / "home"]):
                problems = problems_of(scene, reader)
                totals.update({f"{name} transcripts": 1, f"{name} records": records})
                bad += bool(problems)
                said = ", ".join(problems) or "all understood"
                print(f"{name}-{scene.__name__}: {Path(path).name}: {records} records, {said}", flush=True)
    for each, count in totals.items():
        print(f"{each}: {count:,}")
    return bool(bad)


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), sys.argv[2:]))

"""Random sessions in a real git repository: an agent's tool calls with their real results, and what git says.

Everything that the agent does is done on disk, and what it sees is what commands printed. The user commits
and edits in between, unseen until a command shows it.
"""

import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from talk import tool

from coppice.compaction.facts.ledger import LedgerBuilder
from coppice.protocol.state import WorkState
from coppice.tree.messages import Message, UserMessage

_ENVIRONMENT: Final = {
    "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C",
}  # fmt: skip
_MAKEFILE: Final = (
    "test:\n\t@if [ -e .broken ]; then echo '1 failed, 4 passed'; exit 1; else echo '5 passed'; fi\n"
)


class RepositorySession:
    """One session of `steps` steps, drawn with `seed`, in the empty folder `folder`."""

    def __init__(self, folder: Path, seed: int, steps: int = 25) -> None:
        self.random = random.Random(seed)
        self.folder = folder / "work"
        self.messages: list[Message] = []
        self.unseen: set[str] = set()
        """Paths that the user changed and that no command has shown."""
        self._number = 0
        self._checked: bool | None = None
        self._stashed = 0
        self._begin(folder)
        for _ in range(steps):
            self.random.choice(self._steps())()

    def state(self) -> WorkState:
        """The state that is computed of the session's messages."""
        return LedgerBuilder(root=str(self.folder)).add_messages(self.messages).ledger.state

    def git(self, *words: str) -> str:
        """What git prints, unseen by the agent."""
        return self._run(["git", *words]).stdout

    def status(self) -> dict[str, str]:
        """Path and code of each file with changes."""
        lines = self.git("status", "--porcelain", "-uall", "--no-renames", "-z").split("\0")
        return {line[3:]: line[:2].strip() for line in lines if line}

    def commits(self) -> dict[str, str]:
        """Subjects by hash of the commits on HEAD that were made in the session."""
        lines = self.git("log", "--format=%H %s", f"{self.first}..HEAD").splitlines()
        return dict(line.split(" ", 1) for line in lines)

    def branch(self) -> str:
        return self.git("branch", "--show-current").strip()

    @property
    def check(self) -> bool | None:
        """Whether the newest `make test` passed; None where it never ran."""
        return self._checked

    def _begin(self, folder: Path) -> None:
        self.folder.mkdir()
        self.git("init", "-q", "-b", "main")
        self.git("init", "-q", "--bare", str(folder / "remote"))
        self.git("remote", "add", "origin", str(folder / "remote"))
        (self.folder / "lib").mkdir()
        for name in ("a.txt", "b.txt", "c.txt", "lib/d.txt", "lib/e.txt"):
            (self.folder / name).write_text(f"{name}\n")
        (self.folder / "Makefile").write_text(_MAKEFILE)
        (self.folder / ".gitignore").write_text(".broken\n.refuse\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Begin")
        hook = self.folder / ".git/hooks/pre-commit"
        hook.write_text("#!/bin/sh\n[ ! -e .refuse ] || { echo 'lint: 2 errors'; exit 1; }\n")
        hook.chmod(0o755)
        self.git("push", "-q", "origin", "main")
        self.first = self.git("rev-parse", "HEAD").strip()
        self.messages.append(UserMessage(content="Please work on this."))

    def _steps(self) -> list[Callable[[], Any]]:
        return [
            self.edit, self.edit, self.edit, self.write, self.shell_change, self.shell_change, self.delete,
            self.move, self.commit, self.commit, self.commit, self.amend, self.look, self.look, self.undo,
            self.reset, self.stash, self.switch, self.check_now, self.check_now, self.user_commits, self.push,
            self.refused_commit, self.turn,
        ]  # fmt: skip

    def _run(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **_ENVIRONMENT}
        return subprocess.run(
            words, cwd=self.folder, env=environment, text=True, capture_output=True, check=False
        )

    def bash(self, command: str) -> int:
        """The agent runs a command line; its exit code."""
        done = self._run(["bash", "-c", command])
        output = (done.stdout + done.stderr).rstrip("\n")
        shown = f"Exit code {done.returncode}\n{output}" if done.returncode else output
        self.messages += tool("Bash", {"command": command}, shown, is_error=bool(done.returncode))
        return done.returncode

    def _new_name(self) -> str:
        self._number += 1
        return f"{self.random.choice(['', 'lib/', 'new dir/'])}file{self._number}.txt"

    def _tracked(self) -> list[str]:
        return [
            name
            for name in self.git("ls-files", "-z").split("\0")
            if name.endswith(".txt") and (self.folder / name).is_file()
        ]

    def _present(self) -> list[str]:
        return [
            str(path.relative_to(self.folder))
            for path in sorted(self.folder.rglob("*.txt"))
            if ".git/" not in str(path)
        ]

    def edit(self) -> None:
        names = self._present()
        if not names:
            return
        name = self.random.choice(names)
        path = self.folder / name
        old = path.read_text()
        self._number += 1
        new = f"{old}line {self._number}\n"
        path.write_text(new)
        self.unseen.discard(name)
        arguments = {
            "file_path": str(path) if self.random.random() < 0.7 else name,
            "old_string": old,
            "new_string": new,
        }
        self.messages += tool("Edit", arguments, f"The file {path} has been updated.")
        if self.random.random() < 0.15:
            path.write_text(old)
            back = {**arguments, "old_string": new, "new_string": old}
            self.messages += tool("Edit", back, f"The file {path} has been updated.")

    def write(self) -> None:
        name = self._new_name()
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("new\n")
        self.messages += tool(
            "Write", {"file_path": str(path), "content": "new\n"}, f"File created successfully at: {path}"
        )

    def shell_change(self) -> None:
        names = self._present()
        name = self.random.choice(names) if names else "a.txt"
        self._number += 1
        quoted = f"'{name}'"
        self.unseen.discard(name)
        self.bash(
            self.random.choice(
                [
                    f"echo 'more {self._number}' >> {quoted}",
                    f"sed -i '$ a more {self._number}' {quoted}",
                    f"cat > {quoted} <<'EOF'\nwhole {self._number}; git commit -m no\nEOF",
                    f"printf 'x{self._number}\\n' | tee -a {quoted} && ls",
                    f"bash -lc \"echo 'in {self._number}' >> {quoted}\"",
                    f"cd lib && echo {self._number} >> d.txt && cd .. && ls",
                ]
            )
        )
        if "lib" in str(self.messages[-2]) and (self.folder / "lib/d.txt").exists():
            self.unseen.discard("lib/d.txt")

    def delete(self) -> None:
        names = self._present()
        if len(names) > 2:
            name = self.random.choice(names)
            quiet = "git rm -qf" if name in self._tracked() and self.random.random() < 0.5 else "rm"
            self.bash(f"{quiet} '{name}'")

    def move(self) -> None:
        names = self._present()
        if names:
            old, new = self.random.choice(names), self._new_name().replace("new dir/", "")
            program = "git mv" if old in self._tracked() else "mv"
            self.bash(f"{program} '{old}' '{new}'")

    def commit(self) -> None:
        self._number += 1
        subject = f"Change number {self._number}"
        staged = self.random.choice(sorted(self.status()) or ["a.txt"])
        self.bash(
            self.random.choice(
                [
                    f'git add -A && git commit -m "{subject}"',
                    f'git add -A && git commit -q -m "{subject}"',
                    f"git add '{staged}' && git commit -m '{subject}'",
                    f"git add . && git commit -F - <<'EOF'\n{subject}\n\nBecause (of) \"this\".\nEOF",
                    f"git add -A; git commit -m \"$(cat <<'EOF'\n{subject}\n\nA body; `ticks`.\nEOF\n)\"",
                    f"git commit -am '{subject}'",
                    f"cd lib && git add -A . && git commit -m '{subject}' && cd ..",
                    f"bash -c 'git add -u && git commit -m \"{subject}\"'",
                    f"git -C . add -A && git -C . commit -m '{subject}' && git status --short",
                ]
            )
        )

    def amend(self) -> None:
        if self.commits():
            self._number += 1
            self.bash(
                self.random.choice(
                    [
                        "git add -A && git commit --amend --no-edit",
                        f"git commit --amend -m 'Amended {self._number}'",
                    ]
                )
            )

    def look(self) -> None:
        command = self.random.choice(
            [
                "git status",
                "git status --short",
                "git log --oneline -20",
                "git log -20",
                "git status && git log --oneline -20",
                "git diff --stat",
            ]
        )
        self.bash(command)
        if "status" in command:
            self.unseen.clear()

    def undo(self) -> None:
        names = self._tracked()
        if names:
            name = self.random.choice(names)
            self.bash(
                self.random.choice(
                    [f"git checkout -- '{name}'", f"git restore '{name}'", f"git restore --staged '{name}'"]
                )
            )

    def reset(self) -> None:
        kind = self.random.choice(["--hard HEAD", "--soft HEAD~1", "HEAD~1", "-q", "--hard HEAD~1"])
        if "~1" not in kind or self.commits():
            self.bash(f"git reset {kind}")

    def stash(self) -> None:
        if self._stashed:
            self._stashed -= self.bash("git stash pop") == 0
        else:
            self.bash(self.random.choice(["git stash", "git stash push -u"]))
            self._stashed = len(self.git("stash", "list").splitlines())

    def switch(self) -> None:
        self._number += 1
        command = self.random.choice(["git checkout -b", "git switch -c", "git checkout -q -b"])
        self.bash(f"{command} topic-{self._number}")

    def check_now(self) -> None:
        broken = self.folder / ".broken"
        broken.touch() if self.random.random() < 0.5 else broken.unlink(missing_ok=True)
        self._checked = not broken.exists()
        self.bash(
            self.random.choice(["make test", "make test 2>&1 | tail -3", "cd lib && cd .. && make test"])
        )

    def user_commits(self) -> None:
        """The user commits everything, or edits a file, next to the agent."""
        name = self.random.choice(self._tracked() or ["a.txt"])
        if self.random.random() < 0.5 and not (self.folder / ".refuse").exists():
            self._number += 1
            self.git("add", "-A")
            self.git("commit", "-q", "-m", f"By the user {self._number}")
            self.bash("git status && git log --oneline -20")
            self.unseen.clear()
        elif name not in self.status():
            with (self.folder / name).open("a") as file:
                file.write("by the user\n")
            self.unseen.add(name)

    def push(self) -> None:
        self.bash(
            self.random.choice(
                ["git push origin HEAD", "git push -q origin HEAD", "git push origin HEAD 2>&1 | tail -2"]
            )
        )

    def refused_commit(self) -> None:
        (self.folder / ".refuse").touch()
        self.bash("git add -A && git commit -m 'Refused by the hook'")
        (self.folder / ".refuse").unlink()

    def turn(self) -> None:
        self.messages.append(UserMessage(content="Go on."))

"""The house's own rules: arrows, sizes of rooms, names at the top, documents that say what is so."""

import ast
import re
import subprocess
import sys
import tomllib
from itertools import chain, zip_longest
from pathlib import Path

import pytest

from coppice.cli.app import app
from coppice.protocol.methods import METHODS
from coppice.protocol.notifications import NOTIFICATIONS

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "server" / "coppice"
TOP_LEVEL = {
    ".ci",
    ".devcontainer",
    ".gitignore",
    ".pre-commit-config.yaml",
    "LICENSE",
    "README.md",
    "client-vscode",
    "docs",
    "pyproject.toml",
    "server",
    "tests",
}
LONGEST_FILE = 400
GUESS = re.compile(r"\bguess\b", re.IGNORECASE)
MOST_GUESSES = 42
VAGUE_NAMES = {"found", "kept", "known"}
# Where the checkout lies, and a superuser's home.
MACHINE_PATH = re.compile(rf"{re.escape(str(ROOT))}\b|/root/")


def tracked() -> list[Path]:
    """The files of the project, as git knows them."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("needs a git checkout")
    names = [name for name in listed.stdout.decode().split("\0") if name]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def documents() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def shell_blocks(document: Path) -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```$", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def contract(name: str) -> list[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (layers,) = [each["layers"] for each in settings["contracts"] if each["name"] == name]
    return [str(layer) for layer in layers]


def test_imports_go_downwards_only() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


def test_every_room_has_its_place_among_the_arrows() -> None:
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    rooms |= {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    placed = re.findall(r"coppice\.(\w+)", " ".join(contract("Arrows go one way")))
    assert sorted(placed) == sorted(rooms)


def test_every_room_is_described_in_the_architecture() -> None:
    architecture = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert {room for room in rooms if f"\n  {room}/" not in architecture} == set()


def test_no_file_has_become_two_things() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in tracked()
        if path.suffix == ".py"
        and (lines := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST_FILE
    }
    assert long == {}


def test_the_top_level_holds_only_what_was_agreed() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in tracked()} <= TOP_LEVEL


def test_nothing_names_a_place_on_one_machine() -> None:
    readable = {".py", ".md", ".toml", ".ts", ".json", ".jsonl", ".mjs", ".js", ""}
    named = [
        str(path.relative_to(ROOT))
        for path in tracked()
        if path.suffix in readable
        and path != Path(__file__)
        and MACHINE_PATH.search(path.read_text(encoding="utf-8"))
    ]
    assert named == []


def test_the_readme_sets_everything_up_with_two_commands() -> None:
    first, second = shell_blocks(ROOT / "README.md")[:2]
    setup = "python3 -m venv .venv && .venv/bin/pip install -e "
    shown = re.fullmatch(re.escape(setup) + r"\. && \.venv/bin/coppice compact (docs/examples/\S+)\n", first)
    assert shown
    assert (ROOT / shown[1]).is_file()
    assert second == f"{setup}'.[test]' && .venv/bin/pytest\n"


@pytest.mark.parametrize("number", [1, 2])
def test_ci_runs_the_readme_s_own_commands(number: int) -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert f"$(.ci/readme-command {number})" in script
    command = ["bash", str(ROOT / ".ci" / "readme-command"), str(number)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed == shell_blocks(ROOT / "README.md")[number - 1]


def test_ci_installs_fixed_versions_of_every_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    names = {re.split(r"[\[<>= ]", each)[0] for each in wanted}
    fixed = (ROOT / ".ci" / "constraints.txt").read_text(encoding="utf-8").lower().replace("_", "-")
    assert {name for name in names if not re.search(rf"^{re.escape(name)}==", fixed, re.MULTILINE)} == set()


def test_the_readme_s_table_has_every_command() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `coppice (\w+)", readme, re.MULTILINE))
    names = {
        each.name or (each.callback.__name__ if each.callback else "") for each in app.registered_commands
    }
    assert listed == names | {each.name for each in app.registered_groups}


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", document.read_text(encoding="utf-8"))
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (document.parent / link).exists()] == []


def test_links_within_the_protocol_lead_to_headings() -> None:
    text = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
    headings = {
        re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-")
        for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    }
    assert [link for link in re.findall(r"\]\(#([^)]+)\)", text) if link not in headings] == []


def test_the_readme_names_no_method_that_does_not_exist() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"(?<=[`\"])coppice/[a-zA-Z]+(?:/[a-zA-Z]+)?(?=[`\"])", readme))
    assert named
    assert named <= set(METHODS) | set(NOTIFICATIONS)


def test_the_architecture_s_table_names_files_that_exist() -> None:
    architecture = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^## To change X, go to Y$(.*?)^## ", architecture, re.MULTILINE | re.DOTALL)
    named = re.findall(r"`((?:server|client-vscode)/[^`]+)`", table)
    assert len(named) > 10
    assert [path for path in named if not (ROOT / path).exists()] == []


def unexplained_numbers(source: str) -> list[str]:
    """The module's numeric constants without a comment before or after them and without a docstring."""
    lines, body = source.splitlines(), ast.parse(source).body
    unexplained = []
    for statement, following in zip_longest(body, body[1:]):
        if not (isinstance(statement, ast.AnnAssign) and ast.unparse(statement.annotation) == "Final"):
            continue
        value = statement.value.operand if isinstance(statement.value, ast.UnaryOp) else statement.value
        operands = [value.left, value.right] if isinstance(value, ast.BinOp) else [value]
        if not any(isinstance(each, ast.Constant) and type(each.value) in (int, float) for each in operands):
            continue
        documented = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
        above = lines[statement.lineno - 2] if statement.lineno > 1 else ""
        if not documented and not above.startswith("#") and "  # " not in lines[statement.lineno - 1]:
            unexplained.append(lines[statement.lineno - 1])
    return unexplained


def test_an_unexplained_number_is_found() -> None:
    source = 'A: Final = 3\nB: Final = 4  # bytes\nC: Final = 2 * A\n"""Seconds."""\nD: Final = -1.5\n'
    assert unexplained_numbers(source) == ["A: Final = 3", "D: Final = -1.5"]


def test_no_further_number_is_a_guess() -> None:
    """A guess says that nobody knows why. It may be replaced by a measurement, a derivation, or nothing."""
    texts = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    assert sum(len(GUESS.findall(text)) for text in texts) <= MOST_GUESSES


def test_every_number_has_its_unit_and_its_source() -> None:
    """A comment or a docstring gives the unit and the source: a rule, a measurement, a derivation."""
    unexplained = {
        str(path.relative_to(ROOT)): lines
        for path in sorted(PACKAGE.rglob("*.py"))
        if (lines := unexplained_numbers(path.read_text(encoding="utf-8")))
    }
    assert unexplained == {}


def vague_names(source: str) -> list[tuple[int, str]]:
    """The lines where a variable or a parameter gets a name that says how its value came about."""
    bound = [
        (node.lineno, node.id if isinstance(node, ast.Name) else node.arg)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    ]
    return [(line, name) for line, name in bound if name in VAGUE_NAMES]


def test_a_vague_name_is_seen() -> None:
    source = "def f(known):\n    kept: int = 1\n    return [found for found in known if found.kept]\n"
    assert sorted(vague_names(source)) == [(1, "known"), (2, "kept"), (3, "found")]


def test_a_value_is_named_by_what_it_is() -> None:
    vague = {
        str(path.relative_to(ROOT)): names
        for path in sorted(PACKAGE.rglob("*.py"))
        if (names := vague_names(path.read_text(encoding="utf-8")))
    }
    # The number of facts that a compaction kept, as the wire has it.
    assert {file: [name for _, name in names] for file, names in vague.items()} == {
        "server/coppice/protocol/compaction.py": ["kept"]
    }


@pytest.mark.parametrize(
    ("folder", "asking", "module"),
    [
        (PACKAGE, re.compile(r"\bsys\.platform\b|\bos\.name\b"), "operating_system.py"),
        (ROOT / "client-vscode" / "src", re.compile(r"\bprocess\.platform\b"), "operating-system.ts"),
    ],
)
def test_one_module_asks_for_the_system(folder: Path, asking: re.Pattern[str], module: str) -> None:
    files = [path for path in tracked() if path.is_relative_to(folder) and path.suffix in {".py", ".ts"}]
    assert [path.name for path in files if asking.search(path.read_text())] == [module]

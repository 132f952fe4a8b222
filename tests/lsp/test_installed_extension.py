"""The extension of docs/hooks.md, installed as a wheel would install it, in an environment of its own."""

import re
import subprocess
import sysconfig
import tomllib
import venv
from pathlib import Path
from typing import Any

import pytest
from lsp.raw_client import RawServer, environment
from lsp.test_hooks import asked, conversation, hello

import coppice

DOCUMENT = Path(__file__).parents[2] / "docs" / "hooks.md"


def shown(language: str) -> str:
    """The one code block of that language in the document."""
    (block,) = re.findall(rf"```{language}\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    return str(block)


def install(place: Path, name: str, module: str, code: str) -> None:
    """Leaves in `place` what installing the wheel of such a package leaves there."""
    (place / f"{module}.py").write_text(code, encoding="utf-8")
    info = place / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[coppice.hooks]\n{name} = {module}\n", encoding="utf-8")


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """The interpreter of a fresh environment in which Coppice can be imported and nothing is installed."""
    venv.create(tmp_path / "env", with_pip=False)
    path = next((tmp_path / "env").glob("bin/python"))
    (packages,) = (tmp_path / "env").glob("lib/python*/site-packages")
    ours = [sysconfig.get_paths()["purelib"], str(Path(coppice.__file__).parents[1])]
    (packages / "ours.pth").write_text("\n".join(ours), encoding="utf-8")
    return path


def packages_of(python: Path) -> Path:
    return next(python.parents[1].glob("lib/python*/site-packages"))


def install_the_example(python: Path) -> None:
    points: dict[str, Any] = tomllib.loads(shown("toml"))["project"]["entry-points"]
    ((name, module),) = points["coppice.hooks"].items()
    install(packages_of(python), name, module, shown("python"))


def test_the_documented_extension_is_found_and_asked_before_the_client(tmp_path: Path, python: Path) -> None:
    install_the_example(python)
    with RawServer(tmp_path, python=[str(python)], variables={"DEADLINE": "May 4"}) as server:
        server.initialize(hello("willCompact"))
        compacting = server.start_request("coppice/compact", conversation(server))
        request = asked(server, "coppice/willCompact")
        assert request["params"]["instructions"] == "Name the deadline: May 4."
        server.send({"jsonrpc": "2.0", "id": request["id"], "result": {}})
        warnings = server.answer(compacting)["result"]["warnings"]
        assert [warning for warning in warnings if "hook" in warning] == []


def test_the_documented_extension_cancels(tmp_path: Path, python: Path) -> None:
    install_the_example(python)
    with RawServer(tmp_path, python=[str(python)], variables={"RELEASING": "1"}) as server:
        server.initialize(hello("willCompact"))
        refused = server.request("coppice/compact", conversation(server))["error"]
        assert refused["data"] == {"code": "cancelled-by-hook", "hook": "deadline"}
        assert refused["message"] == "The hook deadline cancelled the compaction; nothing was changed."


def test_doctor_lists_extensions_and_those_that_cannot_be_used(tmp_path: Path, python: Path) -> None:
    install_the_example(python)
    install(packages_of(python), "broken", "broken_extension", "raise SystemExit('secret')")
    code = "from coppice.cli.app import main; raise SystemExit(main())"
    ran = subprocess.run(
        [str(python), "-c", code, "doctor"],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "hooks       deadline" in ran.stdout
    assert "The hook broken could not be loaded (SystemExit)" in ran.stdout
    assert "secret" not in ran.stdout + ran.stderr


def test_an_extension_that_cannot_be_loaded_is_reported_and_the_server_starts(
    tmp_path: Path, python: Path
) -> None:
    install(packages_of(python), "broken", "broken_extension", "import nothing_of_the_kind")
    with RawServer(tmp_path, python=[str(python)]) as server:
        server.initialize(hello())
        logged = server.notification("window/logMessage")
        assert logged["message"].startswith("The hook broken could not be loaded (ModuleNotFoundError)")
        assert server.result("coppice/compact", conversation(server))["warnings"] == []


def test_a_checkout_s_entry_points_run_nothing(tmp_path: Path, python: Path) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    trap = f"open({str(tmp_path / 'sprung')!r}, 'w')"
    install(checkout, "trap", "trap_in_the_checkout", trap)
    with RawServer(
        tmp_path, python=[str(python)], cwd=checkout, variables={"PYTHONPATH": str(checkout)}
    ) as server:
        folders = [{"uri": checkout.as_uri(), "name": "checkout"}]
        server.initialize({**hello("willCompact"), "workspaceFolders": folders})
        compacting = server.start_request("coppice/compact", conversation(server))
        request = asked(server, "coppice/willCompact")
        server.send({"jsonrpc": "2.0", "id": request["id"], "result": None})
        assert server.answer(compacting)["result"]["warnings"] == []
    assert not (tmp_path / "sprung").exists()

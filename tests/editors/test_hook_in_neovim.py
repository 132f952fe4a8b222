"""The Lua hook of docs/hooks.md, in a real Neovim."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from lsp.raw_client import environment
from requirements import missing
from waiting import PATIENCE

DOCUMENT = Path(__file__).parents[2] / "docs" / "hooks.md"

SESSION = """
local seen = {}
local ok, problem = pcall(function()
  vim.lsp.start = vim.lsp.start or vim.lsp.start_client -- before 0.8
  local id = assert(loadfile(arguments[1]))()
  local client = vim.lsp.get_client_by_id(id)
  assert(vim.wait(90000, function() return client.initialized end))
  local function ask(method, params)
    local answer = client.request_sync("coppice/" .. method, params, 90000, 0)
    assert(answer and not answer.err, vim.inspect(answer))
    return answer.result
  end
  local about = { conversationId = ask("conversation/create", {}).conversation.id }
  local entries = {}
  for number = 1, 6 do
    local message = { role = "user", content = "Message " .. number }
    entries[number] = { type = "message", id = "m" .. number, message = message }
  end
  ask("append", { conversationId = about.conversationId, entries = entries })
  ask("navigate", { conversationId = about.conversationId, targetId = "m2" })
  seen.tree = ask("tree", about)
end)
seen.problem = not ok and tostring(problem) or nil
vim.fn.writefile({ vim.json.encode(seen) }, arguments[2])
vim.cmd("qall!")
"""


def test_a_branch_that_is_left_gets_its_label(tmp_path: Path) -> None:
    neovim = os.environ.get("COPPICE_TEST_NVIM") or shutil.which("nvim")
    if neovim is None:
        missing("editors", "Neovim is not installed")
    (shown,) = re.findall(r"```lua\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    hook, report, session = tmp_path / "hook.lua", tmp_path / "seen.json", tmp_path / "session.lua"
    hook.write_text(f"return {shown}", encoding="utf-8")
    arguments = ", ".join(json.dumps(str(path)) for path in (hook, report))
    session.write_text(f"local arguments = {{ {arguments} }}\n{SESSION}", encoding="utf-8")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ran = subprocess.run(
        [neovim, "--headless", "--clean", "-c", f"luafile {session}"],
        env=environment(tmp_path) | {"PATH": path, "XDG_STATE_HOME": str(tmp_path / "state")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert report.exists(), ran.stderr
    seen = json.loads(report.read_text(encoding="utf-8"))
    assert "problem" not in seen, seen["problem"]
    labels = {node["id"]: node["label"] for node in seen["tree"]["nodes"] if "label" in node}
    assert labels == {"m2": "4 entries left"}

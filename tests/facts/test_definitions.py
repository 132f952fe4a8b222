"""Which functions and types the state names for a file with changes."""

from talk import edit, run, tool, user

from coppice.compaction.facts.ledger import LedgerBuilder, ledger_details
from coppice.tree.messages import Message

PATCH = """*** Begin Patch
*** Update File: src/step.rs
@@ impl Step
-    fn old_limit() -> usize {
+    pub(crate) fn limit(&self) -> usize {
+        // a type that nobody reads
*** Add File: src/main.go
+func (s *Server) Serve(ctx context.Context) error {
+type Server struct {
*** Update File: lib/page.ex
@@ -10,6 +10,7 @@ defmodule Page do
+  defp closed?(page), do: page.closed
*** End Patch
"""


def definitions(*messages: Message) -> dict[str, list[str]]:
    ledger = LedgerBuilder().add_messages([user("Do it."), *messages]).ledger
    return {file.path: file.definitions for file in ledger.state.uncommitted}


def test_a_patch_names_what_it_writes_by_file_and_what_it_is_in() -> None:
    assert definitions(*tool("apply_patch", {"input": PATCH}, "Done")) == {
        "src/step.rs": ["Step", "limit"],
        "src/main.go": ["Serve", "Server"],
        "lib/page.ex": ["Page", "closed?"],
    }


def test_what_a_later_edit_removed_is_not_named_and_what_it_wrote_is_the_newest() -> None:
    shown = definitions(
        *edit("src/rows.py", "class Rows:\n    def load(self):\n        def inner(): ..."),
        *tool(
            "Edit",
            {"file_path": "src/rows.py", "old_string": "def load(self):", "new_string": "# def x"},
            "ok",
        ),
        *tool(
            "Edit",
            {"file_path": "src/rows.py", "old_string": "x = 1", "new_string": "async def read():"},
            "ok",
        ),
    )
    assert shown == {"src/rows.py": ["Rows", "inner", "read"]}


def test_a_commit_takes_the_definitions_along() -> None:
    commit = run("git commit -am 'Load rows'", "[main 1a2b3c4] Load rows\n 1 file changed")
    first, second = edit("src/rows.py", "def load(): ..."), edit("src/rows.py", "def read(): ...")
    assert definitions(*first, *commit, *second) == {"src/rows.py": ["read"]}


def test_the_next_ledger_goes_on_with_them_and_names_the_newest() -> None:
    text = "\n".join(f"function part{number}() {{" for number in range(20))
    ledger = LedgerBuilder().add_messages([user("Do it."), *edit("src/parts.ts", text)]).ledger
    later = LedgerBuilder.from_details({"ledger": ledger_details(ledger)})
    later.add_messages(edit("src/parts.ts", "export default class Parts extends Base {"))
    (file,) = later.ledger.state.uncommitted
    assert file.definitions == [*(f"part{number}" for number in range(13, 20)), "Parts"]


def test_prose_defines_nothing() -> None:
    text = "The class of rows\ntype of the row\nimport type { Row } from 'rows'\nclass does not matter\n"
    assert definitions(*edit("README.md", text)) == {"README.md": []}


def test_a_patch_without_files_defines_nothing() -> None:
    assert definitions(*tool("Write", {"file_path": "notes.md", "content": "*** Begin Patch\n"}, "ok")) == {
        "notes.md": []
    }

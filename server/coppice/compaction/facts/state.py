"""The state of the work: a table of extractors, each of which takes in one action after the other.

To add a fact, write a class with `take(action)` that writes into `WorkState`, and name it in `_extractors`.
"""

from coppice.compaction.actions.action import Action
from coppice.compaction.facts.checks import Checks
from coppice.compaction.facts.files import Files
from coppice.compaction.facts.git import Git
from coppice.compaction.facts.jobs import Jobs
from coppice.compaction.facts.todo import Todo
from coppice.compaction.facts.usage import Usage
from coppice.compaction.facts.working_tree import WorkingTree, Workspace
from coppice.protocol.state import WorkState


class StateBuilder:
    """Continues from `state`, which it owns, with paths named relative to the folder `root`."""

    def __init__(self, state: WorkState, root: str | None) -> None:
        self._state = state
        self._tree = WorkingTree(state.uncommitted)
        workspace = Workspace(root)
        self.checks = Checks(state, self._tree)
        self.jobs = Jobs(state)
        self._todo = Todo(state)
        self._extractors = (
            Files(self._tree, workspace),
            Git(state, self._tree, workspace),
            self.checks,
            self._todo,
            self.jobs,
            Usage(state),
        )

    def begin_turn(self) -> None:
        """Takes in that the user wrote a message."""
        self.checks.begin_turn()
        self._todo.begin_turn()

    def take(self, action: Action) -> None:
        """Takes in one action."""
        for extractor in self._extractors:
            extractor.take(action)

    def merge(self, branch: WorkState) -> None:
        """Takes over what a branch that was left did to the repository: its commits, changes and jobs."""
        ours = {commit.hash for commit in self._state.commits if commit.hash}
        self._state.commits += [commit for commit in branch.commits if commit.hash not in ours]
        for file in branch.uncommitted:
            self._tree.change(file.path, file.entry_id, file.kind)
        self.jobs.adopt(branch.jobs)
        self._state.branch = branch.branch or self._state.branch

    def state(self) -> WorkState:
        """The state as of now; a value that later actions do not change."""
        self._state.uncommitted = self._tree.files
        self.checks.write(self._state)
        return self._state.model_copy(deep=True)

"""The sentences in which facts are written, in each language."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_CHINESE_SHARE: Final = 0.2
"""Share of Chinese characters in what the user typed from which the summary is Chinese (guess)."""


@dataclass(frozen=True, slots=True)
class Phrases:
    """Formats; names in braces are filled in."""

    then: str = "Then: {text}"
    withdrawn: str = "{text} (withdrawn later: {by})"
    answered: str = "Asked: {about} The user answered: {text}"
    approved: str = "The user approved the plan: {about}"
    refused: str = "The user rejected `{about}`"
    refused_because: str = "The user rejected `{about}` and said: {text}"
    committed: str = "Committed {hash} {subject}"
    pushed: str = "pushed"
    not_pushed: str = "not pushed"
    on_branch: str = "on {branch}"
    earlier_commits: str = "Earlier commits: {commits}."
    uncommitted: str = "Changed and not committed{where}: {files}."
    on: str = " (branch {branch})"
    commit_style: str = "Commit messages so far read “{subject}”{trailer}."
    trailer: str = ", with the trailer “{trailer}”"
    routine: str = "At the end of a step so far: {commands}."
    unverified: str = "No check was run since these changes."
    with_names: str = "{path} ({names})"
    created: str = "{path} (new)"
    deleted: str = "{path} (deleted)"
    task_state: str = "Task {task}: {state}"
    tasks_done: str = "Tasks done: {tasks}."
    passed: str = "`{command}` passed"
    failed: str = "`{command}` failed"
    stale: str = "before the latest changes; not run since"
    job_running: str = "`{command}` was started in the background (id {id}) and has not reported."
    problem: str = "`{what}` failed: {error}"
    fixed_in: str = "Fixed in {files}"
    fixed_with: str = "with `{code}`"
    issue: str = "Issue {id}"
    brief: str = "Brief “{title}”"
    current: str = "Current request: {text}"
    last_request: str = "Last request, answered: {text}"
    asked: str = "The turn has ended with a question that the user has not answered yet: {text}"
    complete: str = "Complete the current request: {text}"
    commit_next: str = "Commit the uncommitted changes."
    check_next: str = "Run {commands} again: the last results are older than the latest changes."
    source: str = "({source} message) {text}"
    published: str = "Published with `{about}`"
    carried_out: str = "{text} (Carried out in {paths}.)"
    reviewed: str = "Review report “{about}”"
    commented: str = "Comment in {about}: {text}"
    go_on: str = "Go on with the plan among the last events, after the last of them."
    begin: str = "Begin with the current request, for which nothing was done yet: {text}"
    recent: str = "The last events, in order, after which nothing happened: {events}."
    started: str = "started `{text}` in the background"
    event_succeeded: str = "{text}, without an error"
    announced: str = "announced “{text}”"
    planned: str = "planned: {text}"
    changed: str = "changed {text}"
    tried_change: str = "tried to change {text}"
    ran: str = "ran `{text}`"
    read: str = "read {text}"
    event_failed: str = "(failed: {error})"
    state_begun: str = "open, its parts begun"
    state_open: str = "not begun"
    state_in_progress: str = "in progress"
    state_blocked: str = "blocked"


ENGLISH: Final = Phrases()
CHINESE: Final = Phrases(
    then="之后：{text}",
    withdrawn="{text}（后来撤回：{by}）",
    answered="问：{about} 用户回答：{text}",
    approved="用户批准了计划：{about}",
    refused="用户拒绝了 `{about}`",
    refused_because="用户拒绝了 `{about}`，并说：{text}",
    committed="已提交 {hash} {subject}",
    pushed="已推送",
    not_pushed="未推送",
    on_branch="分支 {branch}",
    earlier_commits="更早的提交：{commits}。",
    uncommitted="已修改但未提交{where}：{files}。",
    on="（分支 {branch}）",
    commit_style="目前的提交信息形如“{subject}”{trailer}。",
    trailer="，结尾为“{trailer}”",
    routine="目前每一步结束时运行：{commands}。",
    unverified="这些修改之后没有运行过检查。",
    with_names="{path}（{names}）",
    created="{path}（新建）",
    deleted="{path}（已删除）",
    task_state="任务 {task}：{state}",
    tasks_done="已完成的任务：{tasks}。",
    passed="`{command}` 通过",
    failed="`{command}` 失败",
    stale="早于最近的修改，之后未再运行",
    job_running="`{command}` 已在后台启动（id {id}），尚无结果。",
    problem="`{what}` 失败：{error}",
    fixed_in="已在 {files} 中修复",
    fixed_with="使用 `{code}`",
    issue="任务 {id}",
    brief="任务说明“{title}”",
    current="当前请求：{text}",
    last_request="最后一个请求（已回答）：{text}",
    asked="这一轮以一个用户尚未回答的问题结束：{text}",
    complete="完成当前请求：{text}",
    commit_next="提交尚未提交的修改。",
    check_next="重新运行 {commands}：上次的结果早于最近的修改。",
    source="（{source} 消息）{text}",
    published="通过 `{about}` 发布",
    carried_out="{text}（已在 {paths} 中进行。）",
    reviewed="审查报告“{about}”",
    commented="{about} 中的注释：{text}",
    go_on="继续最后事件中的计划，从最后一个事件之后开始。",
    begin="开始处理当前请求（尚未开始）：{text}",
    recent="最后的事件（按顺序，此后没有发生别的）：{events}。",
    started="在后台启动了 `{text}`",
    event_succeeded="{text}，没有错误",
    announced="预告“{text}”",
    planned="计划：{text}",
    changed="修改了 {text}",
    tried_change="试图修改 {text}",
    ran="运行了 `{text}`",
    read="阅读了 {text}",
    event_failed="（失败：{error}）",
    state_begun="未关闭，子任务已开始",
    state_open="未开始",
    state_in_progress="进行中",
    state_blocked="受阻",
)


LAST_EVENTS: Final = tuple(each.recent.partition("{")[0] for each in (ENGLISH, CHINESE))
"""How the line of the last events begins, in each language; that of the next span takes its place."""


def phrases_for(texts: Iterable[str]) -> Phrases:
    """The language that `texts`, what the user typed, are written in."""
    whole = "".join(texts)
    chinese = sum("\u4e00" <= char <= "\u9fff" for char in whole)
    return CHINESE if whole and chinese >= _CHINESE_SHARE * len(whole) else ENGLISH

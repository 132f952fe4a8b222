"""Another model writes every summary: one that is cheap and has a large window, for instance.

It is asked at SECOND_MODEL_URL, an OpenAI-compatible endpoint that ends in `/v1`, as SECOND_MODEL_NAME, with
the key in SECOND_MODEL_API_KEY where it needs one. It summarizes everything that the compaction cuts off, the
early part of a split turn with the rest. Where it fails, Coppice writes its own summary.
"""

import logging
import os

import httpx

from coppice.hooks import (
    CompactionPreparation,
    DidCompactParams,
    HookCompaction,
    HookContext,
    WillCompactParams,
    WillCompactResult,
    hookimpl,
)

_log = logging.getLogger(__name__)

PROMPT = """Summarize this conversation of a person with a coding agent, so that the agent can go on with the
work and has not seen it: the goal, decisions and their reasons, what is done and what is not, the exact names
of files, commands and errors, and the next steps. Carry forward what still holds of an earlier summary.
Write at most {words} words of Markdown, beginning with the heading `## Goal`.

{text}"""


@hookimpl
async def will_compact(params: WillCompactParams, context: HookContext) -> WillCompactResult | None:
    url, name = os.environ.get("SECOND_MODEL_URL"), os.environ.get("SECOND_MODEL_NAME")
    if not url or not name:
        return None
    context.asks_model(name)
    prompt = prompt_of(params.preparation, params.instructions)
    key = os.environ.get("SECOND_MODEL_API_KEY")
    async with httpx.AsyncClient(timeout=3_600) as client:  # Coppice stops it much earlier
        answer = await client.post(
            f"{url}/chat/completions",
            json={"model": name, "messages": [{"role": "user", "content": prompt}]},
            headers={"Authorization": f"Bearer {key}"} if key else {},
        )
    summary = answer.raise_for_status().json()["choices"][0]["message"]["content"]
    return WillCompactResult(compaction=HookCompaction(summary=summary, details={"secondModel": name}))


def prompt_of(preparation: CompactionPreparation, instructions: str | None) -> str:
    parts = {
        "Earlier summary": preparation.previous_summary_text,
        "Conversation": preparation.history_text,
        "Beginning of the last turn, whose end the agent still sees": preparation.turn_prefix_text,
        "What the summary should dwell on": instructions,
    }
    text = "\n\n".join(f"# {title}\n\n{part}" for title, part in parts.items() if part)
    return PROMPT.format(words=preparation.sizes.max_summary_tokens // 2, text=text)


@hookimpl
def did_compact(params: DidCompactParams) -> None:
    if params.from_hook:
        _log.info("%d → %d tokens", params.tokens_before, params.tokens_after)

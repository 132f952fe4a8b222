"""Secrets of transcripts: which are recognized, what only looks like one, and that no result shows any."""

import base64
import random
import string
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp_server.conftest import Start, result, stored, user
from mcp_server.sample_secrets import FORMS, HIDDEN, SECRETS

from coppice import redaction
from coppice.mcp.arguments import ReadArguments
from coppice.mcp.options import Options
from coppice.mcp.project import Project
from coppice.mcp.reading import read_history
from coppice.redaction import MARK, masked, with_marks
from coppice.store.search.search_text import HEAD_CHARS, TAIL_CHARS, shortened


def test_secrets_do_not_come_out(start: Start, folder: Path) -> None:
    lines = "\n".join(f"walnut {name}: {secret}" for name, secret in SECRETS.items())
    stored(folder, [user("secrets-1", lines), result("secrets-2", "c", lines * 40)])
    client = start()
    client.call("note_add", text=f"walnut note {lines}")
    shown = [
        client.call("history_search", query="walnut"),
        client.call("history_search", query="private key AWS password", maxTokens=20_000),
        client.call("history_read", ids=["secrets-1"]),
        *[
            client.call("history_read", ids=["secrets-2"], maxTokens=250, cursor=f"0:{start}")
            for start in range(0, 900, 37)
        ],
        client.call("history_overview"),
        client.call("note_list"),
    ]
    for text in shown:
        assert [secret for secret in HIDDEN if secret in text] == []
    assert MARK in shown[2]


@pytest.mark.parametrize("seen", [8, 14, 20])
def test_a_secret_where_a_long_text_is_cut_stays_hidden(seen: int) -> None:
    secret = SECRETS["a provider's key"]
    head, tail = "x " * (HEAD_CHARS // 2), "x " * (TAIL_CHARS // 2)
    text = f"{head[seen:]}{secret}{'y ' * 20_000}{secret}{tail[seen:]}"
    assert secret[:seen] in shortened(text)
    assert secret[-seen:] in shortened(text)
    shown = shortened(text, masked)
    assert secret[:seen] not in shown
    assert secret[-seen:] not in shown
    assert len(shown) == len(shortened(text))


PREFIXES = (
    "sk-", "sk_a.", "ghp_", "github_pat_", "glpat-", "xoxb-", "AKIA", "AIza-", "ya29.", "npm_", "pypi-",
    "hf_", "SG.", "dop_v1_", "AGE-SECRET-KEY-1", "eyJ-", "eyJaaaaaaaa.", "-----BEGIN PRIVATE KEY", "token=",
    "bearer ", "://a", "://a:b", "aB3-", "_sk-", "\x1b[m", "\x1b[msk-", "\x1b]8;;", "\u200b", "\\n", "\\\\",
    "%41", "\\u001b[msk-",
)  # fmt: skip
MOST_COST = 8.0
"""Times the cost of prose. The costliest, short names with values, have 3; a quadratic form had 30."""


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("end", ["", "…", "=", "." + "a" * 20])
def test_looking_for_secrets_costs_the_same_in_any_text(prefix: str, end: str) -> None:
    def cost(text: str) -> float:
        """The processor time of one run."""
        began = time.thread_time()
        masked(text)
        return time.thread_time() - began

    size = 30_000
    within = (prefix * 300)[:1_000] + "." + (prefix * 2_000)[:4_000] + end
    prose = min(
        cost(("It reads the rows of a table and writes them to a file. " * size)[:size]) for _ in range(3)
    )
    for text in (prefix * (size // len(prefix)) + end, within * (size // len(within))):
        # What else runs on the machine makes one measurement long, and not each of twenty.
        assert any(cost(text) < MOST_COST * prose for _ in range(20))


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS.keys())
def test_each_form_of_a_secret_is_recognized_and_keeps_the_length(secret: str) -> None:
    text = f"before {secret} after"
    assert len(masked(text)) == len(text)
    assert MARK in with_marks(masked(text))
    assert with_marks(masked(text)).startswith("before ")


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_recognized_whole_without_randomness(form: str) -> None:
    text = f"before {form}{'a' * 64} after"
    assert with_marks(masked(text)) == f"before {MARK} after"


@pytest.mark.parametrize(
    "text",
    [
        "commit 4f2a9c1d8e7b6a5f4e3d2c1b0a9f8e7d6c5b4a39 (HEAD -> main)",
        "entry 258c7280-ae70-4798-800f-63464d01a85d",
        "def test_that_the_session_of_the_first_user_is_kept_2() -> None:",
        "src/components/VeryLongComponentNameForTheLoginPage2.tsx",
        "convertUtf8StringToBase64EncodedValueForHttp2Headers",
        "token = read_token(session)",
        "password: str | None = None",
        "token = token_of_session_3(session), tokens_by_id_2[key]",
        "docker run -u 1000:1000 --token <your-token-2> image",
        "max_tokens: 4000, token_count=12",
        "https://example.org/a/b?c=d#e",
        "2026-11-23T18:15:31.123Z sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert masked(text) == text


def test_random_keys_are_recognized_by_their_randomness() -> None:
    drawn = random.Random(21)
    alphabet = string.ascii_letters + string.digits
    keys = ["".join(drawn.choices(alphabet, k=40)) for _ in range(200)]
    keys += [base64.urlsafe_b64encode(drawn.randbytes(30)).decode() for _ in range(200)]
    assert sum(masked(key) != key for key in keys) >= 0.97 * len(keys)


def test_a_page_of_an_endless_entry_hides_what_the_whole_hides_at_the_cost_of_the_page(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = base64.b64encode(random.Random(3).randbytes(9_000)).decode()
    lines = "\n".join(key[place : place + 64] for place in range(0, len(key), 64))
    block = f"-----BEGIN PRIVATE KEY-----\n{lines}\n-----END PRIVATE KEY-----\n"
    text = f"{'x ' * 100_000}{block}{'eyJaaaaaaaa.' * 100_000}{' y' * 100_000}"
    stored(folder, [user("endless-1", text)])
    project = Project(Options(str(folder)))
    read = 0

    def counted(part: str) -> Iterator[tuple[int, int]]:
        nonlocal read
        read += len(part)
        return places(part)

    places = redaction._places
    monkeypatch.setattr(redaction, "_places", counted)
    for start in (0, 150_000, 205_000, 215_000, 900_000, len(text) - 5_000):
        read = 0
        shown = read_history(project, ReadArguments(ids=["endless-1"], cursor=f"0:{start}"))
        assert 0 < read < 100_000
        assert [line for line in lines.splitlines() if line in shown] == []
    whole = masked(text)
    # Here and there, and often where the key is.
    for start in (*range(0, len(text), 39_971), *range(198_000, 216_000, 1_999)):
        assert redaction.masked_part(text, start, start + 2_000) == whole[start : start + 2_000]
    project.store.close()


@pytest.mark.parametrize("size", [100, 500, 5_000])
@pytest.mark.parametrize(
    "form",
    ["a token: {}\n", "x {} y", '{{"SessionToken": "{}"}}', "Authorization: Bearer {}\n", "--secret {}"],
)
def test_a_secret_of_any_length_is_hidden_whole(form: str, size: int) -> None:
    secret = "".join(random.Random(size).choices(string.ascii_letters + string.digits, k=size))
    assert with_marks(masked(form.format(secret))) == form.format(MARK)


@pytest.mark.parametrize("sign", ["-", "+", " "])
@pytest.mark.parametrize("newline", ["\n", "\\n"])
def test_a_private_key_in_a_diff_is_hidden_whole(sign: str, newline: str) -> None:
    key = base64.b64encode(random.Random(3).randbytes(1_200)).decode()
    body = [key[place : place + 64] for place in range(0, len(key), 64)]
    lines = ["-----BEGIN RSA PRIVATE KEY-----", *body, "-----END RSA PRIVATE KEY-----", "rest"]
    shown = with_marks(masked("".join(f"{sign}{line}{newline}" for line in lines)))
    assert shown == f"{sign}{MARK}{newline}{sign}rest{newline}"

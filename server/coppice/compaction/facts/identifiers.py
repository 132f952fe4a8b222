"""Exact identifiers in text: paths, names, ids, addresses, flags.

The text is first cut into runs of identifier characters, in one linear pass; only short runs are looked at
more closely, and each distinct one once. So neither a megabyte without a space nor a hostile text costs
more than its length.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from typing import Final

MAX_IDENTIFIER_CHARS: Final = 240
_MIN_CHARS: Final = 3


class Kind(StrEnum):
    """What an identifier names. A compound is hyphenated words: a style class, an id or just prose."""

    PATH = "path"
    NAME = "name"
    TYPE = "type"
    ID = "id"
    COMPOUND = "compound"
    HASH = "hash"
    ADDRESS = "address"
    FLAG = "flag"
    VARIABLE = "variable"
    VALUE = "value"


Found = tuple[str, Kind]

_ADDRESS: Final = re.compile(r"\b[a-z][a-z0-9+.-]{1,15}://[^\s\"'`<>)\]}\\|]{3,300}+")
_RUN: Final = re.compile(r"[A-Za-z0-9_./~@-]{3,}+")
_EXTENSIONS: Final = frozenset(
    [
        "adoc",
        "avif",
        "bat",
        "c",
        "cc",
        "cfg",
        "clj",
        "conf",
        "cpp",
        "cs",
        "css",
        "csv",
        "cts",
        "cxx",
        "dart",
        "db",
        "diff",
        "dockerfile",
        "edn",
        "eex",
        "ejs",
        "env",
        "erb",
        "erl",
        "ex",
        "exs",
        "fish",
        "fs",
        "gif",
        "go",
        "gql",
        "gradle",
        "graphql",
        "groovy",
        "h",
        "heex",
        "hpp",
        "hrl",
        "hs",
        "html",
        "htm",
        "ico",
        "ini",
        "ipynb",
        "java",
        "jpg",
        "js",
        "json",
        "jsonc",
        "jsonl",
        "jsx",
        "kt",
        "kts",
        "leex",
        "less",
        "lock",
        "log",
        "lua",
        "m",
        "map",
        "md",
        "mdx",
        "mjs",
        "ml",
        "mm",
        "mts",
        "nim",
        "nix",
        "patch",
        "php",
        "pl",
        "png",
        "proto",
        "ps1",
        "py",
        "pyc",
        "pyi",
        "pyx",
        "r",
        "rb",
        "rs",
        "rst",
        "sass",
        "scala",
        "scss",
        "sh",
        "sol",
        "sql",
        "sqlite",
        "svelte",
        "svg",
        "swift",
        "tf",
        "tfvars",
        "toml",
        "ts",
        "tsv",
        "tsx",
        "txt",
        "vb",
        "vim",
        "vue",
        "wasm",
        "xml",
        "yaml",
        "yml",
        "zig",
        "zsh",
    ]
)
_ALSO_METHODS: Final = frozenset(["map", "log", "diff", "env", "db", "patch", "lock", "m", "d", "r"])
_EXTENSION: Final = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,9})$")
_HASH: Final = re.compile(r"(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}$")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$")
_SNAKE: Final = re.compile(r"_{0,2}[a-z][a-z0-9]*(?:_+[a-z0-9]+)+_{0,2}$")
_SCREAMING: Final = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$")
_MIXED: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*$")
_CAMEL: Final = re.compile(r"[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+$")
_PASCAL: Final = re.compile(
    r"(?:[A-Z][a-z0-9]+){2,}[A-Z]?$|[A-Z]{2,}[a-z][A-Za-z0-9]*$|[A-Z][a-z0-9]+[A-Z]+$"
)
_KEBAB: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)+$")
_LETTER_CODE: Final = re.compile(r"[A-Z]{1,10}-?[0-9]{1,8}$")
_FLAG: Final = re.compile(r"--[A-Za-z][A-Za-z0-9-]+$")
_VERSION: Final = re.compile(r"v?[0-9]+(?:\.[0-9]+){1,3}(?:[-.]?(?:alpha|beta|rc|dev|post)[0-9.]*)?$")
_DIGITS: Final = re.compile(r"[0-9]{5,20}$")
_ARITY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*/[0-9]$")
_WORD_PAIR: Final = 2
_DOTFILE: Final = re.compile(r"\.(?:env|git[a-z]+|[a-z]+(?:rc|ignore|config))$")
_CAPITALIZED: Final = re.compile(r"[A-Z][A-Za-z0-9_]*$")
_COMPOUND: Final = re.compile(r"[a-z]{2,}(?:-[a-z]{2,}){1,3}$")


def identifiers_in(text: str) -> Iterator[Found]:
    """Every identifier in `text` with its kind, in order, repeated ones too.

    What a longer one contains (a module of a dotted name, the names in it) is given as well.
    """
    if "://" in text:
        for match in _ADDRESS.finditer(text):
            yield match[0].rstrip(".,:;!?*_"), Kind.ADDRESS
        text = _ADDRESS.sub(" ", text)
    for match in _RUN.finditer(text):
        yield from _of_run(match[0])


@lru_cache(maxsize=65_536)
def _of_run(run: str) -> tuple[Found, ...]:
    if len(run) > MAX_IDENTIFIER_CHARS:
        return ()
    if _FLAG.match(run):
        return ((run, Kind.FLAG),)
    if "/" in run:
        return tuple(_of_slashed(run))
    return tuple(_of_plain(run))


def _of_slashed(run: str) -> Iterator[Found]:
    run = _trimmed(run, keep="/.~@")
    parts = [part for part in run.split("/") if part]
    if not any(len(part) >= _MIN_CHARS for part in parts):
        return
    rooted = run[0] in "/@" or run.startswith(("~/", "./", "../"))
    arity = _ARITY.search(run)
    if len(parts) == 1 or (arity and not rooted):
        if arity:
            yield arity[0], Kind.NAME
        yield from _of_plain(parts[0])
    elif _is_path(parts, rooted=rooted):
        yield run, Kind.PATH
    else:
        for part in parts:
            yield from _of_plain(part)


def _is_path(parts: list[str], *, rooted: bool) -> bool:
    """Whether slashes join a path, and not words as in `read/write`."""
    if rooted or _has_extension(parts[-1]):
        return True
    marked = sum(map(_is_marked, parts))
    return marked == len(parts) or (marked > 0 and len(parts) > _WORD_PAIR)


def _of_plain(word: str) -> Iterator[Found]:
    word = _trimmed(word, keep=".")
    if len(word) < _MIN_CHARS:
        return
    if ".." in word:
        for piece in word.split(".."):
            yield from _of_plain(piece)
    elif "." in word.lstrip("."):
        yield from _of_dotted(word)
    else:
        kind = _kind_of_word(word.lstrip("."))
        if kind is not None:
            yield word.lstrip("."), kind
        elif _DOTFILE.match(word):
            yield word, Kind.PATH


def _of_dotted(word: str) -> Iterator[Found]:
    if _VERSION.match(word):
        yield word, Kind.VALUE
        return
    if _has_extension(word) and not _is_call(word):
        yield word, Kind.PATH
        return
    parts = [part for part in word.split(".") if part]
    capitals = 0
    while capitals < len(parts) and _CAPITALIZED.match(parts[capitals]):
        capitals += 1
    if capitals > 1:
        yield ".".join(parts[:capitals]), Kind.TYPE
    if "-" in parts[0] and _KEBAB.match(parts[0]):
        yield word, Kind.ID
    for part in parts:
        kind = _kind_of_word(part)
        if kind is not None:
            yield part, kind


def _kind_of_word(word: str) -> Kind | None:  # noqa: PLR0911 - one line a kind
    if _SNAKE.match(word) or _CAMEL.match(word):
        return Kind.NAME
    if _PASCAL.match(word):
        return Kind.TYPE
    if _SCREAMING.match(word):
        return Kind.VARIABLE
    if _HASH.match(word) or _UUID.match(word):
        return Kind.HASH
    if _COMPOUND.match(word):
        return Kind.COMPOUND
    if _KEBAB.match(word) or _LETTER_CODE.match(word):
        return Kind.ID
    if "_" in word.strip("_") and _MIXED.match(word):
        return Kind.NAME
    if _DIGITS.match(word):
        return Kind.VALUE
    return None


def _is_marked(part: str) -> bool:
    """Whether a piece of a path looks like a name rather than a word of prose, as in `and/or`."""
    return bool(_kind_of_word(part)) or "." in part or "_" in part or "-" in part


def _has_extension(name: str) -> bool:
    match = _EXTENSION.search(name)
    return match is not None and match[1].lower() in _EXTENSIONS


def _is_call(word: str) -> bool:
    """Whether a bare `name.ext` is rather a method, as in `console.log` and `Enum.map`."""
    stem, _, extension = word.rpartition(".")
    return extension.lower() in _ALSO_METHODS - {"lock"} or (extension == "lock" and stem[:1].isupper())


def _trimmed(run: str, keep: str) -> str:
    run = run.rstrip("./~@-")
    while run and not (run[0].isalnum() or run[0] == "_" or run[0] in keep):
        run = run[1:]
    while run.startswith("..") and not run.startswith("../"):
        run = run[1:]
    return run

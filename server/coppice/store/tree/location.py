"""Where a workspace's conversations are kept: one SQLite file each, named after the folder's URI."""

import hashlib
import re
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote, unquote_to_bytes, urlsplit, urlunsplit

from sqlalchemy.engine import URL

_SUFFIX: Final = ".sqlite3"
_SPARE_SUFFIX: Final = ".spare.sqlite3"
_SLUG_CHARS: Final = 40  # characters of a folder's name in a file's name; a hash distinguishes them
_UNRESERVED: Final = "/-._~!$&'()*+,;=@"


def workspace_database(directory: Path, workspace_uri: str) -> str:
    """The URL of the workspace's own database inside `directory`: `<slug>-<hash>.sqlite3`.

    All spellings of a URI (see `canonical_uri`) lead to the same file. The slug is for people; the hash
    of 16 hex digits distinguishes folders of the same name.
    """
    canonical = canonical_uri(workspace_uri)
    digest = hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return _url(directory / f"{_slug(canonical)}-{digest}{_SUFFIX}")


def spare_database(url: str) -> str:
    """The URL of the store that takes a workspace's new conversations while its own is damaged."""
    return url.removesuffix(_SUFFIX) + _SPARE_SUFFIX


def databases_in(directory: Path) -> list[str]:
    """The URLs of the workspaces' databases that exist in `directory`."""
    return [_url(file) for file in sorted(directory.glob(f"*{_SUFFIX}"))]


def canonical_uri(uri: str) -> str:
    """One spelling for every way to write the URI of a folder.

    Editors differ in trailing slashes, in which characters they percent-encode, in the case of escapes and
    of drive letters, and in writing `localhost`; those differences mean nothing.
    """
    try:
        parts = urlsplit(uri.strip())
    except ValueError:
        return uri
    scheme, host = parts.scheme.lower(), unquote(parts.netloc).lower()
    path = re.sub(r"/+", "/", _unquoted(parts.path)).rstrip("/")
    # `\\?\C:\work` and `\\?\UNC\server\share`: what programs in Rust call a folder of Windows.
    if scheme == "file" and host == "?":
        share = re.match(r"/UNC/([^/]+)(/.*)?", path, re.IGNORECASE)
        host, path = (share[1].lower(), share[2] or "") if share else ("", path)
    if scheme == "file" and host == "localhost":
        host = ""
    path = re.sub(r"^/?[A-Za-z]:", lambda drive: "/" + drive[0].lstrip("/").lower(), path)
    encoded = quote(path or "/", safe=_UNRESERVED, errors="surrogateescape")
    host = quote(host, safe="@:[]", errors="replace")
    return urlunsplit((scheme, host, encoded, parts.query.strip(), ""))


def _unquoted(path: str) -> str:
    """Bytes that are no UTF-8 become what Python has for them in names of files."""
    return unquote_to_bytes(path.encode(errors="replace")).decode(errors="surrogateescape")


def _url(file: Path) -> str:
    return URL.create("sqlite", database=str(file)).render_as_string(hide_password=False)


def _slug(canonical: str) -> str:
    try:
        path = urlsplit(canonical).path
    except ValueError:
        path = canonical
    name = unquote(path.rstrip("/").rpartition("/")[2]).lower()
    return re.sub(r"[^a-z0-9]+", "-", name).strip("-")[:_SLUG_CHARS].strip("-") or "workspace"

"""What is decided before YAML is parsed: is it a file of ours, is it text, and is the text clean."""

from __future__ import annotations

import re
import stat
from pathlib import Path

from etl.yaml.findings import Finding

SIZE_LIMIT = 100_000
# Findings that `shardbook fmt` repairs; the rest of the file is still read.
REPAIRABLE = frozenset({"YAM002", "YAM003", "YAM019"})
# U+0085, U+2028 and U+2029 end a line in YAML 1.1 but not in an editor, so line numbers would drift.
# U+202A to U+202E and U+2066 to U+2069 turn the direction of text, so that a reviewer sees another order than is there.
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]")


def fetch(path: Path, name: str, limit: int = SIZE_LIMIT) -> bytes | Finding:
    """Read a file unless it is too large or not to be had.

    Parameters
    ----------
    path : the file
    name : the path to show
    limit : bytes that it may have

    Returns
    -------
    its bytes, or the finding that says why not
    """
    try:
        status = path.stat()
        # A pipe would be waited for, and a folder is not a record even where its name ends like one.
        if not stat.S_ISREG(status.st_mode):
            return Finding(name, 1, 1, "YAM018", "this is not a file but a folder or a device", "write the record here")
        size = status.st_size
        if size > limit:
            return _too_large(size, name, limit)
        return path.read_bytes()
    except OSError as error:
        reason = (error.strerror or "unreadable").lower()
        return Finding(name, 1, 1, "YAM018", f"the file cannot be read: {reason}", "check its name and permissions")


def _too_large(size: int, name: str, limit: int) -> Finding:
    kind = "a record" if limit == SIZE_LIMIT else "a table of rows"
    message = f"the file has {size:,} bytes; {kind} has at most {limit:,}"
    return Finding(name, 1, 1, "YAM006", message, "split it, or move long prose to the source and cite it")


def decode(content: bytes, name: str, limit: int = SIZE_LIMIT) -> tuple[str, list[Finding]]:
    """Bytes to text with plain line ends, and what is wrong with them.

    Parameters
    ----------
    content : bytes of the file
    name : the path to show
    limit : bytes that it may have

    Returns
    -------
    the text (empty when there is none) and the findings

    >>> text, findings = decode(b"a: 1\\r\\n", "x.yaml")
    >>> text, findings[0].code
    ('a: 1\\n', 'YAM003')
    """
    if len(content) > limit:
        return "", [_too_large(len(content), name, limit)]
    findings: list[Finding] = []
    if content.startswith(b"\xef\xbb\xbf"):
        content = content[3:]
        tip = "run shardbook fmt, or save as UTF-8 without BOM"
        findings.append(Finding(name, 1, 1, "YAM002", "the file starts with a byte order mark", tip))
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line, col = _place(content[: error.start].decode("utf-8", "replace"))
        message = f"the file is not UTF-8 text (byte 0x{content[error.start]:02x})"
        return "", [Finding(name, line, col, "YAM001", message, "save it as UTF-8; a binary file is not a record")]
    if "\r" in text:
        line, col = _place(text[: text.index("\r")])
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        tip = "run shardbook fmt, or save with LF line ends"
        findings.append(Finding(name, line, col, "YAM003", "lines end in CR LF", tip))
    findings += _unclean(text, name)
    if not findings and not text.endswith("\n"):
        line, col = _place(text)
        tip = "restore the rest if it was cut off; otherwise shardbook fmt adds the line end"
        findings.append(Finding(name, line, col, "YAM019", "the file ends in the middle of a line", tip))
        text += "\n"
    return text, findings


def _unclean(text: str, name: str) -> list[Finding]:
    """Emptiness, control characters and tabs."""
    if not text.strip("\n "):
        tip = "shardbook new run ORG/NAME prints a draft"
        return [Finding(name, 1, 1, "YAM007", "the file is empty", tip)]
    findings = []
    match = CONTROL.search(text)
    if match:
        message = f"character U+{ord(match[0]):04X} is not text"
        findings.append(Finding(name, *_place(text[: match.start()]), "YAM004", message, "delete it"))
    for number, line in enumerate(text.split("\n"), 1):
        if "\t" in line:
            tip = f"write two spaces instead: {line.replace(chr(9), '  ')[:100]}"
            findings.append(Finding(name, number, line.index("\t") + 1, "YAM005", "tabs are not used in records", tip))
    return findings


def _place(before: str) -> tuple[int, int]:
    """Line and column, from 1, of the character after `before`."""
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1

"""Reports that go into a file."""

from pathlib import Path

from proxyaudit.core.errors import UserError


def write_file(path: Path, text: str) -> None:
    """Write UTF-8; UserError where that is not possible."""
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        why = error.strerror or str(error)
        raise UserError(f"cannot write {path}: {why}", "choose another --output") from error

"""The writer: what is acknowledged is kept, small, and free of secrets."""

import errno
import json
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from proxyaudit.core.errors import UserError
from proxyaudit.core.exchange import Exchange, Request, Response
from proxyaudit.core.json import JSON
from proxyaudit.core.recording import Assume
from proxyaudit.store import zstd
from proxyaudit.store.lines import to_line
from proxyaudit.store.read import open_recording
from proxyaudit.store.segments import segments
from proxyaudit.store.write import RecordingWriter

Make = Callable[..., Exchange]


def plain_text(folder: Path) -> bytes:
    faults: list[str] = []
    data = b""
    for path in segments(folder):
        with path.open("rb") as file:
            data += b"".join(zstd.pieces(file, faults))
    assert not faults
    return data


def test_what_is_written_is_read(tmp_path: Path, exchange: Make) -> None:
    with RecordingWriter(tmp_path / "r", assume=Assume(reasoning_echo="always")) as writer:
        writer.request(exchange())
        writer.response(exchange())
        writer.whole(exchange(id="b"))
    recording = open_recording(tmp_path / "r")
    assert recording.exchanges == (exchange(), exchange(id="b"))
    assert recording.assume == Assume(reasoning_echo="always")
    assert recording.flaws == ()


def test_folder_and_files_are_private_and_meta_tells_the_start(tmp_path: Path) -> None:
    about: dict[str, JSON] = {"taps": {"client": "http://127.0.0.1:8080"}}
    RecordingWriter(tmp_path / "a" / "r", about=about, created=12.5).close()
    meta = tmp_path / "a" / "r" / "meta.json"
    assert stat.S_IMODE(meta.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(meta.stat().st_mode) == 0o600
    told = json.loads(meta.read_text())
    assert len(bytes.fromhex(told.pop("salt"))) == 16
    assert told == {
        "format": "proxyaudit.recording/1",
        "created": 12.5,
        "about": about,
        "assume": {"model_aliases": {}},
    }


def test_segments_are_private(tmp_path: Path, exchange: Make) -> None:
    with RecordingWriter(tmp_path / "r") as writer:
        writer.request(exchange())
    (segment,) = segments(tmp_path / "r")
    assert stat.S_IMODE(segment.stat().st_mode) == 0o600


def test_no_secret_reaches_the_disk(tmp_path: Path, exchange: Make) -> None:
    """Neither in request, response nor URL; the same secret is the same fingerprint."""
    secret = "sk-fake-0123456789"
    with RecordingWriter(tmp_path / "r") as writer:
        request = Request("GET", f"http://x/?key={secret}", (("x-api-key", secret),))
        kept = exchange(request=request, response=Response(200, (("set-cookie", secret),)))
        writer.request(kept)
        writer.response(kept)
        writer.whole(replace(kept, id="b"))
    assert secret.encode() not in plain_text(tmp_path / "r")
    first, second = open_recording(tmp_path / "r").exchanges
    assert first.request == second.request
    assert first.request.url.endswith(first.request.headers[0][1])


def test_a_recording_is_continued_in_a_new_segment_with_its_salt(
    tmp_path: Path, exchange: Make
) -> None:
    request = Request("GET", "http://x/", (("x-api-key", "sk-1"),))
    for name in ("a", "b"):
        with RecordingWriter(tmp_path / "r") as writer:
            writer.whole(exchange(id=name, request=request))
    names = [path.name for path in segments(tmp_path / "r")]
    assert names == ["exchanges-0001.jsonl.zst", "exchanges-0002.jsonl.zst"]
    first, second = open_recording(tmp_path / "r").exchanges
    assert first.request.headers == second.request.headers


def test_segments_are_rotated_by_size_and_phases_may_lie_apart(
    tmp_path: Path, exchange: Make
) -> None:
    with RecordingWriter(tmp_path / "r", segment_bytes=1) as writer:
        writer.request(exchange())
        writer.request(exchange(id="b"))
        writer.response(exchange())
        writer.response(exchange(id="b"))
    assert len(segments(tmp_path / "r")) == 4
    recording = open_recording(tmp_path / "r")
    assert recording.exchanges == (exchange(), exchange(id="b"))
    assert recording.flaws == ()


def test_two_recorders_in_one_folder_do_not_share_a_segment(tmp_path: Path, exchange: Make) -> None:
    one, two = RecordingWriter(tmp_path / "r"), RecordingWriter(tmp_path / "r")
    one.whole(exchange(id="1"))
    two.whole(exchange(id="2"))
    one.whole(exchange(id="3"))
    one.close()
    two.close()
    assert {e.id for e in open_recording(tmp_path / "r").exchanges} == {"1", "2", "3"}


def test_every_line_can_be_read_while_the_writer_is_open(tmp_path: Path, exchange: Make) -> None:
    """A live recording is no damaged one."""
    with RecordingWriter(tmp_path / "r") as writer:
        for number in range(5):
            writer.whole(exchange(id=str(number)))
            recording = open_recording(tmp_path / "r")
            assert len(recording.exchanges) == number + 1
            assert recording.flaws == ()


def test_kill_9_loses_no_acknowledged_line(tmp_path: Path) -> None:
    """Killed at any moment: whatever was acknowledged is read, byte for byte."""
    pauses = random.Random(3)
    for attempt in range(4):
        folder = tmp_path / str(attempt)
        command = [sys.executable, str(Path(__file__).with_name("writing.py")), str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            for _ in range(pauses.randint(1, 200)):
                acknowledged = int(writer.stdout.readline())
            writer.send_signal(signal.SIGKILL)
            acknowledged = max([acknowledged, *map(int, writer.stdout.read().split())])
        exchanges = open_recording(folder).exchanges
        ended = [e for e in exchanges if e.end == "complete"]
        assert len(ended) >= acknowledged + 1
        assert [e.id for e in ended] == [str(number) for number in range(len(ended))]
        assert ended[-1].request.body.startswith(ended[0].request.body)


def test_many_interleaved_sessions_stay_small(tmp_path: Path, exchange: Make) -> None:
    """Every session sends its history again: that must cost almost nothing."""
    chance = random.Random(5)
    histories = [chance.randbytes(15_000).hex() for _ in range(40)]
    plain = 0
    with RecordingWriter(tmp_path / "r") as writer:
        for turn in range(8):
            for number, _ in enumerate(histories):
                histories[number] += chance.randbytes(50).hex()
                body = histories[number].encode()
                request = replace(exchange().request, body=body)
                sent = exchange(id=f"{number}-{turn}", request=request)
                writer.whole(sent)
                plain += len(to_line(sent))
    (segment,) = segments(tmp_path / "r")
    # Incompressible but for the repetition: 8 turns cost little more than one.
    assert segment.stat().st_size < plain / 10


def test_a_failing_disk_loses_its_line_and_nothing_else(
    tmp_path: Path, exchange: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a line is written, then the disk is full, then there is room again."""
    real_write = os.write
    with RecordingWriter(tmp_path / "r") as writer:
        writer.whole(exchange(id="before"))

        def half(fd: int, data: bytes) -> int:
            if len(data) > 20:
                return real_write(fd, data[:20])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        big = replace(exchange().request, body=random.Random(1).randbytes(500))
        monkeypatch.setattr(os, "write", half)
        with pytest.raises(OSError, match="No space"):
            writer.whole(exchange(id="lost", request=big))
        monkeypatch.undo()
        writer.whole(exchange(id="after"))
    recording = open_recording(tmp_path / "r")
    assert [e.id for e in recording.exchanges] == ["before", "after"]
    assert recording.flaws == ()


def test_a_disk_that_is_full_from_the_start_leaves_no_broken_segment(
    tmp_path: Path, exchange: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(fd: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    writer = RecordingWriter(tmp_path / "r")
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        writer.whole(exchange())
    monkeypatch.undo()
    assert segments(tmp_path / "r") == []
    writer.close()


def test_a_write_that_is_cut_short_is_completed(
    tmp_path: Path, exchange: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real_write(fd, data[:7]))
    with RecordingWriter(tmp_path / "r") as writer:
        writer.whole(exchange())
    monkeypatch.undo()
    assert open_recording(tmp_path / "r").exchanges == (exchange(),)


def test_a_removed_folder_is_an_os_error_and_closing_is_quiet(
    tmp_path: Path, exchange: Make
) -> None:
    """Writing into a deleted file succeeds; the writer must not take that for success."""
    writer = RecordingWriter(tmp_path / "r")
    writer.whole(exchange())
    shutil.rmtree(tmp_path / "r")
    for _ in range(2):
        with pytest.raises(OSError, match=r"deleted|No such file"):
            writer.whole(exchange())
    writer.close()
    writer.close()


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match="holds other files"):
        RecordingWriter(tmp_path)
    with pytest.raises(UserError, match="is a file"):
        RecordingWriter(tmp_path / "notes.txt")
    with pytest.raises(UserError, match="cannot record to"):
        RecordingWriter(tmp_path / "notes.txt" / "r")


@pytest.mark.parametrize("meta", ["", "[]", '{"format": "proxyaudit.recording/2", "salt": "00"}'])
def test_a_foreign_meta_file_is_refused(tmp_path: Path, meta: str) -> None:
    (tmp_path / "meta.json").write_text(meta)
    with pytest.raises(UserError, match="not the start of"):
        RecordingWriter(tmp_path)

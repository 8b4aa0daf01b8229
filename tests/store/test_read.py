"""The reader: every form, and what is torn, damaged, foreign or missing."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxyaudit.core.errors import UserError
from proxyaudit.core.exchange import Exchange
from proxyaudit.core.recording import Assume, Flaw
from proxyaudit.store import zstd
from proxyaudit.store.lines import opening_line, request_line, response_line, to_line
from proxyaudit.store.read import iter_exchanges, open_recording, read_assume
from proxyaudit.store.scan import split_lines
from proxyaudit.store.segments import segments
from proxyaudit.store.write import RecordingWriter

Make = Callable[..., Exchange]
FACTS = Assume(reasoning_echo="forbidden")


def compressed(lines: list[bytes], end: bytes = zstd.END_OF_FRAME) -> bytes:
    """One stream; `end` empty: as a killed writer leaves it."""
    compress = zstd.compressor()
    return b"".join(compress(line) for line in lines) + end


def ids(path: Path) -> list[str]:
    return [exchange.id for exchange in open_recording(path).exchanges]


@pytest.mark.parametrize("pack", [b"".join, compressed], ids=["plain", "zstd"])
@pytest.mark.parametrize("phases", [False, True], ids=["whole", "phases"])
def test_single_files_in_all_forms(
    tmp_path: Path, exchange: Make, pack: Callable[[list[bytes]], bytes], phases: bool
) -> None:
    """The content decides, whatever the file is called."""
    one = exchange()
    lines = [request_line(one), response_line(one)] if phases else [to_line(one)]
    path = tmp_path / "anything"
    path.write_bytes(pack([opening_line(FACTS), *lines]))
    recording = open_recording(path)
    assert recording.exchanges == (one,)
    assert recording.assume == FACTS == read_assume(path)
    assert recording.flaws == ()


def test_exchanges_are_in_order_of_start_and_ties_in_that_of_the_file(
    tmp_path: Path, exchange: Make
) -> None:
    path = tmp_path / "r.jsonl"
    made = [exchange(id=name, started_at=at) for name, at in (("c", 3), ("b", 1), ("a", 1))]
    path.write_bytes(b"".join(map(to_line, made)))
    assert ids(path) == ["b", "a", "c"]
    assert [e.id for e in iter_exchanges(path)] == ["c", "b", "a"]


def test_a_request_without_an_end_is_one_that_the_recorder_did_not_see_end(
    tmp_path: Path, exchange: Make
) -> None:
    path = tmp_path / "r.jsonl"
    later = exchange(id="b", started_at=1796081690.0)
    path.write_bytes(request_line(exchange()) + to_line(later))
    first, second = open_recording(path).exchanges
    assert (first.id, first.end, first.response) == ("a1", "recorder_stopped", None)
    assert (second.id, second.end) == ("b", "complete")


def test_a_torn_last_line_is_told_and_the_rest_kept(tmp_path: Path, exchange: Make) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(to_line(exchange()) + to_line(exchange(id="b"))[:-9])
    recording = open_recording(path)
    assert [e.id for e in recording.exchanges] == ["a1"]
    (flaw,) = recording.flaws
    assert flaw.where == "r.jsonl:2"
    assert flaw.message.startswith("torn at its end")


def test_a_last_line_without_newline_is_whole_if_it_can_be_read(
    tmp_path: Path, exchange: Make
) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(to_line(exchange()).rstrip(b"\n"))
    assert open_recording(path).flaws == ()


def test_a_zstd_stream_cut_anywhere_keeps_all_whole_lines(tmp_path: Path, exchange: Make) -> None:
    """Every cut inside a block is told; a cut between lines is what a killed writer leaves."""
    lines = [to_line(exchange(id=str(number))) for number in range(4)]
    ends = [len(compressed(lines[:count], b"")) for count in range(1, 5)]
    whole = compressed(lines, b"")
    path = tmp_path / "r.jsonl.zst"
    for cut in range(ends[0], len(whole) + 1):
        path.write_bytes(whole[:cut])
        recording = open_recording(path)
        assert len(recording.exchanges) == sum(end <= cut for end in ends)
        assert bool(recording.flaws) == (cut not in ends)
    path.write_bytes(whole[: ends[0] + 2])
    (flaw,) = open_recording(path).flaws
    assert flaw.where == "r.jsonl.zst:1"
    assert "torn at its end" in flaw.message


def test_a_damaged_segment_does_not_hide_the_next(tmp_path: Path, exchange: Make) -> None:
    with RecordingWriter(tmp_path / "r", segment_bytes=1) as writer:
        for number in range(3):
            writer.whole(exchange(id=str(number)))
    middle = segments(tmp_path / "r")[1]
    data = bytearray(middle.read_bytes())
    data[8:30] = b"\xff" * 22
    middle.write_bytes(bytes(data))
    recording = open_recording(tmp_path / "r")
    assert [e.id for e in recording.exchanges] == ["0", "2"]
    assert recording.flaws
    assert all(flaw.where.startswith("exchanges-0002.jsonl.zst") for flaw in recording.flaws)


def test_a_bad_line_in_the_middle_is_told_and_reading_goes_on(
    tmp_path: Path, exchange: Make
) -> None:
    path = tmp_path / "r.jsonl"
    other = b'{"format": "proxyaudit.exchange/9", "id": "x"}\n'
    path.write_bytes(
        to_line(exchange())
        + b"\n{oops}\n"
        + other
        + response_line(exchange(id="z"))
        + to_line(exchange(id="b"))
    )
    recording = open_recording(path)
    assert [e.id for e in recording.exchanges] == ["a1", "b"]
    assert [flaw.where for flaw in recording.flaws] == ["r.jsonl:3", "r.jsonl:4", "r.jsonl:5"]
    assert "exchange/9" in recording.flaws[1].message
    assert "'z', whose request is missing" in recording.flaws[2].message


def test_an_id_that_comes_again_is_told_and_made_unique(tmp_path: Path, exchange: Make) -> None:
    """A recorder that counts from 1 at each start; the second response belongs to the second."""
    path = tmp_path / "r.jsonl"
    late = exchange(started_at=1796081699.0)
    path.write_bytes(
        to_line(exchange())
        + request_line(exchange())
        + request_line(late)
        + response_line(late)
        + to_line(exchange(id="a1~2"))
    )
    recording = open_recording(path)
    assert sorted(e.id for e in recording.exchanges) == ["a1", "a1~2", "a1~2~2", "a1~3"]
    ends = {e.id: e.end for e in recording.exchanges}
    assert ends["a1~2"] == "recorder_stopped"
    assert ends["a1~3"] == "complete"
    assert len(recording.flaws) == 3


def test_a_file_of_another_hand(tmp_path: Path, exchange: Make) -> None:
    """Byte order mark, CRLF, blank lines and several zstd frames are all read."""
    one, two = to_line(exchange()), to_line(exchange(id="b"))
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + one.replace(b"\n", b"\r\n") + b"  \n" + two)
    assert ids(path) == ["a1", "b"]
    path.write_bytes(compressed([one]) + compressed([two]))
    assert ids(path) == ["a1", "b"]
    assert open_recording(path).flaws == ()


def test_a_long_window_of_another_writer_is_read(tmp_path: Path, exchange: Make) -> None:
    """`zstd --long=27` and more: the reader sets no limit of its own."""
    path = tmp_path / "r.jsonl.zst"
    options: dict[int, int] = {zstd.zstd.CompressionParameter.window_log: 28}
    path.write_bytes(zstd.zstd.compress(to_line(exchange()), options=options))
    assert ids(path) == ["a1"]


def test_skippable_frames_and_checksums_are_read_over(tmp_path: Path, exchange: Make) -> None:
    """As `zstd` and `pzstd` write them."""
    options: dict[int, int] = {zstd.zstd.CompressionParameter.checksum_flag: 1}
    frame = zstd.zstd.compress(to_line(exchange()) * 2, options=options)
    skipped = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
    path = tmp_path / "r.jsonl.zst"
    path.write_bytes(frame + skipped + compressed([to_line(exchange(id="b"))]))
    assert ids(path) == ["a1", "a1~2", "b"]
    path.write_bytes(frame[:-1] + bytes([frame[-1] ^ 1]))
    recording = open_recording(path)
    assert len(recording.exchanges) == 2
    assert "damaged" in recording.flaws[-1].message


def test_a_folder_without_or_with_a_damaged_meta_is_read_with_a_flaw(
    tmp_path: Path, exchange: Make
) -> None:
    (tmp_path / "exchanges-0001.jsonl").write_bytes(to_line(exchange()))
    assert open_recording(tmp_path).flaws[0].where == "meta.json"
    (tmp_path / "meta.json").write_text('{"format": "proxyaudit.rec')
    assert "damaged" in open_recording(tmp_path).flaws[0].message


def test_flaws_of_a_streamed_reading_are_handed_over(tmp_path: Path, exchange: Make) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(to_line(exchange()) + b"{")
    flaws: list[Flaw] = []
    assert [e.id for e in iter_exchanges(path, flaws)] == ["a1"]
    assert len(flaws) == 1


def test_a_missing_path(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not exist") as caught:
        open_recording(tmp_path / "none")
    assert "proxyaudit list" in caught.value.hint


def test_a_folder_with_no_recording_names_those_inside(tmp_path: Path, exchange: Make) -> None:
    with pytest.raises(UserError, match="holds no recording"):
        open_recording(tmp_path)
    with RecordingWriter(tmp_path / "mine") as writer:
        writer.whole(exchange())
    with pytest.raises(UserError, match="holds no recording") as caught:
        open_recording(tmp_path)
    assert "mine" in caught.value.hint


def test_a_recording_without_traffic(tmp_path: Path) -> None:
    RecordingWriter(tmp_path / "r").close()
    with pytest.raises(UserError, match="holds no exchange") as caught:
        open_recording(tmp_path / "r")
    assert "recorder's URL" in caught.value.hint


@pytest.mark.parametrize("whole", [{"id": "1", "started_at": 1}, [{"id": "1"}]])
def test_an_exchange_over_many_lines_is_answered_with_the_form(
    tmp_path: Path, whole: object
) -> None:
    """As a tool that prints JSON for people writes it."""
    path = tmp_path / "file.json"
    path.write_text(json.dumps(whole, indent=2))
    with pytest.raises(UserError) as caught:
        open_recording(path)
    assert "each exchange on one line" in caught.value.hint


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04 not ours", "is no recording"),
        (gzip.compress(b"{}", mtime=0), "gzip"),
        (b'{"log": {"entries": []}}', "holds no exchange"),
        (b'{"format": "proxyaudit.recording/1"}\n', "holds no exchange"),
        (b'{"format": "proxyaudit.recording/2"}\n', "recording/2"),
        (b'{"format": "proxyaudit.exchange/2", "id": "a"}\n', "exchange/2"),
        (zstd.MAGIC, "holds no exchange"),
        (zstd.MAGIC + b"\x00", "holds no exchange"),
        (b"9:12", "holds no exchange"),
    ],
)
def test_files_that_are_no_recording(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(UserError, match=said) as caught:
        open_recording(path)
    assert caught.value.hint


def test_a_folder_of_a_later_version(tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_text(json.dumps({"format": "proxyaudit.recording/7"}))
    with pytest.raises(UserError, match="recording/7") as caught:
        open_recording(tmp_path)
    assert "update" in caught.value.hint


@given(st.binary(max_size=300), st.booleans())
def test_any_bytes_after_a_good_line_are_data(
    tmp_path_factory: pytest.TempPathFactory, tail: bytes, packed: bool
) -> None:
    """Whatever follows: no exception, and the good line stays."""
    good = b'{"id": "1", "started_at": 3, "request": {"method": "GET", "url": "u"}}\n'
    path = tmp_path_factory.mktemp("tail") / "file"
    path.write_bytes((compressed([good], b"") if packed else good) + tail)
    assert open_recording(path).exchanges[0].id == "1"


@given(st.lists(st.binary(max_size=9)))
def test_lines_do_not_depend_on_how_the_data_is_cut(data: list[bytes]) -> None:
    lines = [line for line, _ in split_lines(data)]
    expected = b"".join(data).split(b"\n")
    assert lines == (expected if expected[-1] else expected[:-1])

"""Which recordings there are, and which one is meant."""

from collections.abc import Callable
from pathlib import Path

import pytest

from proxyaudit.core.errors import UserError
from proxyaudit.core.exchange import Exchange
from proxyaudit.core.recording import Assume
from proxyaudit.store.find import count_exchanges, find_recordings, resolve
from proxyaudit.store.lines import opening_line, request_line, response_line, to_line
from proxyaudit.store.read import open_recording
from proxyaudit.store.write import RecordingWriter

Make = Callable[..., Exchange]


@pytest.fixture
def root(tmp_path: Path, exchange: Make) -> Path:
    """Two recordings, the younger one with the smaller name, and a stray file."""
    root = tmp_path / "recordings"
    for name, created in (("beta", 10.0), ("alpha", 20.0)):
        with RecordingWriter(root / name, created=created) as writer:
            writer.request(exchange())
            writer.response(exchange())
            writer.request(exchange(id="open"))
    (root / "README.md").write_text("notes")
    return root


def test_recordings_are_listed_by_age_with_their_requests(root: Path) -> None:
    found = find_recordings(root)
    assert [(f.name, f.created, f.exchanges) for f in found] == [
        ("beta", 10.0, 2),
        ("alpha", 20.0, 2),
    ]
    assert found[0].path == root / "beta"


def test_no_root_is_no_recording(tmp_path: Path) -> None:
    assert find_recordings(tmp_path / "none") == []


def test_single_files_are_listed_too(root: Path, exchange: Make) -> None:
    (root / "sample.jsonl").write_bytes(to_line(exchange()))
    (root / "torn.jsonl").write_bytes(b"\x00")
    (root / "real.flow").write_bytes(b"1:x,")
    counts = {f.name: f.exchanges for f in find_recordings(root)}
    assert counts == {
        "beta": 2,
        "alpha": 2,
        "sample.jsonl": 1,
        "torn.jsonl": None,
        "real.flow": None,
    }


def test_counting_agrees_with_reading(tmp_path: Path, exchange: Make) -> None:
    """Openings, ends, blank and torn lines are no requests."""
    path = tmp_path / "r.jsonl"
    one, two = exchange(), exchange(id="b")
    spaced = to_line(exchange(id="c")).replace(b'":', b'": ')
    torn = request_line(exchange(id="d"))[:-5]
    lines = [request_line(one), request_line(two), response_line(two), b"\n", spaced, torn]
    path.write_bytes(b"".join([opening_line(Assume(reasoning_echo="always")), *lines]))
    assert count_exchanges(path) == len(open_recording(path).exchanges) == 3


def test_a_name_a_path_and_latest(root: Path, exchange: Make) -> None:
    (root / "sample.jsonl").write_bytes(to_line(exchange()))
    assert resolve("beta", root) == root / "beta"
    assert resolve("sample", root) == root / "sample.jsonl"
    assert resolve(str(root / "alpha"), root) == root / "alpha"


def test_latest_is_the_youngest(root: Path) -> None:
    assert resolve("latest", root) == root / "alpha"


def test_a_folder_of_the_same_name_does_not_hide_a_recording(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "beta").mkdir()
    monkeypatch.chdir(tmp_path)
    assert resolve("beta", root) == root / "beta"


def test_a_wrong_name_gets_the_nearest(root: Path) -> None:
    with pytest.raises(UserError, match="'alhpa'") as caught:
        resolve("alhpa", root)
    assert "alpha" in caught.value.hint


def test_nothing_recorded_yet(tmp_path: Path) -> None:
    for name in ("latest", "x"):
        with pytest.raises(UserError) as caught:
            resolve(name, tmp_path / "none")
        assert "proxyaudit record" in caught.value.hint

"""A real model behind a proxy that drops the early turns: what it is told changes what it says."""

import json
from pathlib import Path

import pytest
from real.faulty import faulty_proxy
from real.llama import llama_server
from real.processes import free_port
from real.recorder import audited, proxyaudit, recorder
from real.zorblax import chat

pytestmark = [pytest.mark.real, pytest.mark.timeout(240)]


def test_direct_the_model_knows_the_name_and_the_audit_is_clean(tmp_path: Path) -> None:
    """With its whole history the model answers right, and there is nothing to blame."""
    with llama_server(tmp_path / "llama") as server, recorder(tmp_path / "r", server) as tap:
        answer = chat(tap.url)
        tap.stop()
    assert "Zorblax" in answer
    code, report = audited(tap)
    found = [f for f in report["findings"] if f["severity"] != "info"]
    assert (code, found) == (0, [])
    assert [c["turns"] for c in report["conversations"]] == [4]


def test_a_proxy_that_drops_early_turns_is_blamed_and_a_replay_shows_what_it_cost(
    tmp_path: Path,
) -> None:
    """Past the proxy the same request has another prompt and another answer."""
    port = free_port()
    with (
        llama_server(tmp_path / "llama") as server,
        faulty_proxy(
            tmp_path / "proxy",
            f"http://127.0.0.1:{port}",
            "drop-first-turns",
            from_turn=4,
            side_requests="true",
        ) as proxy,
        recorder(tmp_path / "r", proxy, backend=server, upstream_port=port) as taps,
    ):
        answer = chat(taps.url)
        taps.stop()
        code, report = audited(taps)
        words = ("replay", taps.folder, "--target", server, "--format", "json")
        replayed = proxyaudit(tmp_path / "r", *words, "--recordings", tmp_path / "r")
    assert "Zorblax" not in answer
    found = [f for f in report["findings"] if f["severity"] != "info"]
    assert code == 1
    assert {f["suspect"] for f in found} == {"proxy"}, found
    assert ("message.dropped", 4) in {(f["rule"], f["turn"]) for f in found}

    assert replayed.code == 1, replayed
    turns = json.loads(replayed.out)["turns"]
    tokens = [turn["prompt_tokens"] for turn in turns]
    assert [t["recorded"] == t["here"] for t in tokens] == [True, True, True, False]
    assert tokens[3]["here"] > 2 * tokens[3]["recorded"]
    assert turns[3]["verdict"] == "other prompt"
    assert "Zorblax" in turns[3]["text"]["excerpt"]["here"]

"""What both taps saw of a request that is no turn is told once."""

import json

import pytest

from proxyaudit.core.exchange import Exchange, Request, Response, Tap
from proxyaudit.core.recording import Recording
from proxyaudit.engine.run import audit

PATH, NAME = "/srv/weights/tern", "tern"


def listed(tap: Tap, model: str, at: float = 0.0, url: str = "/v1/models") -> Exchange:
    body = json.dumps({"data": [{"id": model}]}).encode()
    request = Request("GET", f"http://model.test{url}")
    return Exchange(f"{tap}-{at}", tap, at, request, Response(200, body=body, ended_at=0.5))


@pytest.mark.parametrize(
    ("exchanges", "suspects"),
    [
        ([listed("client", PATH)], ["upstream"]),
        ([listed("upstream", PATH)], ["server"]),
        ([listed("client", PATH), listed("upstream", PATH, 0.01)], ["server"]),
        ([listed("client", PATH), listed("upstream", PATH, 0.01, "/models")], ["server"]),
        ([listed("client", PATH), listed("upstream", NAME, 0.01)], ["proxy"]),
        ([listed("client", NAME), listed("upstream", PATH, 0.01)], ["server"]),
        ([listed("client", PATH), listed("upstream", PATH, 7.0)], ["proxy", "server"]),
        ([listed("client", NAME), listed("upstream", NAME, 0.01)], []),
    ],
)
def test_a_path_in_the_list_of_models(exchanges: list[Exchange], suspects: list[str]) -> None:
    found = [
        f
        for f in audit(Recording("r", tuple(exchanges))).report.findings
        if f.rule == "model.id_is_path"
    ]
    assert sorted(f.suspect for f in found) == suspects
    assert len({p.exchange for f in found for p in f.places}) == sum(
        PATH.encode() in e.response.body for e in exchanges if e.response
    )

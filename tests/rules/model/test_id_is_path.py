"""model.id_is_path"""

import json
from dataclasses import replace
from typing import Any

import pytest
from rules.builders import findings, pointers, turn

from proxyaudit.core.exchange import Exchange, Request, Response, Tap
from proxyaudit.core.message import user
from proxyaudit.rules.model.id_is_path import is_path

RULE = "model.id_is_path"


def listed(body: Any, path: str = "/v1/models", tap: Tap = "client", status: int = 200) -> Exchange:
    request = Request("GET", f"http://model.test{path}")
    return Exchange("1", tap, 0.0, request, Response(status, body=json.dumps(body).encode()))


def test_a_path_in_the_list() -> None:
    body = {"data": [{"id": "tern-large"}, {"id": "/srv/weights/tern-large-fp8"}]}
    found = findings(RULE, listed(body))
    assert pointers(found) == ["/data/1/id"]


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("/v1/models/x", {"id": "/srv/x", "object": "model"}, "/id"),
        ("/api/tags", {"models": [{"name": "C:\\models\\x.gguf"}]}, "/models/0/name"),
        ("/v1/models?limit=5", {"data": [{"id": "models/7B/tern-q4.gguf"}]}, "/data/0/id"),
    ],
)
def test_other_lists(path: str, body: Any, pointer: str) -> None:
    assert pointers(findings(RULE, listed(body, path))) == [pointer]


def test_a_reply_that_names_a_path() -> None:
    made = turn(user("hi"))
    assert made.reply
    named = replace(made, reply=replace(made.reply, model="/srv/weights/tern"))
    assert pointers(findings(RULE, named)) == ["/model"]
    assert findings(RULE, made) == []


@pytest.mark.parametrize(
    "name",
    ["tern-large", "vendor/tern-large", "accounts/v/models/tern", "models/tern", "@cf/v/tern:7b"],
)
def test_near_miss_names_with_a_slash(name: str) -> None:
    assert findings(RULE, listed({"data": [{"id": name}]})) == []


@pytest.mark.parametrize(
    "body", [None, [], {"data": 3}, {"data": [None, {"id": 7}]}, {"error": {"message": "/x"}}]
)
def test_near_miss_other_bodies(body: Any) -> None:
    assert findings(RULE, listed(body)) == []


def test_near_miss_another_resource_or_a_refusal() -> None:
    body = {"data": [{"id": "/srv/x"}]}
    assert findings(RULE, listed(body, "/v1/files")) == []
    assert findings(RULE, listed(body, status=404)) == []


@pytest.mark.parametrize(
    "name", ["./x", "../x", "~/x", "file:///x", "d:/x", "h/snapshots/0a1b2c3d4e"]
)
def test_paths(name: str) -> None:
    assert is_path(name)

"""Plain replies in every dialect, as bodies: what a server answers that says a message."""

from collections.abc import Callable

from proxyaudit.core.json import JSONObject
from proxyaudit.core.message import Message
from proxyaudit.core.turn import Prompt
from proxyaudit.dialects.fields import as_list, as_object
from proxyaudit.dialects.read import dialect_named


def written(name: str, said: Message) -> JSONObject:
    dialect = dialect_named(name)
    assert dialect is not None
    body = dialect.write_prompt(Prompt((said,)))
    return as_object(as_list(body.get("messages", body.get("contents")))[0])


def chat_body(said: Message) -> JSONObject:
    choice: JSONObject = {
        "index": 0,
        "message": written("openai-chat", said),
        "finish_reason": "stop",
    }
    usage: JSONObject = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    return {"id": "r", "model": "m", "choices": [choice], "usage": usage}


def anthropic_body(said: Message) -> JSONObject:
    content = written("anthropic-messages", said)["content"]
    usage: JSONObject = {"input_tokens": 1, "cache_read_input_tokens": 5, "output_tokens": 2}
    head: JSONObject = {"id": "r", "model": "m", "type": "message"}
    return {**head, "content": content, "stop_reason": "end_turn", "usage": usage}


def responses_body(said: Message) -> JSONObject:
    dialect = dialect_named("openai-responses")
    assert dialect is not None
    usage: JSONObject = {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}
    output = dialect.write_prompt(Prompt((said,)))["input"]
    head: JSONObject = {"id": "r", "object": "response", "model": "m", "status": "completed"}
    return {**head, "output": output, "usage": usage}


def ollama_body(said: Message) -> JSONObject:
    counts: JSONObject = {"prompt_eval_count": 7, "eval_count": 2}
    head: JSONObject = {"model": "m", "message": written("ollama-chat", said)}
    return {**head, "done": True, "done_reason": "stop", **counts}


def gemini_body(said: Message) -> JSONObject:
    usage: JSONObject = {"promptTokenCount": 7, "candidatesTokenCount": 2, "totalTokenCount": 9}
    content = written("gemini", said)
    candidate: JSONObject = {"content": content, "finishReason": "STOP", "index": 0}
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": "m",
        "responseId": "r",
    }


def completion_body(said: Message) -> JSONObject:
    usage: JSONObject = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
    choice: JSONObject = {"index": 0, "text": said.text, "finish_reason": "stop"}
    return {"id": "r", "model": "m", "choices": [choice], "usage": usage}


BODIES: dict[str, Callable[[Message], JSONObject]] = {
    "openai-chat": chat_body,
    "anthropic-messages": anthropic_body,
    "openai-responses": responses_body,
    "ollama-chat": ollama_body,
    "gemini": gemini_body,
    "openai-completions": completion_body,
}

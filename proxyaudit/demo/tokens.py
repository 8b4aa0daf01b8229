"""The scripted backend's own tokens.

A token is up to four letters or digits in a row, or one other character that is no white space.
That is near the four characters a token of real tokenizers, and anyone can count it by hand.
"""

import json
import re

from proxyaudit.demo.script import Body, ScriptedReply, calls_of, messages, text_of, tools

_TOKEN = re.compile(r"\w{1,4}|[^\w\s]")


def count(text: str) -> int:
    """The number of tokens in a text."""
    return len(_TOKEN.findall(text))


def render_prompt(body: Body) -> str:
    """The prompt as the model would see it: tools, then each message under its role."""
    lines = [f"<tool> {name} {json.dumps(schema)}" for name, schema in tools(body).items()]
    for message in messages(body):
        lines.append(f"<{message.get('role')}> {message.get('tool_call_id', '')}")
        lines += [str(message.get("reasoning_content") or ""), text_of(message)]
        lines += [f"<call> {name} {arguments}" for name, arguments in calls_of(message)]
    return "\n".join([*lines, "<assistant>"])


def usage(body: Body, reply: ScriptedReply) -> Body:
    """The usage object of a reply; total = prompt + completion, and reasoning is part of it."""
    said = [reply.text, *(f"{c.name} {json.dumps(c.arguments)}" for c in reply.calls)]
    thought = count(reply.reasoning)
    prompt, completion = count(render_prompt(body)), thought + sum(map(count, said))
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "completion_tokens_details": {"reasoning_tokens": thought},
    }

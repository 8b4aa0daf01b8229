"""A recorder in a process of its own, for tests that kill it: FOLDER, then until killed."""

import sys
from itertools import count
from pathlib import Path

from proxyaudit.core.exchange import Exchange, Request, Response
from proxyaudit.store.write import RecordingWriter

if __name__ == "__main__":
    writer = RecordingWriter(Path(sys.argv[1]))
    history = ""
    for number in count():
        history += f'{{"role":"user","content":"question {number * 7919} of many"}},'
        exchange = Exchange(
            str(number),
            "client",
            float(number),
            Request("POST", "http://x/v1/chat/completions", body=history.encode()),
            Response(200, body=b"answer %d" % number),
        )
        writer.request(exchange)
        writer.response(exchange)
        # An acknowledgement: from here on the lines must be safe.
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()

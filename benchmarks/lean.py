"""The recorder's own small mitmproxy without the recorder: what more it costs is the recording.

python benchmarks/lean.py UPSTREAM PORT
"""

import asyncio
import sys
from typing import Any

from proxyaudit.capture.host import Host, Route


class Streamed:
    """Streams every response, and looks at none."""

    def responseheaders(self, flow: Any) -> None:
        flow.response.stream = True


async def main(upstream: str, port: int) -> None:
    async with Host([Route(upstream, listen_port=port)], [Streamed()]):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))

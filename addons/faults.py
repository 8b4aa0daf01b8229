"""A faulty proxy, to see what an audit makes of it.

    uv run mitmdump -s addons/faults.py --set fault=drop-first-turns --listen-host 127.0.0.1 \\
        --mode reverse:http://127.0.0.1:8000

Options: fault (what goes wrong), fault_from_turn (first user turn to go wrong),
fault_side_requests (touch requests without tools, too).
"""

from proxyaudit.demo.faults.entry import addons

__all__ = ["addons"]

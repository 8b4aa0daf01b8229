"""Real nginx as an inference proxy: set up well, it passes every event on as it comes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from real.parts import need
from real.processes import free_port, listens, running, wait_until

_SETTINGS = """\
daemon off;
worker_processes 1;
pid {run}/nginx.pid;
error_log {run}/error.log warn;
events {{ worker_connections 128; }}
http {{
  access_log off;
  client_body_temp_path {run}/body;
  proxy_temp_path {run}/proxy;
  fastcgi_temp_path {run}/fastcgi;
  uwsgi_temp_path {run}/uwsgi;
  scgi_temp_path {run}/scgi;
  server {{
    listen 127.0.0.1:{port};
    client_max_body_size 0;
    underscores_in_headers on;
    location / {{
      proxy_pass {target};
      {well}
    }}
  }}
}}
"""
_WELL = """\
proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_request_buffering off;
      proxy_cache off;
      proxy_read_timeout 600s;"""


@contextmanager
def nginx(
    folder: Path, target: str, port: int | None = None, *, well: bool = True
) -> Iterator[str]:
    """The root URL of an nginx in front of `target`, which is a root URL, too.

    If not set up `well`, it is as it comes: it buffers, and asks in HTTP/1.0.
    """
    program, port = need("nginx"), port or free_port()
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "nginx.conf"
    told = _SETTINGS.format(run=folder, port=port, target=target, well=_WELL if well else "")
    settings.write_text(told, "utf-8")
    with running([program, "-p", folder, "-c", settings], folder) as server:
        wait_until(lambda: listens(port), server)
        yield f"http://127.0.0.1:{port}"

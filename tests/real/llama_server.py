"""Run by a Python that finds xllamacpp: a llama.cpp server on loopback, until it is killed.

python llama_server.py WEIGHTS ALIAS PORT
"""

import importlib
import sys
import threading


def main(weights: str, alias: str, port: str) -> None:
    """One slot and few threads, so that the same question gets the same answer."""
    llama = importlib.import_module("xllamacpp")
    params = llama.CommonParams()
    params.model.path = weights
    params.model_alias = {alias}
    params.hostnames, params.port = ["127.0.0.1"], int(port)
    params.n_ctx, params.n_parallel, params.n_gpu_layers = 4096, 1, 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 2
    params.n_threads_http, params.sampling.seed = 4, 1
    params.offline = params.use_jinja = params.endpoint_metrics = params.endpoint_slots = True
    server = llama.Server(params)
    print("listening on", server.listening_address, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])

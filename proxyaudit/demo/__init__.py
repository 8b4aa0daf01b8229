"""Scripted parts on real sockets: a backend, an agent and a faulty proxy.

For the demo, the tests and the self-test. Standard library only.
"""

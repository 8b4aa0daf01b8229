"""Faults that proxies have: what they do, and which rule should find each."""

from proxyaudit.demo.faults.addon import Faults
from proxyaudit.demo.faults.catalogue import DEFAULT, FAULTS, Fault, find, strikes

__all__ = ["DEFAULT", "FAULTS", "Fault", "Faults", "find", "strikes"]

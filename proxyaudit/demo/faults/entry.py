"""A faulty proxy as a mitmproxy script, for those who have the package without its sources."""

from proxyaudit.demo.faults.addon import Faults

addons = [Faults()]

"""The recorder on mitmproxy: it sees everything and changes nothing."""

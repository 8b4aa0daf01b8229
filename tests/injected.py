"""All faults that can be put into a random conversation, by name."""

import injected_chain
import injected_history
import injected_hop
import injected_replies
import injected_streams

FAULTS = {
    **injected_chain.FAULTS,
    **injected_history.FAULTS,
    **injected_hop.FAULTS,
    **injected_replies.FAULTS,
    **injected_streams.FAULTS,
}

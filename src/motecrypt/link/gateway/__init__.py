"""The gateway as a service (docs/gateway.md): ports in front, a durable spool in the middle, sinks behind.

What the link delivers is stored in one transaction with the state that claims it (spool.py), then the node
is answered. Separate threads (drain.py) pass it to the sinks, so no sink delays the radio (service.py).
"""

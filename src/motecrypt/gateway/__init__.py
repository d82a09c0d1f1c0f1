"""The gateway as a service (docs/gateway.md): ports in front, a durable spool in the middle, sinks behind.

What comes of the link is kept by one transaction with the state that claims it (spool.py), then the node
is answered. Threads of their own (drain.py) bring it to the sinks; no sink delays the radio (service.py).
"""

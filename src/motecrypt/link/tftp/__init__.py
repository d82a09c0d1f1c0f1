"""TFTP (RFC 1350, options of RFC 2347 to 2349): packets, transfers and what they cost. No input or output.

The node's side is firmware/tftp; gateway/protocols/tftp.py joins both sides.
"""

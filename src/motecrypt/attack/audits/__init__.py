"""The mathematics of audits: pure functions over an oracle. No I/O, no compiler, no database.

Each part of an audit takes callables that encrypt and decrypt (of any implementation) and a
seed, and returns plain figures with a verdict that follows from them. What a part means is reported in
docs/audits.md.
"""

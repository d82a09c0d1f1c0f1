"""Side-channel leakage: simulated power traces, their statistics, and attacks on them.

`recording` runs firmware on the simulators; everything else is pure and works on traces of any source.
What a trace is, and what it is not, is described in docs/leakage.md.
"""

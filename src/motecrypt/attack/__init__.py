"""Attacks on ciphers and on power traces, as mathematics."""

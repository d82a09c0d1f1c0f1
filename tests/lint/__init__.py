"""Rules of the sources' own text that no ready-made linter has: main.py runs them."""

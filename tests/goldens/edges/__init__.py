"""What is judged of made-up figures at their edges: golden_edges.py keeps it."""

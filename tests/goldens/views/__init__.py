"""What the views say of made-up results: golden_views.py keeps it."""

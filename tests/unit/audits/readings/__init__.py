"""The made-up data of golden_readings.py, by what looks at them."""

"""Real time: serial ports, pseudo-terminal radios, and the loop that drives the link over a port. Thin."""

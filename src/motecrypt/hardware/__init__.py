"""How far our cycles are from those of real chips: published rows, residuals, and an error bound for each
device. Reads data files only; docs/hardware.md has the rules."""

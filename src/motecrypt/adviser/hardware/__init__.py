"""How far our cycles are from those of real chips: published rows, residuals, and for each device
an error bound or the range seen. Reads data files only; docs/hardware.md has the rules."""

"""Two engines in lock-step: random programs with compilers' idioms, and firmware, must end the same in both.

A program prints its own state: registers, flags, stack pointer and memory go over the UART when its body has
run.
So an engine is anything that runs firmware and hands over what it sent, and cycles where it counts them: a
driver, a
simulator of others, a board.

- `engine.py`: what a program, a set of instructions and an engine are; the comparison, and how a difference
  is shrunk
- `avr.py`, `thumb.py`, `riscv.py`: the programs of each set of instructions, and its engines
- `corpus.py`: firmware of the benchmark instead of random programs
- `main.py`: the campaign
"""

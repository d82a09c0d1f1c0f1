/* startup.S for the FE310-G002: the boot loader of HiFive1 Rev B jumps to the beginning of the program. */
#define AT_RESET
#include "startup_riscv.S"

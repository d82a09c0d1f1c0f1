/* startup.S for the CH32V003: it runs the flash's first instruction. Its trap vector ignores the address's ten lowest
 * bits, so a trap starts the program again, and its greeting shows that. */
#define AT_RESET
#include "startup_riscv.S"

/* startup.S for the Pico: 14 exceptions and the RP2040's 26 interrupts, and 6 to spare. */
#define FURTHER_VECTORS 46
#include "startup_arm.S"

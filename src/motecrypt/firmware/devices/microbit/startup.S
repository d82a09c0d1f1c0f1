/* startup.S for the nRF51822: 14 exceptions and 32 interrupts. */
#define FURTHER_VECTORS 46
#include "startup_arm.S"

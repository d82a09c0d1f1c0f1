/* startup.S for the STM32L1: 14 exceptions and 57 interrupts. */
#define FURTHER_VECTORS 71
#include "startup_arm.S"

/* startup.S for the STM32F4: 14 exceptions and 82 interrupts. */
#define FURTHER_VECTORS 96
#include "startup_arm.S"

/* hal_stack_riscv.h: the painted stack of a hal for RISC-V: hal_stack_arm.h with this core's name of a move.
 */
#ifndef MOTECRYPT_HAL_STACK_RISCV_H
#define MOTECRYPT_HAL_STACK_RISCV_H

#define READ_STACK_POINTER "mv %0, sp"
#include "hal_stack_arm.h"

#endif

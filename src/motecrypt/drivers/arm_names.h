/* SPDX-License-Identifier: MIT
 * arm_names.h: names of registers of RP2040 and RP2350 that are not modelled, and of those a firmware touched, for the list
 * at the end of a run. Sources: RP2040 datasheet, 2.3.1.7, 2.15.7, 2.17.8, 3.7, 4.2.8, 4.3.17, 4.4.4, 4.5.3, 4.8.6; RP2350 datasheet, 12.
 */
#ifndef MOTECRYPT_ARM_NAMES_H
#define MOTECRYPT_ARM_NAMES_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "bounds.h"

#define NAMES_UART "DR RSR - - - - FR - ILPR IBRD FBRD LCR_H CR IFLS IMSC RIS MIS ICR DMACR"
#define NAMES_SPI "SSPCR0 SSPCR1 SSPDR SSPSR SSPCPSR SSPIMSC SSPRIS SSPMIS SSPICR SSPDMACR"
#define NAMES_I2C                                                                                                          \
    "IC_CON IC_TAR IC_SAR - IC_DATA_CMD IC_SS_SCL_HCNT IC_SS_SCL_LCNT IC_FS_SCL_HCNT IC_FS_SCL_LCNT - - IC_INTR_STAT "     \
    "IC_INTR_MASK IC_RAW_INTR_STAT IC_RX_TL IC_TX_TL IC_CLR_INTR IC_CLR_RX_UNDER IC_CLR_RX_OVER IC_CLR_TX_OVER "           \
    "IC_CLR_RD_REQ IC_CLR_TX_ABRT IC_CLR_RX_DONE IC_CLR_ACTIVITY IC_CLR_STOP_DET IC_CLR_START_DET IC_CLR_GEN_CALL "        \
    "IC_ENABLE IC_STATUS IC_TXFLR IC_RXFLR IC_SDA_HOLD IC_TX_ABRT_SOURCE IC_SLV_DATA_NACK_ONLY IC_DMA_CR IC_DMA_TDLR "     \
    "IC_DMA_RDLR IC_SDA_SETUP IC_ACK_GENERAL_CALL IC_ENABLE_STATUS IC_FS_SPKLEN - IC_CLR_RESTART_DET"
#define NAMES_RTC "CLKDIV_M1 SETUP_0 SETUP_1 CTRL IRQ_SETUP_0 IRQ_SETUP_1 RTC_1 RTC_0 INTR INTE INTF INTS"
#define NAMES_ADC "CS RESULT FCS FIFO DIV INTR INTE INTF INTS"
#define NAMES_PIO                                                                                                          \
    "CTRL FSTAT FDEBUG FLEVEL TXF0 TXF1 TXF2 TXF3 RXF0 RXF1 RXF2 RXF3 IRQ IRQ_FORCE INPUT_SYNC_BYPASS DBG_PADOUT "         \
    "DBG_PADOE DBG_CFGINFO INSTR_MEM0 INSTR_MEM1 INSTR_MEM2 INSTR_MEM3 INSTR_MEM4 INSTR_MEM5 INSTR_MEM6 INSTR_MEM7 "       \
    "INSTR_MEM8 INSTR_MEM9 INSTR_MEM10 INSTR_MEM11 INSTR_MEM12 INSTR_MEM13 INSTR_MEM14 INSTR_MEM15 INSTR_MEM16 "           \
    "INSTR_MEM17 INSTR_MEM18 INSTR_MEM19 INSTR_MEM20 INSTR_MEM21 INSTR_MEM22 INSTR_MEM23 INSTR_MEM24 INSTR_MEM25 "         \
    "INSTR_MEM26 INSTR_MEM27 INSTR_MEM28 INSTR_MEM29 INSTR_MEM30 INSTR_MEM31 SM0_CLKDIV SM0_EXECCTRL SM0_SHIFTCTRL "       \
    "SM0_ADDR SM0_INSTR SM0_PINCTRL SM1_CLKDIV SM1_EXECCTRL SM1_SHIFTCTRL SM1_ADDR SM1_INSTR SM1_PINCTRL SM2_CLKDIV "      \
    "SM2_EXECCTRL SM2_SHIFTCTRL SM2_ADDR SM2_INSTR SM2_PINCTRL SM3_CLKDIV SM3_EXECCTRL SM3_SHIFTCTRL SM3_ADDR SM3_INSTR "  \
    "SM3_PINCTRL"
#define NAMES_SLICES                                                                                                         \
    "CH0_CSR CH0_DIV CH0_CTR CH0_CC CH0_TOP CH1_CSR CH1_DIV CH1_CTR CH1_CC CH1_TOP CH2_CSR CH2_DIV CH2_CTR CH2_CC "        \
    "CH2_TOP CH3_CSR CH3_DIV CH3_CTR CH3_CC CH3_TOP CH4_CSR CH4_DIV CH4_CTR CH4_CC CH4_TOP CH5_CSR CH5_DIV CH5_CTR "       \
    "CH5_CC CH5_TOP CH6_CSR CH6_DIV CH6_CTR CH6_CC CH6_TOP CH7_CSR CH7_DIV CH7_CTR CH7_CC CH7_TOP"
#define NAMES_PWM NAMES_SLICES " EN INTR INTE INTF INTS"
#define NAMES_INTERPOLATORS                                                                                                \
    "INTERP0_ACCUM0 INTERP0_ACCUM1 INTERP0_BASE0 INTERP0_BASE1 INTERP0_BASE2 INTERP0_POP_LANE0 INTERP0_POP_LANE1 "         \
    "INTERP0_POP_FULL INTERP0_PEEK_LANE0 INTERP0_PEEK_LANE1 INTERP0_PEEK_FULL INTERP0_CTRL_LANE0 INTERP0_CTRL_LANE1 "      \
    "INTERP0_ACCUM0_ADD INTERP0_ACCUM1_ADD INTERP0_BASE_1AND0 INTERP1_ACCUM0 INTERP1_ACCUM1 INTERP1_BASE0 INTERP1_BASE1 "  \
    "INTERP1_BASE2 INTERP1_POP_LANE0 INTERP1_POP_LANE1 INTERP1_POP_FULL INTERP1_PEEK_LANE0 INTERP1_PEEK_LANE1 "            \
    "INTERP1_PEEK_FULL INTERP1_CTRL_LANE0 INTERP1_CTRL_LANE1 INTERP1_ACCUM0_ADD INTERP1_ACCUM1_ADD INTERP1_BASE_1AND0"
#define NAMES_COUNTER "FC0_REF_KHZ FC0_MIN_KHZ FC0_MAX_KHZ FC0_DELAY FC0_INTERVAL FC0_SRC FC0_STATUS FC0_RESULT"
#define NAMES_TIMER "TIMEHW TIMELW TIMEHR TIMELR ALARM0 ALARM1 ALARM2 ALARM3 ARMED TIMERAWH TIMERAWL DBGPAUSE PAUSE"
#define NAMES_SIO "FIFO_ST FIFO_WR FIFO_RD"

struct name_block {
    uint32_t base, bytes;
    const char *block, *registers; /* of each word from the base on; "-" where there is none */
};

static const struct name_block rp2040_names[] = {
    {0x40008080u, 0x20, "CLOCKS", NAMES_COUNTER}, {0x4006001Cu, 0x08, "ROSC", "RANDOMBIT COUNT"},
    {0x40038000u, 0x1000, "UART1", NAMES_UART},   {0x4003C000u, 0x1000, "SPI0", NAMES_SPI},
    {0x40040000u, 0x1000, "SPI1", NAMES_SPI},     {0x40044000u, 0x1000, "I2C0", NAMES_I2C},
    {0x40048000u, 0x1000, "I2C1", NAMES_I2C},     {0x40050000u, 0x1000, "PWM", NAMES_PWM},
    {0x4005C000u, 0x1000, "RTC", NAMES_RTC},      {0x50200000u, 0x1000, "PIO0", NAMES_PIO},
    {0x50300000u, 0x1000, "PIO1", NAMES_PIO},     {0xD0000080u, 0x80, "SIO", NAMES_INTERPOLATORS},
};

static const struct name_block rp2350_names[] = {
    {0x4001008Cu, 0x20, "CLOCKS", NAMES_COUNTER},
    {0x40078000u, 0x1000, "UART1", NAMES_UART},   {0x40080000u, 0x1000, "SPI0", NAMES_SPI},
    {0x40088000u, 0x1000, "SPI1", NAMES_SPI},     {0x40090000u, 0x1000, "I2C0", NAMES_I2C},
    {0x40098000u, 0x1000, "I2C1", NAMES_I2C},     {0x400A0000u, 0x1000, "ADC", NAMES_ADC},
    {0x400B0000u, 0x1000, "TIMER0", NAMES_TIMER}, {0x400B8000u, 0x1000, "TIMER1", NAMES_TIMER},
    {0xD0000050u, 0x0C, "SIO", NAMES_SIO},        {0xD0000080u, 0x80, "SIO", NAMES_INTERPOLATORS},
    {0x400A8000u, 0xF0, "PWM", NAMES_SLICES},     {0x400A8000u, 0x1000, "PWM", ""},
    {0x400C0000u, 0x1000, "HSTX", ""},            {0x400F0000u, 0x1000, "TRNG", ""},
    {0x400C800Cu, 0x14, "XIP", "CTR_HIT CTR_ACC STREAM_ADDR STREAM_CTR STREAM_FIFO"},
    {0x400D0034u, 0x20, "QMI", "ATRANS0 ATRANS1 ATRANS2 ATRANS3 ATRANS4 ATRANS5 ATRANS6 ATRANS7"},
    {0x400E8000u, 0x1000, "ROSC", "CTRL FREQA FREQB RANDOM DORMANT DIV PHASE STATUS RANDOMBIT COUNT"},
    {0x50000480u, 0x1000, "DMA", ""},
    {0x400F8000u, 0x1000, "SHA256", "CSR WDATA SUM0 SUM1 SUM2 SUM3 SUM4 SUM5 SUM6 SUM7"},
    {0x40100000u, 0x1000, "POWMAN", ""},          {0x40120000u, 0x20000, "OTP", ""},
    {0x50200000u, 0x1000, "PIO0", NAMES_PIO},     {0x50300000u, 0x1000, "PIO1", NAMES_PIO},
    {0x50400000u, 0x1000, "PIO2", NAMES_PIO},     {0x50500000u, 0x100000, "XIP_AUX", ""},
    {0x50600000u, 0x100000, "HSTX_FIFO", ""},     {0xD00001C0u, 0x40, "SIO_TMDS", ""},
};

/* Writes "BLOCK_REGISTER", or "BLOCK" where that register has no name here, or nothing. */
static inline void register_name(const struct name_block *blocks, size_t count, uint32_t address, char *out, size_t size) {
    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        uint32_t word = (address - blocks[i].base) / 4;
        const char *at = blocks[i].registers;
        if (address - blocks[i].base >= blocks[i].bytes) {
            continue;
        }
        for (; word > 0 && at != NULL; word--) {
            at = strchr(at, ' ');
            at = at != NULL ? at + 1 : NULL;
        }
        snprintf(out, size, at == NULL || *at == '-' || *at == '\0' ? "%s" : "%s_%.*s", blocks[i].block,
                 at != NULL ? (int)strcspn(at, " ") : 0, at != NULL ? at : "");
        return;
    }
}

enum { TOUCHED = 256 };

/* Registers that firmware reached though they are not modelled, in the order of their first access. */
struct touched {
    uint32_t address[TOUCHED];
    uint64_t reads[TOUCHED], writes[TOUCHED], more; /* accesses to further registers */
    unsigned count;
};

static inline void touch(struct touched *touched, uint32_t address, int is_write) {
    unsigned i = 0;
    while (i < touched->count && touched->address[i] != address) {
        i++;
    }
    if (i == TOUCHED) {
        touched->more++;
        return;
    }
    touched->count += i == touched->count;
    touched->address[i] = address;
    touched->reads[i] += !is_write;
    touched->writes[i] += is_write != 0;
}

/* One line of JSON for each, as events. */
static inline void touched_tell(const struct touched *touched, const struct name_block *blocks, size_t count, FILE *events) {
    char name[80];
    for (unsigned i = 0; i < touched->count; i++) {
        register_name(blocks, count, touched->address[i], name, sizeof name);
        fprintf(events, "{\"event\":\"touched\",\"address\":%" PRIu32 ",\"name\":\"%s\",\"reads\":%" PRIu64
                ",\"writes\":%" PRIu64 "}\n", touched->address[i], name, touched->reads[i], touched->writes[i]);
    }
}

#endif

/* SPDX-License-Identifier: MIT
 * arm_rp2040_adc.h: RP2040's converter: single and repeated conversions, its FIFO and interrupt. Input 4 is the
 * temperature sensor, at 27 degrees Celsius; nothing is connected to the other inputs, which read 0. The caller passes
 * the time in cycles, and the cycles of one conversion. Source: RP2040 datasheet, 4.9 (a conversion: 96 cycles of
 * clk_adc; the sensor: 0.706 V at 27 degrees, reference 3.3 V).
 */
#ifndef MOTECRYPT_ARM_RP2040_ADC_H
#define MOTECRYPT_ARM_RP2040_ADC_H

#include <stdbool.h>
#include <stdint.h>

#include "bounds.h"

enum { ADC_CS = 0x00, ADC_RESULT = 0x04, ADC_FCS = 0x08, ADC_FIFO = 0x0C, ADC_DIV = 0x10, ADC_INTR = 0x14,
       ADC_INTE = 0x18, ADC_INTF = 0x1C, ADC_INTS = 0x20 };
enum { ADC_FIFO_WORDS = 4, ADC_CLOCKS = 96, ADC_SENSOR = 4, ADC_SENSOR_READS = 876 };

struct rp2040_adc {
    uint32_t control, result, fifo_control, divider, enabled, forced;
    uint16_t fifo[ADC_FIFO_WORDS];
    uint32_t first, count;
    uint64_t done_at;     /* the running conversion, or with a pause, the next one */
    bool converts;
};

static inline void adc_put(struct rp2040_adc *adc, uint32_t value) {
    if (!(adc->fifo_control & 1u)) {
        return;
    }
    if (adc->count == ADC_FIFO_WORDS) {
        adc->fifo_control |= 1u << 11; /* OVER */
        return;
    }
    adc->fifo[(adc->first + adc->count++) % ADC_FIFO_WORDS] = (uint16_t)(adc->fifo_control & 2u ? value >> 4 : value);
}

static inline void adc_advance(struct rp2040_adc *adc, uint64_t now, double conversion) {
    while (adc->converts && adc->done_at <= now) {
        uint32_t input = adc->control >> 12 & 7u, robin = adc->control >> 16 & 31u;
        double period = (double)(adc->divider >> 8) + 1.0;
        adc->result = input == ADC_SENSOR && (adc->control & 2u) ? ADC_SENSOR_READS : 0;
        adc_put(adc, adc->result);
        for (uint32_t i = 1; robin != 0 && i <= 5; i++) { /* the next input of the round */
            if (robin >> (input + i) % 5 & 1u) {
                adc->control = (adc->control & ~0x7000u) | (input + i) % 5 << 12;
                break;
            }
        }
        adc->converts = (adc->control & 8u) != 0; /* START_MANY */
        adc->done_at += most(1, (uint64_t)(conversion * (period > ADC_CLOCKS ? period / ADC_CLOCKS : 1.0)));
    }
}

static inline uint64_t adc_next(const struct rp2040_adc *adc) {
    return adc->converts ? adc->done_at : UINT64_MAX;
}

static inline bool adc_full_enough(const struct rp2040_adc *adc) {
    uint32_t wanted = adc->fifo_control >> 24 & 15u;
    return adc->count >= (wanted != 0 ? wanted : 1u);
}

static inline uint32_t adc_interrupts(const struct rp2040_adc *adc) {
    return (adc_full_enough(adc) ? adc->enabled & 1u : 0u) | (adc->forced & 1u);
}

static inline uint32_t adc_read(struct rp2040_adc *adc, uint32_t offset) {
    uint32_t value;
    switch (offset) {
    case ADC_CS:
        return adc->control | (adc->converts || !(adc->control & 1u) ? 0u : 1u << 8);
    case ADC_RESULT:
        return adc->result;
    case ADC_FCS:
        return adc->fifo_control | (adc->count == 0 ? 1u << 8 : 0u) | (adc->count == ADC_FIFO_WORDS ? 1u << 9 : 0u) |
               adc->count << 16;
    case ADC_FIFO:
        value = adc->fifo[adc->first % ADC_FIFO_WORDS];
        adc->fifo_control |= adc->count == 0 ? 1u << 10 : 0u; /* UNDER */
        adc->first += adc->count != 0;
        adc->count -= adc->count != 0;
        return value;
    case ADC_DIV:
        return adc->divider;
    case ADC_INTR:
        return adc_full_enough(adc);
    case ADC_INTE:
        return adc->enabled;
    case ADC_INTF:
        return adc->forced;
    default:
        return offset == ADC_INTS ? adc_interrupts(adc) : 0;
    }
}

static inline void adc_write(struct rp2040_adc *adc, uint32_t offset, uint32_t value, uint64_t now, double conversion) {
    switch (offset) {
    case ADC_CS:
        adc->control = value & 0x001F700Bu;
        if ((value & 1u) && (value & 0xCu) && !adc->converts) { /* START_ONCE, START_MANY */
            adc->converts = true;
            adc->done_at = now + (uint64_t)conversion;
        }
        break;
    case ADC_FCS:
        adc->fifo_control = (adc->fifo_control & 0xC00u & ~value) | (value & 0x0F00000Fu);
        break;
    case ADC_DIV:
        adc->divider = value & 0xFFFFFFu;
        break;
    case ADC_INTE:
        adc->enabled = value;
        break;
    case ADC_INTF:
        adc->forced = value;
        break;
    default:
        break;
    }
}

#endif

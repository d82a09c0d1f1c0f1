#pragma once
#include <stdbool.h>
#include <stdint.h>
void adc_init(void);
uint16_t adc_read(void);
void adc_set_temp_sensor_enabled(bool);
void adc_select_input(unsigned);

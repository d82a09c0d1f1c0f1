#pragma once
#include <stdbool.h>
#include <stdint.h>
typedef struct {
    int16_t year;
    int8_t month, day, dotw, hour, min, sec;
} datetime_t;
typedef void (*rtc_callback_t)(void);
void rtc_init(void);
bool rtc_set_datetime(const datetime_t *);
void rtc_set_alarm(const datetime_t *, rtc_callback_t);

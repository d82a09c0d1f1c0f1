#pragma once
#include <stdbool.h>
#include <stdint.h>
enum clock_index { clk_ref = 4, clk_sys, clk_peri, clk_usb, clk_adc, clk_rtc };
#define CLOCKS_CLK_RTC_CTRL_AUXSRC_VALUE_XOSC_CLKSRC 3
#define CLOCKS_CLK_REF_CTRL_SRC_VALUE_ROSC_CLKSRC_PH 0
#define CLOCKS_CLK_SYS_CTRL_SRC_VALUE_CLK_REF 0
bool clock_configure(enum clock_index, uint32_t, uint32_t, uint32_t, uint32_t);
void clock_stop(enum clock_index);
void clocks_init(void);

#pragma once
typedef struct pll *PLL;
extern const PLL pll_sys, pll_usb;
void pll_deinit(PLL);

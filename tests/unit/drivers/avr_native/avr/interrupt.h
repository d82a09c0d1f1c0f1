/* interrupt.h: a handler is a function, and the harness reports when interrupts are switched on and off. */
#define ISR(vector)                                                                                          \
    void vector(void);                                                                                       \
    void vector(void)
void sei(void);
void cli(void);

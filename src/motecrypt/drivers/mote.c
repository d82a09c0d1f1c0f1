/* mote.c: run an AVR firmware in libsimavr in real time, its UART on a serial port.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later (it links libsimavr); the rest of the project is MIT.
 *
 *   mote --mcu M --clock HZ --port PATH [--baud N] [--eeprom FILE] [--adc MILLIVOLTS] ELF
 *
 * The simulated clock is held to the wall clock a millisecond at a time: never ahead of it, and behind
 * only when the machine is too busy. EEPROM is kept in a file, as the chip keeps it without power; it is
 * written whenever it has changed, so kill -9 is a loss of power. Ends on SIGINT or SIGTERM, or when the
 * port or the process that started it goes away. It counts no cycles: simavr.c does.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <simavr/avr_adc.h>
#include <simavr/avr_eeprom.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <simavr/sim_io.h>
#include <simavr/sim_irq.h>
#include <simavr/sim_time.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { EEPROM_MAX = 4096, INPUT_MAX = 4096 };

static struct {
    avr_t *avr;
    avr_irq_t *uart_in;
    int port;
    uint64_t byte_cycles;
    uint8_t input[INPUT_MAX];
    size_t input_at, input_end;
    int feeding;
    const char *eeprom_path;
    uint8_t eeprom[EEPROM_MAX];
    uint32_t eeprom_bytes;
} sim;

static volatile sig_atomic_t stopping;

static void on_signal(int number) {
    (void)number;
    stopping = 1;
}

static void die(const char *what, const char *which) {
    fprintf(stderr, "mote: %s%s%s\n", what, which ? ": " : "", which ? which : "");
    exit(1);
}

/* --- the UART ------------------------------------------------------------------------------------- */

static void on_uart_out(avr_irq_t *irq, uint32_t value, void *parameter) {
    uint8_t byte = (uint8_t)value;
    (void)irq;
    (void)parameter;
    for (int tries = 0; tries < 1000; tries++) {
        struct pollfd room = {sim.port, POLLOUT, 0};
        if (write(sim.port, &byte, 1) == 1) {
            return;
        }
        if (errno != EAGAIN && errno != EINTR) {
            die("the port has vanished", strerror(errno));
        }
        poll(&room, 1, 1);
    }
    /* Nobody reads: a real UART's bytes fall on the floor as well. */
}

static avr_cycle_count_t feed(avr_t *avr, avr_cycle_count_t when, void *parameter) {
    (void)avr;
    (void)parameter;
    if (sim.input_at < sim.input_end) {
        avr_raise_irq(sim.uart_in, sim.input[sim.input_at++]);
        return when + sim.byte_cycles;
    }
    sim.feeding = 0;
    return 0;
}

static void read_port(void) {
    ssize_t n;
    if (sim.input_at < sim.input_end) {
        return;
    }
    n = read(sim.port, sim.input, sizeof sim.input);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        die("the port has vanished", NULL);
    }
    if (n > 0) {
        sim.input_at = 0;
        sim.input_end = (size_t)n;
        if (!sim.feeding) {
            sim.feeding = 1;
            avr_cycle_timer_register(sim.avr, sim.byte_cycles, feed, NULL);
        }
    }
}

static void connect_uart(void) {
    uint32_t flags = 0;
    avr_ioctl(sim.avr, AVR_IOCTL_UART_GET_FLAGS('0'), &flags);
    flags &= ~(uint32_t)(AVR_UART_FLAG_STDIO | AVR_UART_FLAG_POLL_SLEEP);
    avr_ioctl(sim.avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
    sim.uart_in = avr_io_getirq(sim.avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT);
    avr_irq_register_notify(avr_io_getirq(sim.avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), on_uart_out,
                            NULL);
}

static void open_port(const char *path) {
    struct termios mode;
    sim.port = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (sim.port < 0) {
        die(path, strerror(errno));
    }
    if (tcgetattr(sim.port, &mode) != 0) {
        die(path, "no serial port");
    }
    cfmakeraw(&mode);
    cfsetspeed(&mode, B115200);
    tcsetattr(sim.port, TCSANOW, &mode);
}

/* --- the EEPROM ----------------------------------------------------------------------------------- */

static void load_eeprom(void) {
    avr_eeprom_desc_t whole = {sim.eeprom, 0, sim.eeprom_bytes};
    FILE *file;
    memset(sim.eeprom, 0xff, sizeof sim.eeprom);
    if (sim.eeprom_path && (file = fopen(sim.eeprom_path, "rb")) != NULL) {
        if (fread(sim.eeprom, 1, sim.eeprom_bytes, file) != sim.eeprom_bytes) {
            die(sim.eeprom_path, "too short for this chip's EEPROM");
        }
        fclose(file);
    }
    avr_ioctl(sim.avr, AVR_IOCTL_EEPROM_SET, &whole);
}

/* Written in place, byte by byte where it changed: what a loss of power leaves half-done on the chip is
 * left half-done here, too. */
static void save_eeprom(void) {
    uint8_t now[EEPROM_MAX];
    avr_eeprom_desc_t whole = {now, 0, sim.eeprom_bytes};
    int file;
    memcpy(now, sim.eeprom, sizeof now);
    avr_ioctl(sim.avr, AVR_IOCTL_EEPROM_GET, &whole); /* libsimavr 1.6 copies, and returns -1 all the same */
    if (!sim.eeprom_path || memcmp(now, sim.eeprom, sim.eeprom_bytes) == 0) {
        return;
    }
    file = open(sim.eeprom_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || pwrite(file, now, sim.eeprom_bytes, 0) != (ssize_t)sim.eeprom_bytes) {
        die(sim.eeprom_path, strerror(errno));
    }
    close(file);
    memcpy(sim.eeprom, now, sim.eeprom_bytes);
}

/* --- running -------------------------------------------------------------------------------------- */

static int64_t wall_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void run(uint64_t clock_hz) {
    const uint64_t step = clock_hz / 1000;
    int64_t start_us = wall_us();
    uint64_t start_cycle = sim.avr->cycle;
    while (!stopping) {
        uint64_t until = sim.avr->cycle + step;
        int64_t ahead_us;
        while (sim.avr->cycle < until) {
            int state = avr_run(sim.avr);
            if (state == cpu_Crashed || state == cpu_Done) {
                die("the firmware crashed or stopped", NULL);
            }
        }
        save_eeprom();
        read_port();
        ahead_us = (int64_t)((sim.avr->cycle - start_cycle) * 1000000 / clock_hz) - (wall_us() - start_us);
        if (ahead_us > 0) {
            struct timespec rest = {ahead_us / 1000000, ahead_us % 1000000 * 1000};
            nanosleep(&rest, NULL);
        } else if (ahead_us < -100000) {
            /* Too far behind to catch up in bursts: the mote's clock loses the time instead. */
            start_us = wall_us();
            start_cycle = sim.avr->cycle;
        }
    }
}

static void quiet(avr_t *avr, const int level, const char *format, va_list arguments) {
    (void)avr;
    if (level == LOG_ERROR) {
        vfprintf(stderr, format, arguments);
    }
}

/* libsimavr would sleep for the firmware's idle time; `run` keeps the time here. */
static void no_sleep(avr_t *avr, avr_cycle_count_t cycles) {
    (void)avr;
    (void)cycles;
}

int main(int argc, char **argv) {
    const char *mcu = "atmega328p", *port = NULL, *elf = NULL;
    uint64_t clock_hz = 16000000;
    uint32_t baud = 115200, millivolts = 314;
    elf_firmware_t firmware;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (argv[i][0] != '-') {
            elf = argv[i];
            continue;
        }
        if (strcmp(argv[i], "--mcu") == 0) {
            mcu = value;
        } else if (strcmp(argv[i], "--clock") == 0) {
            clock_hz = strtoull(value, NULL, 0);
        } else if (strcmp(argv[i], "--port") == 0) {
            port = value;
        } else if (strcmp(argv[i], "--baud") == 0) {
            baud = (uint32_t)strtoul(value, NULL, 0);
        } else if (strcmp(argv[i], "--eeprom") == 0) {
            sim.eeprom_path = value;
        } else if (strcmp(argv[i], "--adc") == 0) {
            millivolts = (uint32_t)strtoul(value, NULL, 0);
        } else {
            die("unknown option", argv[i]);
        }
        i++;
    }
    if (!elf || !port || clock_hz == 0 || baud == 0) {
        die("needs --port PATH and an ELF file", NULL);
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    memset(&firmware, 0, sizeof firmware);
    avr_global_logger_set(quiet);
    if (elf_read_firmware(elf, &firmware) != 0) {
        die("cannot read the firmware", elf);
    }
    sim.avr = avr_make_mcu_by_name(mcu);
    if (!sim.avr) {
        die("libsimavr does not know the chip", mcu);
    }
    avr_init(sim.avr);
    sim.avr->log = LOG_ERROR;
    sim.avr->sleep = no_sleep;
    firmware.frequency = (uint32_t)clock_hz;
    avr_load_firmware(sim.avr, &firmware);
    sim.avr->frequency = (uint32_t)clock_hz;
    sim.avr->vcc = sim.avr->avcc = 5000;
    sim.byte_cycles = clock_hz * 10 / baud;
    sim.eeprom_bytes = sim.avr->e2end + 1u;
    if (sim.eeprom_bytes > EEPROM_MAX) {
        die("more EEPROM than expected", mcu);
    }
    open_port(port);
    load_eeprom();
    connect_uart();
    /* The ADC's inputs are in millivolts; the temperature sensor is one of them. */
    for (int channel = ADC_IRQ_ADC0; channel <= ADC_IRQ_TEMP; channel++) {
        avr_irq_t *input = avr_io_getirq(sim.avr, AVR_IOCTL_ADC_GETIRQ, channel);
        if (input) {
            avr_raise_irq(input, millivolts);
        }
    }
    run(clock_hz);
    save_eeprom();
    return 0;
}

"""Exported examples for radios and SDKs that are not here: compiled against declarations in our own words."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from exports_bed import CIPHERS, STRICT, planned, run
from motecrypt.air.radios import load_radio, radio_names
from motecrypt.exports.commands import LinkRadio
from tool_sets import skip_without

PICO_SDK = Path(__file__).resolve().parents[1] / "pico_sdk"
SDKS: dict[str, dict[str, str]] = {
    "pico-sdk": {str(path.relative_to(PICO_SDK)): path.read_text() for path in PICO_SDK.rglob("*.h")},
    "zephyr": {
        "zephyr/kernel.h": "#include <stddef.h>\n#include <stdint.h>\nuint32_t k_uptime_get_32(void);\n"
        "int32_t k_msleep(int32_t);\nvoid k_busy_wait(uint32_t);\n",
        "zephyr/sys/printk.h": "void printk(const char *, ...);\n",
        "zephyr/storage/flash_map.h": "#include <stddef.h>\n#include <stdint.h>\n#include <sys/types.h>\n"
        "struct flash_area;\n#define FIXED_PARTITION_ID(label) 1\n"
        "int flash_area_open(uint8_t, const struct flash_area **);\n"
        "int flash_area_read(const struct flash_area *, off_t, void *, size_t);\n"
        "int flash_area_write(const struct flash_area *, off_t, const void *, size_t);\n"
        "int flash_area_erase(const struct flash_area *, off_t, size_t);\n",
        "zephyr/device.h": "#include <stdbool.h>\nstruct device;\nextern const struct device the_uart;\n"
        "bool device_is_ready(const struct device *);\n"
        "#define DT_CHOSEN(name) name\n#define DEVICE_DT_GET(node) (&the_uart)\n",
        "zephyr/drivers/uart.h": "struct device;\nvoid uart_poll_out(const struct device *, unsigned char);\n"
        "int uart_poll_in(const struct device *, unsigned char *);\n",
    },
    "esp-idf": {
        "esp_err.h": "typedef int esp_err_t;\n#define ESP_OK 0\n"
        "#define ESP_ERROR_CHECK(call) ((void)(call))\n",
        "esp_log.h": "void esp_log(const char *, const char *, ...);\n"
        "#define ESP_LOGE(...) esp_log(__VA_ARGS__)\n"
        "#define ESP_LOGW(...) esp_log(__VA_ARGS__)\n",
        "esp_partition.h": '#include "esp_err.h"\n#include <stddef.h>\n#include <stdint.h>\n'
        "typedef struct esp_partition esp_partition_t;\n"
        "enum { ESP_PARTITION_TYPE_DATA = 1, ESP_PARTITION_SUBTYPE_ANY = 255 };\n"
        "const esp_partition_t *esp_partition_find_first(int, int, const char *);\n"
        "esp_err_t esp_partition_read(const esp_partition_t *, size_t, void *, size_t);\n"
        "esp_err_t esp_partition_write(const esp_partition_t *, size_t, const void *, size_t);\n"
        "esp_err_t esp_partition_erase_range(const esp_partition_t *, size_t, size_t);\n",
        "esp_timer.h": "#include <stdint.h>\nint64_t esp_timer_get_time(void);\n",
        "esp_event.h": '#include "esp_err.h"\nesp_err_t esp_event_loop_create_default(void);\n',
        "esp_netif.h": '#include "esp_err.h"\nesp_err_t esp_netif_init(void);\n',
        "nvs_flash.h": '#include "esp_err.h"\nesp_err_t nvs_flash_init(void);\n',
        "esp_wifi.h": '#include "esp_err.h"\ntypedef struct { int any; } wifi_init_config_t;\n'
        "#define WIFI_INIT_CONFIG_DEFAULT() {0}\nenum { WIFI_MODE_STA = 1 };\n"
        "typedef enum { WIFI_IF_STA } wifi_interface_t;\n"
        "esp_err_t esp_wifi_init(const wifi_init_config_t *);\nesp_err_t esp_wifi_set_mode(int);\n"
        "esp_err_t esp_wifi_start(void);\n",
        "esp_now.h": '#include "esp_err.h"\n#include "esp_wifi.h"\n#include <stdbool.h>\n'
        "#include <stddef.h>\n"
        "#include <stdint.h>\n#define ESP_NOW_ETH_ALEN 6\n"
        "typedef struct { uint8_t peer_addr[6]; uint8_t channel; wifi_interface_t ifidx; bool encrypt; }\n"
        "    esp_now_peer_info_t;\ntypedef struct { uint8_t *src_addr; } esp_now_recv_info_t;\n"
        "typedef void (*esp_now_recv_cb_t)(const esp_now_recv_info_t *, const uint8_t *, int);\n"
        "esp_err_t esp_now_init(void);\nesp_err_t esp_now_register_recv_cb(esp_now_recv_cb_t);\n"
        "esp_err_t esp_now_add_peer(const esp_now_peer_info_t *);\n"
        "esp_err_t esp_now_send(const uint8_t *, const uint8_t *, size_t);\n",
        "freertos/FreeRTOS.h": "#include <stdint.h>\ntypedef uint32_t TickType_t;\ntypedef int BaseType_t;\n"
        "#define pdTRUE 1\n#define pdMS_TO_TICKS(ms) ((TickType_t)(ms))\n",
        "freertos/queue.h": "typedef struct queue *QueueHandle_t;\n"
        "QueueHandle_t xQueueCreate(unsigned, unsigned);\n"
        "BaseType_t xQueueSend(QueueHandle_t, const void *, TickType_t);\n"
        "BaseType_t xQueueReceive(QueueHandle_t, void *, TickType_t);\n",
        "freertos/task.h": "void vTaskDelay(TickType_t);\n",
    },
    "platformio": {
        "Arduino.h": '#ifdef __cplusplus\nextern "C" {\n#endif\nunsigned long millis(void);\n'
        "#ifdef __cplusplus\n}\n#endif\n",
    },
}
COMPILERS = {
    "pico-sdk": ("pico", ["arm-none-eabi-gcc", "-mcpu=cortex-m0plus", "-mthumb"]),
    "zephyr": ("pico", ["arm-none-eabi-gcc", "-mcpu=cortex-m0plus", "-mthumb"]),
    "esp-idf": (
        "cross",
        ["riscv64-unknown-elf-gcc", "-march=rv32imc", "-mabi=ilp32", "-isystem", "/usr/include/newlib"],
    ),
    "platformio": ("avr", ["avr-gcc", "-mmcu=atmega328p"]),
}


def write_sdk(name: str, folder: Path) -> None:
    for header, text in SDKS[name].items():
        (folder / "sdk" / header).parent.mkdir(parents=True, exist_ok=True)
        (folder / "sdk" / header).write_text(f"#pragma once\n{text}")


@pytest.mark.parametrize("name", [name for name in SDKS if name != "platformio"])
def test_the_programs_for_every_radio_compile(name: str, tmp_path: Path) -> None:
    tool_set, compiler = COMPILERS[name]
    skip_without(tool_set)
    write_sdk(name, tmp_path)
    for radio in radio_names():
        planned(name, "aes128-ccm8", LinkRadio(load_radio(radio))).write(tmp_path / radio)
        for main in sorted((tmp_path / radio).rglob("main.c")):
            run([*compiler, *STRICT, "-fsyntax-only", "-isystem", "sdk", f"-I{radio}/src", main], tmp_path)


@pytest.mark.parametrize("cipher", CIPHERS)
@pytest.mark.parametrize("name", SDKS)
def test_the_sources_and_the_example_compile_for_the_targets_core(
    name: str, cipher: str, tmp_path: Path
) -> None:
    tool_set, compiler = COMPILERS[name]
    skip_without(tool_set)
    made = planned(name, cipher)
    made.write(tmp_path / "lib")
    write_sdk(name, tmp_path)
    files = [*sorted((tmp_path / "lib").rglob("*.c"))]
    assert any(file.name == "main.c" for file in files) or name == "platformio"
    strict = [flag for flag in STRICT if flag != "-Wconversion" or "avr" not in compiler[0]]  # wrong in GCC 5
    flags = ["-Os", *strict, "-isystem", "sdk", "-Ilib/src"]
    for file in files:
        run([*compiler, *flags, "-c", file, "-o", "made.o"], tmp_path)

// Runs a program in rp2040js for a number of instructions and prints what its UART sent, in hexadecimal digits.
// node rp2040js_program.mjs MODULE JOB.json; the job: segments [[address, hex]], sp, pc, limit, end (the byte after which it
// ends). With input (hex), a host at its USB opens a serial port and sends it when the first bytes have come from there;
// what came from there is printed instead.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { RP2040, USBCDC } = await import(pathToFileURL(process.argv[2]).href);
const job = JSON.parse(readFileSync(process.argv[3], "utf8"));
const NANOSECONDS = 8; // of a cycle, at 125 MHz
const chip = new RP2040();
chip.logger = { debug() {}, warn() {}, error() {}, info() {} };
for (const [address, hex] of job.segments) chip.flash.set(Buffer.from(hex, "hex"), address - 0x10000000);
chip.core.SP = job.sp;
chip.core.PC = job.pc & ~1;
const output = [];
if (job.input === undefined) {
  chip.uart[0].onByte = (byte) => output.push(byte);
} else {
  const port = new USBCDC(chip.usbCtrl);
  let input = [...Buffer.from(job.input, "hex")];
  port.onSerialData = (bytes) => {
    output.push(...bytes);
    for (const byte of input) port.sendSerialByte(byte);
    input = [];
  };
}
for (let steps = 0; steps < job.limit && output.at(-1) !== job.end; steps++) {
  if (chip.core.waiting) chip.clock.tick(chip.clock.nanosToNextAlarm);
  else chip.clock.tick(chip.core.executeInstruction() * NANOSECONDS);
}
process.stdout.write(Buffer.from(output).toString("hex"));

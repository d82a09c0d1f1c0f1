// Runs firmware in rp2040js and prints the core cycles between marks, as JSON.
// node rp2040js.mjs MODULE JOB.json; the job: segments [[address, hex]], sp, pc, mark, frames [hex].
// With table, PUSH with LR and POP with PC take the cycle that they lack here by ARM's table (DDI 0484, 3.3).
// Each frame is fed when the firmware has answered the one before (two delimiters, 0x7e) and waits.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { RP2040 } = await import(pathToFileURL(process.argv[2]).href);
const job = JSON.parse(readFileSync(process.argv[3], "utf8"));
const chip = new RP2040();
chip.logger = { debug() {}, warn() {}, error() {}, info() {} };
for (const [address, hex] of job.segments) chip.flash.set(Buffer.from(hex, "hex"), address - 0x10000000);
chip.core.SP = job.sp;
chip.core.PC = job.pc & ~1;

const regions = [];
let begin = 0;
const watchdog = chip.peripherals[job.mark >>> 12 & ~3];
const write = watchdog.writeUint32.bind(watchdog);
watchdog.writeUint32 = (offset, value) => {
  if (offset === (job.mark & 0xfff)) {
    if (value & 1) begin = chip.core.cycles;
    else regions.push(chip.core.cycles - begin);
  }
  write(offset, value);
};

const uart = chip.uart[0];
const output = [];
let delimiters = 0;
uart.onByte = (byte) => {
  output.push(byte);
  if (byte === 0x7e) delimiters++;
};
let queue = [];
let frame = 0;
const limit = job.limit;
let steps = 0;
for (; steps < limit; steps++) {
  if (queue.length && uart.rxFIFO.empty) uart.feedByte(queue.shift());
  else if (!queue.length && delimiters === 2 * (frame + 1)) {
    if (frame === job.frames.length) break;
    queue = [...Buffer.from(job.frames[frame++], "hex")];
  }
  const code = job.table ? chip.readUint16(chip.core.PC) & 0xff00 : 0;
  chip.core.executeInstruction();
  if (code === 0xb500 || code === 0xbd00) chip.core.cycles++;
}
process.stdout.write(
  JSON.stringify({ regions, output: Buffer.from(output).toString("hex"), finished: steps < limit }),
);

// Runs firmware in rp2040js and prints the core cycles between marks, as JSON.
// node rp2040js.mjs MODULE JOB.json; the job: segments [[address, hex]], sp, pc, mark, frames [hex].
// Each frame is fed when the firmware has answered the one before (with as many delimiters, 0x7e, as `ends` says: 2) and waits.
//
// rp2040js 1.4.1 differs from ARM's manuals. Corrected here:
//   - ADCS and SBCS add the carry to an operand before they look for a signed overflow: V is wrong where that operand becomes
//     0x80000000 or 0x100000000 (DDI 0419, AddWithCarry() in A2.2.1).
//   - C of a shift by a register: by 0 it stays; LSLS by more than 32 clears it (DDI 0419, Shift_C() in A2.2.1).
//   - With interrupts: SysTick's first interrupt is due when it starts; it comes after the reload value and 1 (DDI 0419, B3.3.1).
//   - The entry to an exception and the return are not counted: 15 cycles by the manual (DDI 0484, 3.7.1) and our driver's 12, which
//     no manual gives.
//   - With table: PUSH with LR and POP with PC take one cycle less than ARM's table says (DDI 0484, 3.3).
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { RP2040 } = await import(pathToFileURL(process.argv[2]).href);
const job = JSON.parse(readFileSync(process.argv[3], "utf8"));
const NANOSECONDS = 8; // of a cycle, at 125 MHz
const ENTRY_CYCLES = 15, RETURN_CYCLES = 12, SYSTICK_CONTROL = 0x10;
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

const store = chip.ppb.writeUint32.bind(chip.ppb);
chip.ppb.writeUint32 = (offset, value) => {
  store(offset, value);
  if (offset === SYSTICK_CONTROL && value & 1) chip.ppb.systickTimer.set(chip.ppb.systickReload + 1);
};

const uart = chip.uart[0];
const output = [];
let delimiters = 0;
uart.onByte = (byte) => {
  output.push(byte);
  if (byte === 0x7e) delimiters++;
};

const ADCS = 0x4140, SBCS = 0x4180, SHIFTS = [0x4080, 0x40c0, 0x4100, 0x41c0], LSLS = SHIFTS[0];

// V of ADCS and SBCS, or undefined for any other instruction; before it is executed.
function overflow(core, opcode) {
  const kind = opcode & 0xffc0;
  if (kind !== ADCS && kind !== SBCS) return undefined;
  const second = core.registers[opcode >> 3 & 7] | 0;
  const sum = (core.registers[opcode & 7] | 0) + (kind === ADCS ? second : ~second) + (core.C ? 1 : 0);
  return sum !== (sum | 0);
}

// C of a shift by a register where it is wrong, or undefined; before it is executed.
function carry(core, opcode) {
  const kind = opcode & 0xffc0, count = core.registers[opcode >> 3 & 7] & 0xff;
  if (SHIFTS.includes(kind) && count === 0) return core.C;
  return kind === LSLS && count > 32 ? false : undefined;
}

let queue = [];
let frame = 0;
const { limit, ends = 2 } = job;
let steps = 0;
for (; steps < limit; steps++) {
  if (queue.length && uart.rxFIFO.empty) uart.feedByte(queue.shift());
  else if (!queue.length && delimiters === ends * (frame + 1)) {
    if (frame === job.frames.length) break;
    queue = [...Buffer.from(job.frames[frame++], "hex")];
  }
  const opcode = chip.readUint16(chip.core.PC), list = opcode & 0xff00;
  const hasOverflowed = overflow(chip.core, opcode), hasCarry = carry(chip.core, opcode);
  const before = chip.core.cycles, was = chip.core.IPSR;
  chip.core.executeInstruction();
  if (!was && chip.core.IPSR) { // another instruction was executed
    chip.core.cycles += ENTRY_CYCLES;
  } else {
    chip.core.V = hasOverflowed ?? chip.core.V;
    chip.core.C = hasCarry ?? chip.core.C;
    if (job.table && (list === 0xb500 || list === 0xbd00)) chip.core.cycles++;
  }
  if (was && !chip.core.IPSR) chip.core.cycles += RETURN_CYCLES;
  if (job.interrupts) chip.clock.tick((chip.core.cycles - before) * NANOSECONDS);
}
process.stdout.write(
  JSON.stringify({ regions, output: Buffer.from(output).toString("hex"), finished: steps < limit }),
);

// Runs AVR firmware in avr8js: what its UART sent, and the cycles between marks, as JSON.
// node avr8js.mjs MODULE JOB.json. The job: image (a file, of flash from 0); far (a program counter of 22 bits);
// vector (of timer 1's compare match); mark (a data address). It may have input (hex), simulated (a data address whose bit 0 is
// set) and delimiters (how many bytes 0x7e end the run).
//
// avr8js 0.21.1 differs from the instruction set manual (DS40002198) and the datasheet (DS40002061B). Corrected here:
//   - H of all additions, subtractions and comparisons is that of bit 0 instead of bit 3. SBIW changes it.
//   - Z of CPC, SBC and SBCI: 0 - 0xff with the carry set leaves 0, so it stays as it was; here it is cleared.
//   - NEG of 0x80 leaves V clear. FMULSU takes its second operand as signed.
//   - An interrupt takes 2 cycles to begin instead of 4, or 5 where the program counter has 22 bits (7.7.1).
//   - An interrupt is taken right after SEI, RETI or a write that sets I, and not one instruction later (7.7).
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { CPU, avrInstruction, AVREEPROM, AVRTimer, EEPROMMemoryBackend, eepromConfig, timer1Config } = createRequire(process.argv[2])(process.argv[2]);
const job = JSON.parse(readFileSync(process.argv[3], "utf8"));
const SREG = 95, UCSR0A = 0xc0, UDR0 = 0xc6, DELIMITER = 0x7e;
const RXC = 0x80, TXC = 0x40, UDRE = 0x20, U2X = 2;
const LIMIT = 2_000_000_000;
const EEPROM_WRITE = 54_400; // erase and write: 3.4 ms at 16 MHz (table 8-1)
const C = 1, Z = 2, N = 4, V = 8, S = 16, H = 32, I = 128;

const image = readFileSync(job.image);
const program = new Uint16Array((job.far ? 0x40000 : 0x8000) / 2).fill(0xffff);
for (let at = 0; at < image.length; at++) {
  const byte = image[at], word = program[at >> 1];
  program[at >> 1] = at & 1 ? (word & 0xff) | (byte << 8) : (word & 0xff00) | byte;
}
const cpu = new CPU(program, job.far ? 0x2200 : 0x900);
new AVRTimer(cpu, { ...timer1Config, compAInterrupt: 2 * job.vector });
const memory = new EEPROMMemoryBackend(job.far ? 4096 : 1024);
new AVREEPROM(cpu, memory, { ...eepromConfig, eraseCycles: EEPROM_WRITE / 2, writeCycles: EEPROM_WRITE / 2 });

const output = [], regions = [];
let input = [...Buffer.from(job.input ?? "", "hex")];
let begin = 0, delimiters = 0, done = false;
if (job.simulated) cpu.data[job.simulated] |= 1;
cpu.readHooks[UCSR0A] = () => UDRE | TXC | (input.length ? RXC : 0);
cpu.writeHooks[UCSR0A] = (value) => {
  cpu.data[UCSR0A] = value & U2X;
  return true;
};
cpu.readHooks[UDR0] = () => input.shift() ?? 0;
cpu.writeHooks[UDR0] = (value) => {
  output.push(value);
  if (value === DELIMITER) delimiters++;
  return true;
};
cpu.writeHooks[job.mark] = (value) => {
  if (value) begin = cpu.cycles;
  else regions.push(cpu.cycles - begin);
};

function halfCarry(opcode) {
  const d5 = cpu.data[(opcode >> 4) & 31], r5 = cpu.data[(opcode & 15) | ((opcode >> 5) & 16)];
  const d4 = cpu.data[16 + ((opcode >> 4) & 15)], k = ((opcode >> 4) & 0xf0) | (opcode & 15);
  const carry = cpu.data[SREG] & C;
  switch (opcode >> 10) {
    case 0x03: return (d5 & 15) + (r5 & 15) > 15; // ADD
    case 0x07: return (d5 & 15) + (r5 & 15) + carry > 15; // ADC
    case 0x05: case 0x06: return (d5 & 15) < (r5 & 15); // CP, SUB
    case 0x01: case 0x02: return (d5 & 15) < (r5 & 15) + carry; // CPC, SBC
  }
  switch (opcode >> 12) {
    case 0x3: case 0x5: return (d4 & 15) < (k & 15); // CPI, SUBI
    case 0x4: return (d4 & 15) < (k & 15) + carry; // SBCI
  }
  if ((opcode & 0xff00) === 0x9700) return (cpu.data[SREG] & H) !== 0; // SBIW
  return (opcode & 0xfe0f) === 0x9401 ? (d5 & 15) !== 0 : undefined; // NEG
}

// Whether it is CPC, SBC or SBCI of 0 and 0xff with the carry set: 0 - 0xff - 1 leaves 0.
function comesRound(opcode) {
  const isImmediate = opcode >> 12 === 0x4, kind = opcode >> 10;
  if (!(cpu.data[SREG] & C) || !(isImmediate || kind === 0x01 || kind === 0x02)) return false;
  const d = isImmediate ? 16 + ((opcode >> 4) & 15) : (opcode >> 4) & 31;
  const second = isImmediate ? ((opcode >> 4) & 0xf0) | (opcode & 15) : cpu.data[(opcode & 15) | ((opcode >> 5) & 16)];
  return cpu.data[d] === 0 && second === 0xff;
}

function corrected() {
  const opcode = cpu.progMem[cpu.pc];
  const half = halfCarry(opcode), keptZero = comesRound(opcode) ? cpu.data[SREG] & Z : 0;
  const d = cpu.data[(opcode >> 4) & 31];
  if ((opcode & 0xff88) === 0x0388) { // FMULSU
    const product = ((cpu.data[16 + ((opcode >> 4) & 7)] << 24) >> 24) * cpu.data[16 + (opcode & 7)];
    avrInstruction(cpu);
    const result = (product << 1) & 0xffff;
    cpu.data[0] = result & 255;
    cpu.data[1] = result >> 8;
    cpu.data[SREG] = (cpu.data[SREG] & ~(C | Z)) | (product & 0x8000 ? C : 0) | (result ? 0 : Z);
    return;
  }
  avrInstruction(cpu);
  cpu.data[SREG] |= keptZero;
  if (half !== undefined) cpu.data[SREG] = (cpu.data[SREG] & ~H) | (half ? H : 0);
  if ((opcode & 0xfe0f) === 0x9401 && d === 0x80) {
    cpu.data[SREG] = (cpu.data[SREG] & ~S) | V | N; // S is N ^ V
  }
}

while (!done && cpu.cycles < LIMIT) {
  const before = cpu.data[SREG] & I, at = cpu.pc;
  corrected();
  const after = cpu.data[SREG] & I;
  if (!before && after) cpu.data[SREG] &= ~I;
  const next = cpu.pc;
  cpu.tick();
  if (cpu.pc !== next) cpu.cycles += job.far ? 3 : 2; // an interrupt has begun
  if (!before && after) cpu.data[SREG] |= I;
  done = (!after && cpu.pc === at) || delimiters === job.delimiters; // an empty loop with interrupts off, or enough
}
if (!done) throw new Error(`it did not end within ${LIMIT} cycles`);
process.stdout.write(JSON.stringify({ regions, output: Buffer.from(output).toString("hex"), cycles: cpu.cycles }));

/**
 * A program of many equal tensors that speaks the bridge's protocol by itself. One of 100 elements of
 * its gradient is not 0, so what top-k sends of a hundredth is all of it, and each average is exact.
 *
 *     node large-program.ts STEPS TENSORS ELEMENTS
 */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { ScriptedBridge } from '../integration/programs/scripted-bridge.ts';

const [steps, count, each] = process.argv.slice(2).map(Number) as [
  number,
  number,
  number,
];
const rank = Number(process.env['RANK']);
const world = Number(process.env['WORLD_SIZE']);
const EVERY = 100;

const bridge = new ScriptedBridge(process.env['GRADWIRE_BRIDGE']!);
const about = { pid: process.pid, python: '-', torch: '-' };
bridge.send({ type: 'hello', version: 1, mode: 'join', ...about });
const tensors = Array.from({ length: count }, (_, i) => ({
  name: `tensor${i}`,
  shape: [each],
}));
bridge.send({ type: 'attach', tensors, device: 'scripted' });
const { path } = await bridge.next();
const memory = openSync(path as string, 'r+');
bridge.send({ type: 'mapped' });
await bridge.next();

const piece = new Float32Array(each);
const valueOf = (iteration: number, tensor: number, i: number, of: number): number =>
  ((i / EVERY) % 8) + iteration + tensor + 2 * of + 1;

function writeTensor(iteration: number, tensor: number): void {
  piece.fill(0);
  for (let i = 0; i < each; i += EVERY) piece[i] = valueOf(iteration, tensor, i, rank);
  writeSync(memory, piece, 0, piece.byteLength, tensor * piece.byteLength);
}

function checkTensor(iteration: number, tensor: number): void {
  readSync(memory, piece, 0, piece.byteLength, tensor * piece.byteLength);
  for (let i = 0; i < each; i++) {
    const average =
      i % EVERY === 0 ? valueOf(iteration, tensor, i, (world - 1) / 2) : 0;
    if (piece[i] !== average) {
      throw new Error(
        `element ${i} of tensor ${tensor} is ${piece[i]}, not ${average}`,
      );
    }
  }
}

/** Serves a held program until it may go on: its weights are what the vector has. */
async function held(): Promise<void> {
  for (;;) {
    const { type } = await bridge.next();
    if (type === 'read') bridge.send({ type: 'written', states: 0 });
    else return;
  }
}

for (let iteration = 0; iteration < steps; iteration++) {
  const start = Date.now();
  for (let tensor = count - 1; tensor >= 0; tensor--) {
    writeTensor(iteration, tensor);
    bridge.send({ type: 'ready', from: tensor * each });
  }
  const averaged = await bridge.next();
  for (let tensor = 0; tensor < count; tensor++) checkTensor(iteration, tensor);
  const wall = Date.now() - start;
  const step = { at: start, wall, data: 0, forward: 0, backward: 0, apply: 0, lr: 1 };
  bridge.send({ type: 'stepped', step, values: {} });
  if (averaged['hold'] === true) await held();
}
bridge.send({ type: 'end' });
await held();
closeSync(memory);
process.exit(0);

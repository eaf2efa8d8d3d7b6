/**
 * A program that takes as long for a step as it is told, and measures what it does:
 *
 *     node paced-program.ts STEPS MILLISECONDS [RANK MILLISECONDS]
 *
 * One rank may take longer. It computes nothing, so ranks do not wait for cores.
 */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ScriptedBridge } from './scripted-bridge.ts';

const [steps, pace, slowRank = -1, slowPace = 0] = process.argv.slice(2).map(Number);
const computing = Number(process.env['RANK']) === slowRank ? slowPace : pace!;
const LENGTH = 1000;

const bridge = new ScriptedBridge(process.env['GRADWIRE_BRIDGE']!);
const { pid } = process;
bridge.send({ type: 'hello', version: 1, mode: 'join', pid, python: '-', torch: '-' });
const tensors = [{ name: 'weights', shape: [LENGTH] }];
bridge.send({ type: 'attach', tensors, device: 'scripted' });
const { path } = await bridge.next();
const memory = openSync(path as string, 'r+');
bridge.send({ type: 'mapped' });
await bridge.next();

const values = new Float32Array(LENGTH).fill(1);
const { byteLength } = values;

for (let iteration = 0; iteration < steps!; iteration++) {
  const at = Date.now();
  const begun = performance.now();
  await sleep(computing / 3);
  const forward = performance.now() - begun;
  await sleep((2 * computing) / 3);
  const backward = performance.now() - begun - forward;
  writeSync(memory, values, 0, byteLength, 0);
  bridge.send({ type: 'ready', from: 0 });
  const averaged = await bridge.next();
  const arrived = performance.now();
  readSync(memory, values, 0, byteLength, 0);
  const now = performance.now();
  const times = { wall: now - begun, data: 0, forward, backward, apply: now - arrived };
  bridge.send({
    type: 'stepped',
    step: { at, lr: 0.1, ...times },
    values: { loss: 1 },
  });
  if (averaged['hold'] === true) await held();
}
bridge.send({ type: 'end' });
await held();
closeSync(memory);
process.exit(0);

/** Serves a held program until it may go on. */
async function held(): Promise<void> {
  for (;;) {
    const { type } = await bridge.next();
    if (type === 'go') return;
    if (type === 'read') {
      writeSync(memory, values, 0, byteLength, 0);
      bridge.send({ type: 'written', states: 1 });
    } else if (type === 'write') {
      readSync(memory, values, 0, byteLength, 0);
      bridge.send({ type: 'loaded' });
    }
  }
}

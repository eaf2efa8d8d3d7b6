/**
 * A program that speaks the bridge's protocol by itself, without Python: what a rank does is seen
 * from outside of the package `gradwire`. Its gradient is known, so it checks each average.
 *
 *     node scripted-program.ts STEPS [fault [ITERATION,…]]
 *
 * With the fault `spoilt` the gradient of rank 1 has a NaN in these iterations, in the part that
 * comes last; with `omitting` they do not take place. With `observe until traced` it makes steps until those that are to
 * be traced have passed.
 */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { ScriptedBridge } from './scripted-bridge.ts';

const [steps = '20', fault = '', named = ''] = process.argv.slice(2);
const marked = named.split(',').map(Number);
const isLossy = ['lossy', 'spoilt', 'omitting'].includes(fault);
const rank = Number(process.env['RANK']);
const world = Number(process.env['WORLD_SIZE']);
const ELEMENTS = fault === 'model' && rank === 1 ? 900 : 1000;

if (fault === 'places') {
  const { LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT } = process.env;
  if (MASTER_ADDR === '' || Number(MASTER_PORT) < 1024) throw new Error('no master');
  process.stdout.write(`place ${LOCAL_RANK} of ${LOCAL_WORLD_SIZE}\n`);
}
const bridge = new ScriptedBridge(process.env['GRADWIRE_BRIDGE']!);
const mode = fault.startsWith('observe') ? 'observe' : 'join';
const version = fault === 'version' ? 99 : 1;
bridge.send({
  type: 'hello',
  version,
  mode,
  pid: process.pid,
  python: '-',
  torch: '-',
});
if (fault === 'garbage') bridge.raw(Buffer.from('{"type":"ready","from":-1}'));
const tensors = [
  { name: 'first', shape: [ELEMENTS / 10, 10] },
  { name: 'empty', shape: [0, 3] },
  { name: 'last', shape: [] },
];
bridge.send({ type: 'attach', tensors, device: 'scripted' });

const LENGTH = ELEMENTS + 1;
const step = {
  at: Date.now(),
  wall: 8,
  data: 1,
  forward: 2,
  backward: 3,
  apply: 1,
  lr: 0.5,
  ...(mode === 'observe'
    ? {
        wait: 0.5,
        overlapped: 0.25,
        bytes: 4 * LENGTH,
        buckets: [[0, 0, 0.75, 0.5, 0.25, 1]],
      }
    : {}),
};
/** All of the model is one bucket. */
const bucket = {
  place: 0,
  name: 'first … last',
  tensors: 3,
  length: LENGTH,
  bytes: 4 * LENGTH,
  dtype: 'float32',
  encoded: false,
};
const weights = new Float32Array(LENGTH);
const velocity = new Float32Array(LENGTH);
let memory = -1;

const write = (values: Float32Array, from: number, to: number): void => {
  writeSync(memory, values, 4 * from, 4 * (to - from), 4 * from);
};
const read = (values: Float32Array): void => {
  readSync(memory, values, 0, values.byteLength, 0);
};

/** Serves a held program until it may go on. */
async function held(): Promise<void> {
  for (;;) {
    const message = await bridge.next();
    const vector = message['vector'] === 0 ? weights : velocity;
    if (message.type === 'read') {
      write(vector, 0, LENGTH);
      bridge.send({ type: 'written', states: 1 });
    } else if (message.type === 'write') {
      read(vector);
      bridge.send({ type: 'loaded' });
    } else if (message.type === 'go') {
      if (message['stop'] === true) {
        process.stdout.write('asked to stop\n', () => process.exit(0));
        await new Promise(() => undefined);
      }
      return;
    } else throw new Error(`held, but told ${message.type}`);
  }
}

/** Averages whose sums are exact: each has few bits. */
const valueOf = (iteration: number, element: number, of: number): number =>
  ((element % 16) + 1) * (of + 1) + (iteration % 8);

async function exchange(iteration: number): Promise<void> {
  const gradient = new Float32Array(LENGTH).map((_, i) => valueOf(iteration, i, rank));
  if (fault === 'spoilt' && rank === 1 && marked.includes(iteration)) gradient[3] = NaN;
  for (const [from, to] of [
    [ELEMENTS, LENGTH],
    [ELEMENTS / 2, ELEMENTS],
    [0, ELEMENTS / 2],
  ] as const) {
    write(gradient, from, to);
    bridge.send({ type: 'ready', from });
  }
  const averaged = await bridge.next();
  if (averaged.type !== 'averaged')
    throw new Error(`averaging, but told ${averaged.type}`);
  read(gradient);
  const isSkipped = fault === 'spoilt' && marked.includes(iteration);
  // Values that are sent as they are have their average, with the NaN in it.
  const has = averaged['finite'] === true && gradient.every(Number.isFinite);
  if (has === isSkipped) throw new Error(`iteration ${iteration} is finite: ${has}`);
  for (const [i, value] of gradient.entries()) {
    if (isSkipped) break;
    if (!isLossy) {
      let sum = 0;
      for (let of = 0; of < world; of++) sum += valueOf(iteration, i, of);
      if (Math.abs(value - sum / world) > 1e-4) {
        throw new Error(`element ${i} of iteration ${iteration} is ${value}`);
      }
    }
    velocity[i] = 0.5 * velocity[i]! + value;
    weights[i]! -= step.lr * velocity[i]!;
  }
  const isOdd = fault === 'logs odd numbers' && iteration >= 2;
  const values = isOdd
    ? { loss: 'NaN', accuracy: '-Infinity' }
    : { loss: 1 / (iteration + 1) };
  bridge.send({ type: 'stepped', step, values });
  if (averaged['hold'] === true) await held();
}

const isUneven = fault === 'uneven' || fault === 'exits early';
const wanted = Number(steps) + (isUneven ? rank : 0);
const memoryOrNot = await bridge.next();
if (memoryOrNot.type === 'memory') {
  memory = openSync(memoryOrNot['path'] as string, 'r+');
  bridge.send({ type: 'mapped' });
  await bridge.next();
}
process.stdout.write(`rank ${rank} of ${world} begins\n`);
if (fault === 'observe until traced') {
  for (let made = 0; made < 5; made++) {
    bridge.send({ type: 'stepped', step, layout: made === 0 ? [bucket] : [] });
  }
  const asked = await bridge.next();
  const [first, count] = [Number(asked['first']), Number(asked['steps'])];
  const trace = { wall: 8e6, spans: [['forward', 1e6, 2e6]] };
  for (let made = 5; made < first + count; made++) {
    bridge.send({ type: 'stepped', step: made < first ? step : { ...step, trace } });
  }
  bridge.send({ type: 'end' });
  await held();
  process.exit(0);
}
for (let iteration = 0; iteration < wanted; iteration++) {
  if (fault === 'hangs' && iteration === 20) {
    setInterval(() => undefined, 60_000);
    await new Promise(() => undefined);
  }
  if (fault === 'throws' && rank === 1 && iteration === 5) throw new Error('no more');
  if (fault === 'leaves' && rank === 1 && iteration === 5) process.exit(0);
  if (fault === 'omitting' && marked.includes(iteration)) continue;
  if (mode === 'join') await exchange(iteration);
  else {
    if (fault === 'observe the optimiser') {
      const { apply, at, lr, wall } = step;
      bridge.send({ type: 'stepped', step: { apply, at, lr, wall } });
      continue;
    }
    if (fault === 'observe for a while' && iteration === 5) {
      bridge.send({ type: 'unseen', why: `ValueError('\u{1b}[31mno moment')` });
      process.exit(0);
    }
    const loss = iteration === 3 ? 'NaN' : 0.25;
    const told = iteration === 0 ? { layout: [bucket] } : {};
    bridge.send({ type: 'stepped', step, values: { loss, accuracy: 0.5 }, ...told });
  }
}
bridge.send({ type: 'end' });
await held();
if (memory >= 0) closeSync(memory);
process.exit(fault === 'fails late' || fault === 'exits early' ? 3 : 0);

/**
 * The doors for messages of a program, and of PyTorch's process, take only what these may say:
 * whatever else comes is one coded error, and what passes has the values that ranks rely on.
 */
import { describe, expect, it } from 'vitest';
import { MOST_MODELS, programDecoder } from '../../../src/agent/bridge/messages.ts';
import { requireTurn, requireTurns } from '../../../src/agent/bridge/program-turns.ts';
import { setOf } from '../../../src/agent/exchange/model-part.ts';
import { torchDecoder } from '../../../src/agent/torch/messages.ts';
import { GradwireError } from '../../../src/shared/errors/errors.ts';
import type { FrameDecoder } from '../../../src/shared/protocol/frame.ts';
import { effort, seed } from '../../harness/effort.ts';
import { below, mangled, mutant, oneOf, type Random } from '../../harness/mutations.ts';

const step = { at: 1e12, wall: 8, data: 1, forward: 2, backward: 3, apply: 1, lr: 0.5 };
type Told = Readonly<Record<string, unknown>>;

const OF_PROGRAM: readonly Told[] = [
  { type: 'hello', version: 1, mode: 'join', pid: 7, python: '3.11', torch: '2.13' },
  {
    type: 'attach',
    tensors: [
      { name: 'first', shape: [10, 3] },
      { name: 'scalar', shape: [] },
    ],
    device: 'cpu',
    scaler: true,
  },
  {
    type: 'attach',
    tensors: [
      { name: 'actor.first', shape: [10, 3] },
      { name: 'critic.first', shape: [2] },
      { name: 'critic.second', shape: [] },
    ],
    turns: [
      { name: 'actor', tensors: 1 },
      { name: 'critic', tensors: 2 },
    ],
  },
  { type: 'mapped' },
  { type: 'ready', from: 12 },
  { type: 'ready', from: 0, models: [1] },
  { type: 'ready', from: 0, models: [0, 1] },
  { type: 'stepped', step, values: { loss: 0.5, endless: 'Infinity' } },
  { type: 'unseen', why: 'no moment' },
  { type: 'stepped', step: { ...step, wait: 1, overlapped: 2, bytes: 40 }, values: {} },
  { type: 'stepped', step, values: { loss: 0.5 }, printed: 'step 12 loss 0.5' },
  {
    type: 'stepped',
    step: {
      ...step,
      trace: {
        spans: [['forward', 1_000_000, 2_000_000]],
        dropped: 1,
        exchange: [5, 9],
      },
    },
    values: {},
  },
  { type: 'written', states: 2 },
  { type: 'loaded' },
  { type: 'save' },
  { type: 'restore', method: 'topk', iteration: 3, own: true, states: ['AAAA'] },
  { type: 'end' },
  { type: 'end', last: true },
];
const OF_TORCH: readonly Told[] = [
  { type: 'hello', version: 2, python: '3.11', torch: '2.13', gpus: 1 },
  { type: 'hello', version: 2, python: '3.11', why: 'no module named torch' },
  { type: 'using', name: 'CPU' },
  { type: 'ready', from: 12 },
  { type: 'done' },
];
const REFUSALS = ['BRIDGE_INVALID', 'FRAME_TOO_LARGE', 'FRAME_INVALID'];

/** Park and Miller's generator. */
function randomFrom(start: number): Random {
  let state = (start % 2147483646) + 1;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}

const isCount = (value: unknown): boolean =>
  Number.isSafeInteger(value) && (value as number) >= 0;

interface ToldTrace {
  readonly spans: readonly (readonly [unknown, unknown, unknown])[];
  readonly dropped: unknown;
  readonly exchange?: readonly unknown[];
}

/** A record of it can be stored, wherever its step began. */
function expectUsableTrace({ dropped, exchange = [], spans }: ToldTrace): void {
  expect(spans.length).toBeLessThanOrEqual(4000);
  for (const [phase, begin, duration] of spans) {
    expect(['data', 'forward', 'backward', 'apply']).toContain(phase);
    expect([begin, duration].every(isCount)).toBe(true);
    expect(isCount((begin as number) + (duration as number))).toBe(true);
  }
  expect([dropped, ...exchange].every(isCount)).toBe(true);
}

/** Facts by which ranks count on a message; written without the schemas. */
function expectUsable(message: Told): void {
  const { type } = message;
  expect(OF_PROGRAM.map((one) => one['type'])).toContain(type);
  if (type === 'ready') {
    const { from, models = [] } = message as { from: unknown; models?: unknown[] };
    expect([from, ...models].every(isCount)).toBe(true);
    expect(models.length).toBeLessThanOrEqual(MOST_MODELS);
  }
  if (type === 'written') expect(isCount(message['states'])).toBe(true);
  if (type === 'attach') {
    const tensors = message['tensors'] as { name: unknown; shape: unknown[] }[];
    expect(tensors.length).toBeGreaterThan(0);
    for (const { name, shape } of tensors) {
      expect(typeof name === 'string' && name !== '').toBe(true);
      expect(shape.every(isCount)).toBe(true);
    }
    const turns = (message['turns'] ?? []) as { name: unknown; tensors: unknown }[];
    expect(turns.length === 0 || turns.length > 1).toBe(true);
    expect(turns.length).toBeLessThanOrEqual(MOST_MODELS);
    for (const { name, tensors: own } of turns) {
      expect(typeof name === 'string' && isCount(own) && own !== 0).toBe(true);
    }
  }
  if (type === 'stepped') {
    const {
      printed,
      step: told,
      values,
    } = message as Record<'step' | 'values', object> & {
      printed?: string;
    };
    if (printed !== undefined) expect(printed.length).toBeLessThanOrEqual(200);
    const { trace, ...numbers } = told as { trace?: ToldTrace };
    for (const value of Object.values(numbers))
      expect(Number.isFinite(value)).toBe(true);
    if (trace !== undefined) expectUsableTrace(trace);
    for (const value of Object.values(values)) expect(typeof value).toBe('number');
  }
  if (type === 'restore') {
    for (const one of message['states'] as unknown[]) expect(typeof one).toBe('string');
  }
}

/** Facts by which a rank counts on a message of PyTorch's process. */
function expectUsableOfTorch(message: Told): void {
  const { type } = message;
  expect(OF_TORCH.map((one) => one['type'])).toContain(type);
  if (type === 'ready') expect(isCount(message['from'])).toBe(true);
  if (type === 'using') expect(typeof message['name']).toBe('string');
  if (type !== 'hello') return;
  expect([message['version'], message['gpus']].every(isCount)).toBe(true);
  for (const text of [message['torch'], message['why']]) {
    expect(['string', 'undefined']).toContain(typeof text);
  }
}

interface Door {
  readonly whose: string;
  readonly honest: readonly Told[];
  readonly open: () => FrameDecoder<Told>;
  readonly expectUsable: (message: Told) => void;
}

const DOORS: readonly Door[] = [
  {
    whose: 'the program',
    honest: OF_PROGRAM,
    open: () => programDecoder(0),
    expectUsable,
  },
  {
    whose: 'PyTorch’s process',
    honest: OF_TORCH,
    open: () => torchDecoder(0),
    expectUsable: expectUsableOfTorch,
  },
];

function frame(body: Uint8Array): Uint8Array {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(body.length);
  return Buffer.concat([length, body]);
}

const asJson = (message: unknown): string =>
  JSON.stringify(message, (_, value: unknown) =>
    typeof value === 'bigint' ? Number(value) : value,
  ) ?? 'null';

describe.each(DOORS)('the door of $whose', ({ expectUsable: usable, honest, open }) => {
  it('takes what is honest', () => {
    for (const message of honest) {
      expect([...open().push(frame(Buffer.from(asJson(message))))]).toMatchObject([
        { type: message['type'] },
      ]);
    }
  });

  it('refuses what is no message, whatever it is, with one code', () => {
    const random = randomFrom(seed);
    const seen = { passed: 0, refused: 0 };
    for (let left = effort({ quick: 3000, soak: 100_000 }); left > 0; left--) {
      const one = oneOf(random, honest);
      const text = asJson(random() < 0.7 ? mutant(random, one) : one);
      const whole = frame(Buffer.from(text));
      const bytes = random() < 0.3 ? mangled(random, whole) : whole;
      const decoder = open();
      const cut = below(random, bytes.length + 1);
      try {
        for (const piece of [bytes.subarray(0, cut), bytes.subarray(cut)]) {
          for (const message of decoder.push(piece)) {
            usable(message);
            seen.passed++;
          }
        }
      } catch (error) {
        if (!(error instanceof GradwireError)) throw error;
        expect(REFUSALS).toContain(error.code);
        expect(error.message.length).toBeLessThan(2000);
        seen.refused++;
      }
      expect(({} as Record<string, unknown>)['new0']).toBeUndefined();
    }
    expect(Math.min(seen.passed, seen.refused)).toBeGreaterThan(200);
  });
});

it('takes a printed line of 200 characters, and no longer one', () => {
  const told = (length: number) => {
    const printed = 'x'.repeat(length);
    const text = asJson({ type: 'stepped', step, values: { loss: 0.5 }, printed });
    return [...programDecoder(0).push(frame(Buffer.from(text)))];
  };
  expect(told(200)).toMatchObject([{ printed: 'x'.repeat(200) }]);
  expect(() => told(201)).toThrow(/message of the program/);
});

it('takes the models of a step only as a set of those that step in turns', () => {
  const random = randomFrom(seed);
  const seen = { passed: 0, refused: 0 };
  for (let left = effort({ quick: 3000, soak: 100_000 }); left > 0; left--) {
    const turns = below(random, 5);
    const from = below(random, 2);
    const models = Array.from({ length: below(random, 4) }, () => below(random, 6));
    const isSet = setOf(models) === models.reduce((sum, model) => sum + 2 ** model, 0);
    const isSorted = models
      .toSorted((a, b) => a - b)
      .every((one, i) => one === models[i]);
    const fits =
      turns === 0
        ? models.length === 0
        : from === 0 && models.length > 0 && models.every((model) => model < turns);
    try {
      expect(requireTurn({ from, models }, turns, 0)).toEqual(models);
      expect(fits && isSet && isSorted).toBe(true);
      seen.passed++;
    } catch (error) {
      if (!(error instanceof GradwireError)) throw error;
      expect(error).toMatchObject({ code: 'BRIDGE_INVALID', rank: 0 });
      expect(fits && isSet && isSorted).toBe(false);
      seen.refused++;
    }
  }
  expect(Math.min(seen.passed, seen.refused)).toBeGreaterThan(200);
});

it('takes models only if they have all tensors between them', () => {
  const tensors = ['a', 'b', 'c'].map((name) => ({ name, shape: [2] }));
  const turns = [1, 2].map((count) => ({ name: String(count), tensors: count }));
  expect(requireTurns({ tensors }, 0)).toBe(0);
  expect(requireTurns({ tensors, turns }, 0)).toBe(2);
  for (const wrong of [tensors.slice(1), [...tensors, ...tensors]]) {
    expect(() => requireTurns({ tensors: wrong, turns }, 0)).toThrow(
      /models of 3 tensors/,
    );
  }
});

/**
 * What the methods' definitions state of their messages, against what their compressors
 * send of Gaussian entries: to the byte where a size does not depend on the gradient, else
 * within the factor that stands beside the case.
 */
import { describe, expect, test } from 'vitest';
import type { Combined } from '../../../src/agent/memory/payload.ts';
import {
  carriageOf,
  residualOf,
  type CommunicationRequest,
  type ExpectedMessage,
  type TensorSlice,
} from '../../../src/agent/methods/method.ts';
import {
  findMethod,
  methods,
  validateParameters,
} from '../../../src/agent/methods/registry.ts';
import type { JsonObject } from '../../../src/shared/checks/json.ts';
import { backends } from '../kernels/backends.ts';
import { GOLDEN } from './golden-methods.ts';
import { openInArena } from './open-in-arena.ts';

const LENGTHS = [0, 1, 10, 511, 512, 513, 199_210];
/** Of the noise that estimates are stated for. */
const DEVIATION = 0.01;
/** Beyond all warm-ups and ramps below. */
const LATE = 5000;

interface Case {
  readonly method: string;
  readonly parameters?: JsonObject;
  /** Of sizes that are stated as estimates. */
  readonly within?: number;
  /** Until the residual has settled. */
  readonly iterations?: number;
  /** Of the golden methods. */
  readonly golden?: boolean;
}

/** Beside those of the golden methods. */
const MORE: readonly Case[] = [
  { method: 'none' },
  { method: 'nonzero', within: 1.01 },
  { method: 'blockcd' },
  { method: 'blockcd', parameters: { k: 511 } },
  { method: 'topk' },
  { method: 'topk', parameters: { ratio: 1 } },
  { method: 'topk', parameters: { k: 300 } },
  { method: 'topk', parameters: { k: 2, bucket: 512 } },
  { method: 'topk', parameters: { ratio: 0.1, bucket: 100, minElements: 1000 } },
  { method: 'topk', parameters: { quantize: { bits: 4, bucket: 64 } } },
  {
    method: 'topk',
    parameters: { warmupIterations: 100, rampIterations: 200, rampFrom: 1 },
  },
  { method: 'randomk', parameters: { ratio: 1e-4 } },
  { method: 'randomk', parameters: { k: 1000 } },
  {
    method: 'randomk',
    parameters: { ratio: 0.001, warmupIterations: 100, rampIterations: 200 },
  },
  { method: 'threshold', within: 1.25, iterations: 20 },
  {
    method: 'threshold',
    parameters: { threshold: 0.02 },
    within: 1.25,
    iterations: 40,
  },
  {
    method: 'threshold',
    parameters: { threshold: 0.04 },
    within: 1.25,
    iterations: 100,
  },
  { method: 'gaussiank', within: 4 / 3, iterations: 3 },
  { method: 'gaussiank', parameters: { ratio: 0.2 }, within: 4 / 3 },
  { method: 'dct', within: 4, iterations: 6 },
  { method: 'dct', parameters: { ratio: 0.1, band: 1.5 }, within: 1.5, iterations: 6 },
  { method: 'dgc', iterations: 2 },
  { method: 'dgc', parameters: { ratio: 0.05, rampIterations: 100 } },
  { method: 'scalecom' },
  { method: 'scalecom', parameters: { ratio: 0.07, selection: 'exact' } },
  { method: 'scalecom', parameters: { selection: 'chunk' } },
  {
    method: 'scalecom',
    parameters: { ratio: 0.1, selection: 'chunk', chunk: 64, diagnosticsEvery: 1 },
  },
  { method: 'scalecom', parameters: { diagnosticsEvery: 1000 } },
  { method: 'topk', parameters: { ratio: 0.1, diagnosticsEvery: 1 } },
  { method: 'dgc', parameters: { ratio: 0.1, diagnosticsEvery: 1 } },
  { method: 'powersgd' },
  { method: 'powersgd', parameters: { rank: 1 } },
  { method: 'powersgd', parameters: { rank: 16 } },
  { method: 'fp8' },
  { method: 'fp8', parameters: { format: 'e5m2', minElements: 400 } },
  { method: 'qsgd' },
  { method: 'qsgd', parameters: { bits: 2, minElements: 0 } },
  { method: 'qsgd', parameters: { bits: 8, bucket: 100, minElements: 0 } },
  { method: 'qsgd', parameters: { levels: 3, minElements: 400 } },
  ...['auto', 'sparse', 'dense'].flatMap((form) =>
    [
      { bits: 4 },
      { bits: 2, scale: 'l2' },
      { levels: 100, scale: 'l2', bucket: 10_000 },
      { levels: 1, scale: 'l2', bucket: 100_000 },
    ].map((given) => ({
      method: 'qsgd',
      parameters: { ...given, coding: 'elias', form, minElements: 0 },
      within: 1.1,
    })),
  ),
  { method: 'terngrad' },
  { method: 'terngrad', parameters: { minElements: 100 } },
  { method: 'qgd', within: 1.3 },
  { method: 'qgd', parameters: { minElements: 0 }, within: 1.3 },
  { method: 'onebit' },
  { method: 'onebit', parameters: { bucket: 100, minElements: 0 } },
  { method: 'onebit', parameters: { granularity: 'column', minElements: 0 } },
  { method: 'a2sgd' },
  { method: 'a2sgd', parameters: { granularity: 'tensor' } },
  { method: 'a2sgd', parameters: { mode: 'allgather' } },
];

const CASES: readonly Case[] = [
  ...GOLDEN.map(({ method, parameters }) => ({ method, parameters, golden: true })),
  ...MORE,
];

/** One vector; or a matrix, as square as it can be, and what is left of the elements. */
function tensorsOf(length: number, matrix: boolean): TensorSlice[] {
  const side = Math.floor(Math.sqrt(length));
  if (!matrix) return [{ name: 'v', start: 0, length, shape: [length] }];
  const start = side * side;
  return [
    { name: 'm', start: 0, length: start, shape: [side, side] },
    { name: 'b', start, length: length - start, shape: [length - start] },
  ];
}

/** Messages of the last of the exchanges, as they are handed to a world of one rank. */
async function sent(
  { method: id, parameters = {}, iterations = 1 }: Case,
  tensors: readonly TensorSlice[],
  length: number,
): Promise<readonly ExpectedMessage[]> {
  const { arena, kernels } = backends.wasm();
  const method = findMethod(id);
  const valid = validateParameters(method, parameters);
  const { reducible } = carriageOf(method, valid);
  const residual = { ...arena.allocateVector(length), length };
  kernels.fill(residual, 0);
  const context = {
    length,
    tensors,
    parameters: valid,
    seed: 1,
    rank: 0,
    world: 1,
    bucket: 0,
    residual: residualOf(method, valid) === 'none' ? undefined : residual,
  };
  const gradient = { ...arena.allocateVector(length), length };
  using compressor = openInArena({ arena, kernels, method, context, gradient });
  let messages: ExpectedMessage[] = [];
  const answer = ({ operation, payload }: CommunicationRequest): Combined => {
    const { kind, length: elements, data } = payload;
    messages.push({
      operation,
      kind,
      length: elements,
      bytes: data.bytes,
      ...(payload.kind === 'sparse' ? { entries: payload.count } : {}),
      ...(payload.kind === 'dense' && payload.values ? { valueBytes: 2 } : {}),
    });
    if (operation !== 'reduce') return { form: 'gathered', payloads: [payload] };
    return payload.kind === 'sparse'
      ? { form: 'sparse', count: payload.count, data }
      : { form: 'dense', data };
  };
  for (let iteration = LATE; iteration < LATE + iterations; iteration++) {
    messages = [];
    const drawn = (iteration * 65_537) % (NOISE.length - length);
    arena.f32(gradient).set(NOISE.subarray(drawn, drawn + length));
    if (compressor.talks) {
      await compressor.exchange(iteration, (request) =>
        Promise.resolve(answer(request)),
      );
      continue;
    }
    const payload = await compressor.encode(iteration);
    const operation = reducible || payload.kind === 'dense' ? 'reduce' : 'gather';
    await compressor.decode(answer({ operation, payload }), iteration);
  }
  return messages;
}

/** Box and Muller's transform of Park and Miller's generator: entries to cut vectors from. */
const NOISE = Float32Array.from({ length: 1_200_000 }, gaussian());

function gaussian(): () => number {
  let state = 20_261_122;
  const uniform = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  return () =>
    DEVIATION * Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

function stated(
  { method: id, parameters = {} }: Case,
  tensors: readonly TensorSlice[],
  length: number,
): readonly ExpectedMessage[] {
  const method = findMethod(id);
  const valid = validateParameters(method, parameters);
  return method.messages(valid, { length, tensors, world: 1 });
}

test('every method is among the cases', () => {
  expect(new Set(CASES.map(({ method }) => method))).toEqual(new Set(methods.keys()));
});

describe.each(CASES)('$method $parameters', (each) => {
  test.each(LENGTHS)('of %i elements sends what it states', async (length) => {
    for (const matrix of [false, true]) {
      const tensors = tensorsOf(length, matrix);
      const messages = await sent(each, tensors, length);
      const expected = stated(each, tensors, length);
      expect(expected).toHaveLength(messages.length);
      for (const [index, message] of messages.entries()) {
        const { estimated, bytes, entries, ...rest } = expected[index]!;
        expect(message).toMatchObject(rest);
        if (estimated === undefined) {
          expect(expected[index]).toEqual(message);
          continue;
        }
        if (each.within === undefined) {
          // Golden gradients are not those that estimates are stated for.
          expect(each.golden, 'an estimate').toBe(true);
          continue;
        }
        if (entries !== undefined) expect(bytes).toBe(8 * entries);
        // Of a few elements an estimate is good to a few entries, or words.
        const slack = 24 + (length < 1000 ? 0.25 * message.bytes : 0);
        expect(bytes).toBeLessThanOrEqual(each.within * message.bytes + slack);
        expect(bytes).toBeGreaterThanOrEqual(message.bytes / each.within - slack);
      }
    }
  });
});

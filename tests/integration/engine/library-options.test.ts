/**
 * Every function of `gradwire/engine` that takes options refuses what it does not know, before
 * anything starts, with the option's name and value. An export that is in none of the tables
 * below fails: new ones say here what they take.
 */
import { afterAll, describe, expect, test } from 'vitest';
import * as engine from '../../../src/agent/engine.ts';
import { ring } from '../../../src/agent/collectives/ring.ts';
import { none } from '../../../src/agent/methods/none.ts';
import { TransportCommunicator } from '../../../src/agent/collectives/communicator.ts';
import type { Transport } from '../../../src/agent/transport/transport.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import { SPEC } from '../../unit/rpc/small-core.ts';

type Options = Readonly<Record<string, unknown>>;

interface Taker {
  /** Options that are right, as far as they are checked before anything starts. */
  readonly good: Options;
  readonly call: (options: never) => unknown;
  /** Values that each option refuses; NaN, null and a list are tried of all. */
  readonly bad: Readonly<Record<string, readonly unknown[]>>;
  /** Options that are checked elsewhere, and what the error's code is then. */
  readonly others?: Readonly<Record<string, RegExp>>;
}

const arena = new engine.Arena();
const spec = parseExperimentSpec(SPEC);
const network = { alpha: 1e-6, beta: 1e-9, gamma: 1e-10 };
const provenance = {
  method: 'topk',
  parameters: { ratio: 0.1 },
  n: 4,
  shape: [4],
  seed: 1,
  rank: 0,
  iteration: 0,
};
const words = [-1, 1.5, Infinity, 2 ** 32, '1'];

/** A rank whose peers are never needed: its options are refused first. */
const alone = {
  rank: 0,
  size: 2,
  close: () => Promise.resolve(),
} as unknown as Transport;
const kernels = engine.referenceKernels(arena);
const group = new engine.RankGroup(alone, arena, kernels);
const stream = new engine.GroupStream(
  new TransportCommunicator({ arena, kernels, transport: alone, stream: 1 }),
);
const payload = { kind: 'dense', length: 1, data: arena.allocate(4) } as const;

const seat = await engine.RankSeat.listen('127.0.0.1');
afterAll(() => seat[Symbol.dispose]());

const TAKERS: Readonly<Record<string, Taker>> = {
  LoneRank: {
    good: { method: 'topk', parameters: {}, shape: [4], seed: 1, rank: 0 },
    call: (options) => new engine.LoneRank(options),
    bad: {
      method: [7],
      parameters: ['ratio'],
      shape: [3, [], [1.5], [-1], ['4']],
      seed: words,
      rank: words,
    },
    others: { backend: /^BACKEND_UNKNOWN$/ },
  },
  packPayload: {
    good: { provenance, payload: new Uint8Array(4) },
    call: engine.packPayload,
    bad: { payload: ['abcd', [1, 2]] },
  },
  packRankState: {
    good: { residual: new Float32Array(4), method: new Uint8Array(0) },
    call: (state) => engine.packRankState({ provenance, state }),
    bad: {
      residual: [new Float32Array(3), Float32Array.of(0, 0, 0, NaN), [0, 0, 0, 0]],
      method: ['', [1]],
    },
  },
  startWasmKernels: {
    good: { threads: 1, longest: 10 },
    call: (options) => engine.startWasmKernels(arena, options),
    bad: { threads: [0, -1, 1.5, '2', Infinity], longest: [-1, '10'] },
  },
  CounterRandom: {
    good: { seed: 1, rank: 0, bucket: 0, iteration: 0, purpose: 0 },
    call: (options) => new engine.CounterRandom(options),
    bad: { seed: words, rank: words, bucket: words, iteration: words, purpose: words },
  },
  allreduceFiles: {
    good: {
      ranks: 2,
      algorithm: 'ring',
      operation: 'sum',
      values: 'f32',
      seed: 1,
      transport: 'tcp',
      encrypt: false,
      inputs: ['a', 'b'],
      outputs: ['c', 'd'],
      ...{
        places: [0, 1],
        network: { bandwidth: 1e9, latency: 0 },
        servers: undefined,
      },
      quantization: { bits: 4, bucket: 512, scale: 'max' },
    },
    call: engine.allreduceFiles,
    bad: {
      ranks: [0, -1, 1.5, Infinity, '2'],
      algorithm: [7],
      operation: ['add', 7],
      values: ['f16'],
      transport: ['pigeon'],
      encrypt: ['no', 0],
      seed: words,
      inputs: ['a', [], ['a'], ['a', 7], ['a', 'b', 'c']],
      outputs: [['c'], ['c', '']],
      network: [{ bandwidth: -1, latency: 0 }, { bandwidth: 1e9, latency: NaN }, 7],
      quantization: [{ bits: 3 }, { bits: 4, bukket: 5 }, { bits: 4, format: 'e4m3' }],
      places: [{}],
      servers: ['1'],
    },
  },
  measureNetwork: {
    good: { ranks: 2, transport: 'tcp', effort: 'quick', signal: AbortSignal.abort() },
    call: engine.measureNetwork,
    bad: {
      ranks: [1, 0, -2, 2.5, 1e9, '2'],
      transport: ['udp'],
      effort: ['some'],
      signal: [{}],
    },
  },
  forecastSpec: {
    good: {
      spec,
      ranks: [2],
      networkOf: () => network,
      compute: 0.1,
      placesOf: undefined,
    },
    call: engine.forecastSpec,
    bad: {
      ranks: [2, [0], [1.5], ['2'], []],
      networkOf: [network, () => ({ ...network, alpha: NaN }), () => undefined],
      placesOf: [[0, 0]],
      compute: [-1, Infinity, '1'],
      known: [7, { model: {} }],
    },
    others: { spec: /^SPEC_INVALID$/ },
  },
  specMemory: {
    good: { ranks: [2], known: undefined, step: undefined, elements: undefined },
    call: ({
      ranks,
      known,
      step,
      elements,
    }: {
      readonly ranks: number[];
      readonly known: undefined;
      readonly step: undefined;
      readonly elements: undefined;
    }) => engine.specMemory(spec, ranks, known, step, elements),
    bad: {
      ranks: [2, [0], [1.5], ['2'], []],
      known: [7, { data: { train: -1 } }],
      step: [7, { computing: -1, compiling: 0 }],
      elements: [0, 0.5, '7'],
    },
  },
  stepMemory: {
    good: { known: {} },
    call: ({ known }: { readonly known: object }) => engine.stepMemory(spec, known),
    bad: { known: [7, { data: { train: -1 } }] },
  },
  inspectSpec: {
    good: { spec },
    call: ({ spec: given }: { readonly spec: typeof spec }) =>
      engine.inspectSpec(given),
    bad: {},
    others: { spec: /^SPEC_INVALID$/ },
  },
  layerRates: {
    good: { id: 'scalecom' },
    call: ({ id }: { readonly id: string }) => engine.layerRates(spec, id),
    bad: { id: [7] },
  },
  'RankSeat.listen': {
    good: { host: '127.0.0.1' },
    call: ({ host }: { readonly host: string }) => engine.RankSeat.listen(host),
    bad: { host: ['', 7] },
  },
  'RankSeat.join': {
    good: {
      ...{
        rank: 0,
        addresses: [seat.address, seat.address],
        runId: 'r',
        places: [0, 0],
      },
      secret: new Uint8Array(32),
      encrypt: false,
      timeoutMs: 100,
      silenceMs: 100,
      kernels: { arena, kernels },
    },
    call: (options) => seat.join(options),
    bad: {
      rank: [-1, 2, 0.5, '0'],
      addresses: [[], [7], [{ host: 'a', port: 0 }]],
      runId: ['', 7],
      secret: [new Uint8Array(8), 'secret'],
      encrypt: [1],
      timeoutMs: [0, -1, Infinity],
      silenceMs: [0, -1, Infinity],
      places: [{}],
      kernels: [{}],
    },
  },
  'RankGroup.stream': {
    good: { number: 9, operation: 'sum', values: 'f32', seed: 0 },
    call: ({ number, ...options }: { readonly number: number }) =>
      group.stream(number, options),
    bad: { number: words, operation: ['add'], values: ['f16'], seed: words },
  },
  'GroupStream.allreduce': {
    good: { algorithm: 'ring', quantization: undefined, servers: undefined },
    call: (options) => stream.allreduce(payload, options),
    bad: { algorithm: [7], quantization: [{ bits: 3 }, { format: 8 }], servers: ['1'] },
  },
  'GroupStream.reduceScatter': {
    good: { quantization: undefined },
    call: ({ quantization }: { readonly quantization: undefined }) =>
      stream.reduceScatter({ offset: 0, length: 0 }, quantization),
    bad: { quantization: [{ bits: 3 }, { bits: 4, bukket: 5 }, { format: 'e3m4' }] },
  },
};

/** Takers of which some options are parameters: `call` makes one object of them. */
const BY_POSITION = [
  ...['layerRates', 'RankSeat.listen', 'RankGroup.stream', 'specMemory'],
  ...['GroupStream.reduceScatter', 'inspectSpec', 'stepMemory'],
];

/** Exports without options. */
const PLAIN = [
  // Of values that they take alone, or of memory that they work on.
  ...['vectorOf', 'sparseBytes', 'closeStream', 'carriageOf', 'run', 'wait'],
  ...['formatError', 'GradwireError', 'Arena', 'ArenaWork', 'wasmKernels'],
  ...['referenceKernels', 'loadWasmKernels', 'unpackPayload', 'unpackRankState'],
  ...['describeMethods', 'describeCollectives', 'makeCatalogue', 'syntheticProfiles'],
  // Checked by their own codes, below.
  ...['findMethod', 'validateParameters', 'refuseIdle', 'openBackend'],
  ...['openCpuBackend', 'registerMethod', 'registerCollective'],
  // A class that only `join` makes, and one that only a group opens.
  ...['RankSeat', 'RankGroup', 'GroupStream'],
];

test('every export with options is in the table', () => {
  const functions = Object.entries(engine)
    .filter(([, value]) => typeof value === 'function')
    .map(([name]) => name);
  const known = new Set([...PLAIN, ...Object.keys(TAKERS)]);
  expect(functions.filter((name) => !known.has(name))).toEqual([]);
});

/** The error of a call that throws or rejects; undefined if it does neither. */
async function errorOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe.each(Object.entries(TAKERS))('%s', (name, taker) => {
  const { good, bad, others = {} } = taker;
  const call = taker.call as (options: unknown) => unknown;

  // Registered only where they apply: a skipped test would count as one that could not run.
  const ofOptions = BY_POSITION.includes(name) ? [] : [name];
  const ofOthers = Object.keys(others).length === 0 ? [] : [name];

  test.each(ofOptions)('%s refuses no options at all', async () => {
    for (const given of [null, 7, 'x']) {
      const error = await errorOf(() => call(given));
      expect(error, String(given)).toMatchObject({ code: 'OPTION_INVALID' });
    }
  });

  test.each(ofOptions)('%s refuses an option that it lacks', async () => {
    const [first] = Object.keys(bad);
    const typo = `${first!}s`;
    const error = await errorOf(() => call({ ...good, [typo]: 5 }));
    expect(error).toMatchObject({
      code: 'OPTION_INVALID',
      kind: 'input',
      message: expect.stringContaining(`${typo} is unknown`) as string,
      next: expect.stringContaining(
        name === 'packRankState' ? '' : `"${first!}"`,
      ) as string,
    });
  });

  const cases = Object.entries(bad).flatMap(([option, values]) =>
    [NaN, null, [[]], ...values].map((value) => [option, value] as const),
  );
  test.each(cases)('refuses %s: %j', async (option, value) => {
    const error = await errorOf(() => call({ ...good, [option]: value }));
    const code = expect.stringMatching(/^(OPTION|PLACES)_INVALID$/) as string;
    expect(error).toMatchObject({ code, kind: 'input' });
    if ((error as engine.GradwireError).code === 'PLACES_INVALID') return;
    expect((error as Error).message).toContain(option);
  });

  test.each(ofOthers)('%s leaves the rest to others', async () => {
    for (const [option, code] of Object.entries(others)) {
      for (const value of [null, 7, 'none']) {
        const error = await errorOf(() => call({ ...good, [option]: value }));
        expect((error as engine.GradwireError).code).toMatch(code);
      }
    }
  });
});

test.each<[string, () => unknown, RegExp]>([
  ['findMethod', () => engine.findMethod(null as never), /^METHOD_UNKNOWN$/],
  [
    'validateParameters',
    () => engine.validateParameters(engine.findMethod('topk'), { ratio: NaN }),
    /^METHOD_PARAMETER_INVALID$/,
  ],
  [
    'validateParameters, a key',
    () => engine.validateParameters(engine.findMethod('topk'), { ratoi: 1 }),
    /^METHOD_PARAMETER_UNKNOWN_KEY$/,
  ],
  ['openBackend', () => engine.openBackend(null as never), /^BACKEND_UNKNOWN$/],
  ['openCpuBackend', () => engine.openCpuBackend('cuda' as never), /^BACKEND_UNKNOWN$/],
  ['registerMethod', () => engine.registerMethod(none as never), /^METHOD_DUPLICATE$/],
  [
    'registerCollective',
    () => engine.registerCollective(ring),
    /^COLLECTIVE_DUPLICATE$/,
  ],
])('%s has a code of its own', async (_, call, code) => {
  expect(await errorOf(call)).toMatchObject({
    code: expect.stringMatching(code) as string,
  });
});

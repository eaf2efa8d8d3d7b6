/** The engine's public entry to the collectives, as another program uses it. */
import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import {
  RankSeat,
  type GroupStream,
  type RankGroup,
  type StreamOptions,
  type Vector,
} from '../../../src/agent/engine.ts';
import type { QuantizationOptions } from '../../../src/agent/allreduce/group-stream.ts';
import type { Payload } from '../../../src/agent/memory/payload.ts';
import { generator, longIntegers, sumOf } from './run-collective.ts';
import { openSockets } from './open-sockets.ts';
import { memoryOf } from './world.ts';

const open: RankGroup[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((group) => group[Symbol.asyncDispose]()));
  await expect.poll(openSockets).toEqual([]);
});

async function groups(size: number): Promise<readonly RankGroup[]> {
  const seats = await Promise.all(
    Array.from({ length: size }, () => RankSeat.listen('127.0.0.1')),
  );
  const addresses = seats.map(({ address }) => address);
  const secret = randomBytes(32);
  const joined = await Promise.all(
    seats.map((seat, rank) => {
      const { arena, wasm } = memoryOf(rank);
      const kernels = { arena, kernels: wasm };
      return seat.join({
        rank,
        addresses,
        runId: 'group',
        secret,
        kernels,
        timeoutMs: 60_000,
      });
    }),
  );
  open.push(...joined);
  return joined;
}

const dense = (group: RankGroup, values: Float64Array) => {
  const { offset, bytes } = group.arena.allocate(values.byteLength);
  const vector = { offset, length: values.length };
  group.arena.f64(vector).set(values);
  return { kind: 'dense', length: values.length, data: { offset, bytes } } as const;
};

describe.each([1, 2, 3, 5])('%d ranks', (size) => {
  test('all of it, many at once, in any order of streams', async () => {
    const ranks = await groups(size);
    const random = generator(size);
    const inputs = ranks.map((_, rank) => longIntegers(rank, 1001));
    const sum = sumOf(inputs);
    const work: Record<
      string,
      (group: RankGroup, stream: GroupStream) => Promise<void>
    > = {
      allreduce: async (group, stream) => {
        const payload = dense(group, inputs[group.rank]!);
        const combined = await stream.allreduce(payload);
        if (combined.form !== 'dense') throw new Error('a dense sum is dense');
        const { offset } = combined.data;
        expect(group.arena.f64({ offset, length: 1001 })).toEqual(sum);
      },
      reduceScatter: async (group, stream) => {
        const { data, length } = dense(group, inputs[group.rank]!);
        const own = await stream.reduceScatter({ offset: data.offset, length });
        const start = (own.offset - data.offset) / 8;
        expect(start).toBe(Math.floor(1001 / size) * group.rank);
        expect(group.arena.f64(own)).toEqual(sum.slice(start, start + own.length));
      },
      gather: async (group, stream) => {
        const bytes = 10 * group.rank;
        const data = { ...group.arena.allocate(bytes), bytes };
        const all = await stream.gather({ kind: 'quantized', length: 100, data });
        expect(all.map((payload) => payload.data.bytes)).toEqual(
          ranks.map((_, rank) => 10 * rank),
        );
      },
      allgather: async (group, stream) => {
        const into = group.arena.allocate(4 * size);
        group.arena.u32(into.offset, size)[group.rank] = 100 + group.rank;
        await stream.allgather(
          into,
          ranks.map(() => 4),
        );
        expect([...group.arena.u32(into.offset, size)]).toEqual(
          ranks.map((_, rank) => 100 + rank),
        );
      },
      broadcast: async (group, stream) => {
        const region = group.arena.allocate(64);
        if (group.rank === size - 1) group.arena.u8(region.offset, 64).fill(7);
        const { offset, bytes } = await stream.broadcast(region, size - 1);
        expect(group.arena.u8(offset, bytes).every((byte) => byte === 7)).toBe(true);
      },
      barrier: (_, stream) => stream.barrier(),
    };
    const names = Object.keys(work);
    await Promise.all(
      ranks.map(async (group) => {
        const order = names.toSorted(() => random() - 0.5);
        await Promise.all(
          order.map((name) =>
            work[name]!(group, group.stream(names.indexOf(name), { values: 'f64' })),
          ),
        );
      }),
    );
  });
});

test('auto agrees on one algorithm where ranks have more or less to say', async () => {
  const ranks = await groups(3);
  const results = await Promise.all(
    ranks.map(async (group) => {
      const count = [0, 3, 4000][group.rank]!;
      const data = group.arena.allocate(8 * count);
      group.arena
        .u32(data.offset, count)
        .set(Array.from({ length: count }, (_, i) => 2 * i));
      group.arena.f32({ offset: data.offset + 4 * count, length: count }).fill(1);
      const combined = await group
        .stream(1)
        .allreduce({ kind: 'sparse', length: 10_000, count, data });
      if (combined.form !== 'sparse') throw new Error(`it is ${combined.form}`);
      return combined.count;
    }),
  );
  expect(results).toEqual([4000, 4000, 4000]);
});

/** k entries of random integers. */
function entries({ arena }: RankGroup, k: number, random: () => number): Payload {
  const indices = Array.from(
    { length: k },
    (_, i) => 40 * i + Math.floor(40 * random()),
  );
  const data = arena.allocate(8 * k);
  arena.u32(data.offset, k).set(indices);
  const values = { offset: data.offset + 4 * k, length: k };
  arena.f32(values).set(indices.map(() => Math.floor(200 * random()) - 100.5));
  return { kind: 'sparse', length: 40 * k, count: k, data };
}

test('ok-topk goes on where it was with what another stream has saved', async () => {
  const ranks = await groups(3);
  const results = await Promise.all(
    ranks.map(async (group) => {
      const reduce = async (stream: GroupStream, turn: number): Promise<Uint8Array> => {
        const payload = entries(group, 100, generator(10 * turn + group.rank));
        const combined = await stream.allreduce(payload, { algorithm: 'ok-topk' });
        if (combined.form !== 'sparse') throw new Error(`it is ${combined.form}`);
        expect(combined.partial).toBe(true);
        return group.arena.u8(combined.data.offset, 8 * combined.count).slice();
      };
      const [first, second, third] = [1, 2, 3].map((number) => group.stream(number));
      await reduce(first!, 0);
      second!.restore(JSON.parse(JSON.stringify(first!.save())));
      const later = await Promise.all(
        [first!, second!, third!].map((one) => reduce(one, 1)),
      );
      expect(later[1]).toEqual(later[0]);
      // One that begins anew finds another threshold.
      expect(later[2]).not.toEqual(later[0]);
      return later[0];
    }),
  );
  for (const result of results) expect(result).toEqual(results[0]);
});

test('what does not fit is refused before anything is sent', async () => {
  const [group] = await groups(1);
  const stream = group!.stream(1, { operation: 'max' });
  const payload = dense(group!, new Float64Array(4));
  const quantization = { bits: 4, bucket: 64, scale: 'max' } as const;
  for (const [options, code] of [
    [{ algorithm: 'rign' }, 'COLLECTIVE_UNKNOWN'],
    [{ algorithm: 'sparse-ring' }, 'COLLECTIVE_MISFIT'],
    [{ algorithm: 'ring', quantization }, 'QUANTIZE_MISFIT'],
    [{ quantization }, 'QUANTIZE_MISFIT'],
    [{ algorithm: 'ok-topk' }, 'COLLECTIVE_MISFIT'],
    [{ algorithm: 'ring', servers: 1 }, 'SERVERS_MISFIT'],
    [{ servers: 1 }, 'SERVERS_MISFIT'],
    [{ algorithm: 'parameter-server', servers: 2 }, 'SERVERS_INVALID'],
  ] as const) {
    await expect(stream.allreduce(payload, options)).rejects.toMatchObject({ code });
  }
  const sparse = entries(group!, 4, () => 0.5);
  for (const options of [{ operation: 'max' }, { values: 'f64' }] as const) {
    const other = group!.stream(options.operation === 'max' ? 2 : 3, options);
    const refused = other.allreduce(sparse, { algorithm: 'ok-topk' });
    await expect(refused).rejects.toMatchObject({ code: 'COLLECTIVE_MISFIT' });
  }
});

describe('quantisation that leaves something out has the defaults', () => {
  const whole = { bits: 4, bucket: 1024, scale: 'max' } as const;
  const singles = (group: RankGroup): Vector => {
    const vector = group.arena.allocateVector(3000);
    const random = generator(group.rank + 7);
    group.arena.f32(vector).set(Float32Array.from({ length: 3000 }, random));
    return vector;
  };
  const calls = {
    allreduce: async (group: RankGroup, quantization: QuantizationOptions) => {
      const { offset, length } = singles(group);
      const combined = await group
        .stream(1)
        .allreduce(
          { kind: 'dense', length, data: { offset, bytes: 4 * length } },
          { algorithm: 'scatter-reduce-allgather', quantization },
        );
      if (combined.form !== 'dense') throw new Error(`it is ${combined.form}`);
      return { offset: combined.data.offset, length };
    },
    reduceScatter: (group: RankGroup, quantization: QuantizationOptions) =>
      group.stream(1).reduceScatter(singles(group), quantization),
  };
  test.each(Object.entries(calls))('%s', async (_, call) => {
    const of = async (quantization: QuantizationOptions) =>
      await Promise.all(
        (await groups(2)).map(async (group) => {
          const result = await call(group, quantization);
          return group.arena.f32(result).slice();
        }),
      );
    const expected = await of(whole);
    expect(expected[0]!.some((value) => value !== 0)).toBe(true);
    for (const given of [{}, { bits: 4 }, { bits: 4, bucket: 1024 }, { scale: 'max' }])
      expect(await of(given as QuantizationOptions)).toEqual(expected);
  });
});

test('another collective, and another type of value, is a mismatch on both sides', async () => {
  for (const [left, right] of [
    [
      (s: GroupStream) => s.barrier(),
      (s: GroupStream, g: RankGroup) => s.broadcast(g.arena.allocate(16), 0),
    ],
    [undefined, undefined],
  ]) {
    const [first, second] = (await groups(2)) as [RankGroup, RankGroup];
    const reduce = (stream: GroupStream, group: RankGroup) =>
      stream.allreduce(dense(group, new Float64Array(64)), { algorithm: 'ring' });
    const settled = await Promise.allSettled([
      (left ?? reduce)(first.stream(1, { values: 'f64' }), first),
      (right ?? reduce)(
        second.stream(1, { values: left === undefined ? 'f32' : 'f64' }),
        second,
      ),
    ]);
    for (const one of settled) {
      expect(one).toMatchObject({
        status: 'rejected',
        reason: { code: 'PEER_MISMATCH' },
      });
    }
    await Promise.all(open.splice(0).map((group) => group[Symbol.asyncDispose]()));
  }
});

describe('calls that differ are a mismatch on both sides:', () => {
  const dense32 = ({ arena }: RankGroup) => {
    const { offset } = arena.allocateVector(64);
    arena.f32({ offset, length: 64 }).fill(1);
    return { kind: 'dense', length: 64, data: { offset, bytes: 256 } } as const;
  };
  const quantized =
    (quantization: QuantizationOptions): Call =>
    (stream, group) =>
      stream.allreduce(dense32(group), {
        algorithm: 'scatter-reduce-allgather',
        quantization,
      });
  const ring: Call = (stream, group) =>
    stream.allreduce(dense32(group), { algorithm: 'ring' });
  const streams =
    (delta?: number): Call =>
    (stream, group) =>
      stream.allreduce(
        entries(group, 4, () => 0.5),
        { algorithm: 'ssar-recursive-doubling', delta },
      );
  const served =
    (servers?: number): Call =>
    (stream, group) =>
      stream.allreduce(dense32(group), { algorithm: 'parameter-server', servers });
  type Call = (stream: GroupStream, group: RankGroup) => Promise<unknown>;

  test.each<readonly [string, Call, Call, StreamOptions]>([
    [
      'averages',
      (stream, group) =>
        stream.allreduce(
          { ...dense32(group), averages: true },
          { algorithm: 'recursive-doubling' },
        ),
      (stream, group) =>
        stream.allreduce(dense32(group), { algorithm: 'recursive-doubling' }),
      {},
    ],
    ['the operation', ring, ring, { operation: 'max' }],
    ['formats', quantized({ format: 'e4m3' }), quantized({ format: 'e5m2' }), {}],
    ['halves', quantized({ format: 'bf16' }), quantized({ format: 'fp16' }), {}],
    ['scales', quantized({ scale: 'max' }), quantized({ scale: 'l2' }), {}],
    ['buckets', quantized({ bucket: 64 }), quantized({ bucket: 128 }), {}],
    ['delta', streams(0.5), streams(0.01), {}],
    ['servers', served(), served(2), {}],
  ])('%s', async (_, left, right, options) => {
    const [first, second] = (await groups(2)) as [RankGroup, RankGroup];
    const settled = await Promise.allSettled([
      left(first.stream(1), first),
      right(second.stream(1, options), second),
    ]);
    const mismatch = { status: 'rejected', reason: { code: 'PEER_MISMATCH' } };
    expect(settled).toMatchObject([mismatch, mismatch]);
  });

  test('a default that one of them gives is none', async () => {
    const ranks = await groups(2);
    await Promise.all(
      ranks.map(async (group) => {
        const isFirst = group.rank === 0;
        await quantized(isFirst ? {} : { bits: 4 })(group.stream(1), group);
        await streams(isFirst ? undefined : 0.5)(group.stream(2), group);
        await served(isFirst ? undefined : 1)(group.stream(3), group);
      }),
    );
  });
});

test('one exchange at a time on a stream', async () => {
  const ranks = await groups(2);
  await Promise.all(
    ranks.map(async (group) => {
      const stream = group.stream(1);
      const first = stream.barrier();
      await expect(stream.barrier()).rejects.toMatchObject({
        code: 'OPTION_INVALID',
        message: 'GroupStream: it is still at work on another call',
      });
      await first;
      await stream.barrier();
    }),
  );
});

test('no rank waits for a root that does not exist', async () => {
  for (const group of await groups(2)) {
    const stream = group.stream(1);
    const region = group.arena.allocate(16);
    for (const root of [-1, 2, 0.5]) {
      await expect(stream.broadcast(region, root)).rejects.toMatchObject({
        code: 'OPTION_INVALID',
        message: expect.stringMatching(/^GroupStream\.broadcast: root: /) as string,
      });
    }
  }
});

test('options that mean nothing are refused by name, and the group goes on', async () => {
  const [group] = await groups(1);
  const refused = (message: string): Error =>
    expect.objectContaining({
      code: 'OPTION_INVALID',
      kind: 'input',
      message,
    }) as Error;
  expect(() => group!.stream(1.5)).toThrow(/^RankGroup\.stream: number: .*, not 1\.5$/);
  expect(() => group!.stream(1, { seed: -1 })).toThrow(
    refused('RankGroup.stream: seed: it must be at least 0, not -1'),
  );
  expect(() => group!.stream(1, { operation: 'mean' as never })).toThrow(
    /^RankGroup\.stream: operation: .*, not "mean"$/,
  );
  const stream = group!.stream(1);
  expect(() => group!.stream(1)).toThrow(
    refused('RankGroup.stream: number: stream 1 is open already'),
  );
  const room = group!.arena.allocate(16);
  for (const [sizes, message] of [
    [[8, 8], 'sizes: it must have one size for each rank, not a list of 2'],
    [[], 'sizes: it must have one size for each rank, not a list of 0'],
    [[-8], 'sizes.0: it must be at least 0, not -8'],
    [
      [17],
      'sizes: its sum must be at most 16, the bytes of the region, not a list of 1',
    ],
  ] as const) {
    await expect(stream.allgather(room, sizes)).rejects.toThrow(
      refused(`GroupStream.allgather: ${message}`),
    );
  }
  await stream.barrier();
  using seat = await RankSeat.listen('127.0.0.1');
  const good = {
    rank: 0,
    addresses: [seat.address],
    runId: 'r',
    secret: randomBytes(32),
  };
  for (const [wrong, message] of [
    [{ rank: 1 }, 'rank: it must be below the number of addresses, not 1'],
    [{ secret: randomBytes(8) }, 'secret: expected 32 bytes, not 8 bytes'],
    [{ timeoutMs: -5 }, 'timeoutMs: it must be above 0, not -5'],
  ] as const) {
    await expect(seat.join({ ...good, ...wrong })).rejects.toThrow(
      refused(`RankSeat.join: ${message}`),
    );
  }
});

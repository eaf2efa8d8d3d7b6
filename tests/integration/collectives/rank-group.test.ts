/** The engine's public entry to the collectives, as another program uses it. */
import { describe, expect, test } from 'vitest';
import type { GroupStream, RankGroup, Vector } from '../../../src/agent/engine.ts';
import type { QuantizationOptions } from '../../../src/agent/allreduce/group-stream.ts';
import { generator, longIntegers, sumOf } from './run-collective.ts';
import { closesGroups, dense, entries, groups } from './rank-groups.ts';

closesGroups();

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

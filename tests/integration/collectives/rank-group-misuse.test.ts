/** The engine's public entry to the collectives, misused: named on every side. */
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  RankSeat,
  type GroupStream,
  type RankGroup,
  type StreamOptions,
} from '../../../src/agent/engine.ts';
import type { QuantizationOptions } from '../../../src/agent/allreduce/group-stream.ts';
import { closesGroups, dense, entries, groups, leaveGroups } from './rank-groups.ts';

closesGroups();

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
    await leaveGroups();
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

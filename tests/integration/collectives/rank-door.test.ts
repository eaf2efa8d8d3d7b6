/**
 * The ranks of `gradwire allreduce` and of a measured link: what reaches their ports from
 * strangers, and orders that are none.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import * as allreduce from '../../../src/agent/allreduce/rank-protocol.ts';
import * as probe from '../../../src/agent/probe/rank-protocol.ts';
import {
  encodeAnswer,
  encodeHello,
} from '../../../src/agent/transport/handshake-proof.ts';
import { RankWorld } from '../../../src/agent/world/rank-world.ts';
import type { RankAddress } from '../../../src/shared/protocol/rank-address.ts';
import { effort, seed } from '../../harness/effort.ts';
import { mangled, oneOf } from '../../harness/mutations.ts';
import { generator } from './run-collective.ts';

const entryOf = (room: string): string =>
  path.join(import.meta.dirname, `../../../src/agent/${room}/rank-main.ts`);
const SECRET = randomBytes(32);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gradwire-rank-door-'));
  writeFileSync(file(0), Float32Array.of(1, 0, 2));
  writeFileSync(file(1), Float32Array.of(3, 0, 4));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});
const file = (rank: number, kind = 'in'): string => path.join(folder, `${kind}${rank}`);

const CALLS = effort({ quick: 100, soak: 100_000 });
const AT_ONCE = 50;

/** What a rank would say first, nearly. */
async function strangersCall(addresses: readonly RankAddress[]): Promise<void> {
  const random = generator(seed);
  const beginnings = [
    encodeHello(1, 0, randomBytes(32)),
    encodeHello(0, 1, randomBytes(32)),
    Buffer.concat([encodeHello(1, 0, randomBytes(32)), encodeAnswer(randomBytes(32))]),
  ];
  for (let called = 0; called < CALLS; called += AT_ONCE) {
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        const { host, port, pulse = port } = oneOf(random, addresses);
        const socket = connect({ host, port: random() < 0.7 ? port : pulse });
        socket.on('error', () => socket.destroy());
        socket.end(mangled(random, oneOf(random, beginnings)));
        await gone(socket);
      }),
    );
  }
}

/** Before its rank knows the run, nobody answers and nobody hangs up. */
async function gone(socket: Socket): Promise<void> {
  await Promise.race([once(socket, 'finish'), once(socket, 'close')]);
  socket.destroy();
}

test(`${CALLS} strangers at the ports of an allreduce change nothing`, async () => {
  await using world = new RankWorld<allreduce.ToRank, allreduce.FromRank>({
    size: 2,
    reports: allreduce.fromRankSchema,
    commandOf: () => ({ entry: entryOf('allreduce') }),
  });
  const loaded = await world.all('loaded', (rank) => ({
    type: 'load',
    rank,
    file: file(rank),
    values: 'f32',
  }));
  const addresses = loaded.map(({ address }) => address);
  await strangersCall(addresses);
  await world.all('reduced', () => ({
    type: 'reduce',
    addresses,
    run: 'allreduce',
    secret: SECRET,
    seed: 1,
    collective: 'ring',
    kind: 'dense',
    operation: 'sum',
    transport: 'tcp',
    encrypt: false,
  }));
  await world.all('written', (rank) => ({ type: 'write', file: file(rank, 'out') }));
  const { buffer, byteOffset } = readFileSync(file(1, 'out'));
  expect([...new Float32Array(buffer.slice(byteOffset, byteOffset + 12))]).toEqual([
    4, 0, 6,
  ]);
});

test(
  `${CALLS} strangers at the ports of a measured link change nothing`,
  { tags: 'soak' },
  async () => {
    await using world = new RankWorld<probe.ToRank, probe.FromRank>({
      size: 2,
      reports: probe.fromRankSchema,
      commandOf: () => ({ entry: entryOf('probe') }),
    });
    const listening = await world.all('listening', (rank) => ({
      type: 'listen',
      rank,
    }));
    const addresses = listening.map(({ address }) => address);
    await strangersCall(addresses);
    const [first] = await world.all('timed', () => ({
      type: 'time',
      addresses,
      run: 'l',
      secret: SECRET,
      encrypt: true,
    }));
    expect(first!.timing!.there).toBeGreaterThan(0);
  },
);

describe('a rank that is told', () => {
  const told = async (room: string, order: unknown): Promise<unknown> => {
    await using world = new RankWorld<
      { readonly type: string },
      { readonly type: string }
    >({
      size: 1,
      reports: z.object({ type: z.string() }),
      commandOf: () => ({ entry: entryOf(room) }),
    });
    return await world
      .ask('none', 0, order as { readonly type: string })
      .catch((error: unknown) => error);
  };

  const orders: readonly [string, string, unknown, RegExp][] = [
    [
      'allreduce',
      'a file that is none',
      { type: 'load', rank: 0, file: 7, values: 'f32' },
      /^order: file: expected a text, not 7$/,
    ],
    ['allreduce', 'nothing', null, /^order: expected a section with keys, not null$/],
    ['probe', 'to jump', { type: 'jump' }, /^order: type: /],
    [
      'probe',
      'a rank below zero',
      { type: 'listen', rank: -1 },
      /^order: rank: it must be at least 0, not -1$/,
    ],
  ];
  test.each(effort({ quick: orders.slice(0, 1), soak: orders }))(
    '%s: %s says so and ends',
    async (room, _, order, message) => {
      expect(await told(room, order)).toMatchObject({
        code: 'ORDER_INVALID',
        message: expect.stringMatching(message) as string,
      });
    },
  );
});

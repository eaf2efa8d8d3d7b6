/** A run whose messages are encrypted, and one whose ranks compute longer than they may be silent. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { effort } from '../../harness/effort.ts';
import { GradwireHome } from '../../harness/gradwire.ts';
import { floats } from '../collectives/run-collective.ts';
import { SupervisorNode } from './supervisor-node.ts';

let node: SupervisorNode;
beforeAll(async () => {
  node = await SupervisorNode.start();
});
afterAll(() => node[Symbol.asyncDispose]());

async function train(
  settings: Readonly<Record<string, unknown>>,
): Promise<readonly RunRecord[]> {
  const records = await node.train({ world: { ranks: 2 }, ...settings });
  expect(records.at(-1)).toMatchObject({ type: 'done', consistent: true });
  return records;
}

const weights = (records: readonly RunRecord[]): string | undefined =>
  records.find((record) => record.type === 'done')?.weights;
const iterations = (records: readonly RunRecord[]): readonly IterationRecord[] =>
  records.filter((record) => record.type === 'iteration');

describe('a run that is encrypted', () => {
  const settings = { iterations: 6, exchange: { collective: 'recursive-doubling' } };
  const transports = effort({ quick: ['native'], soak: ['tcp', 'native'] });
  const plain = new Map<string, readonly RunRecord[]>();
  beforeAll(async () => {
    for (const transport of transports) {
      plain.set(transport, await train({ ...settings, transport }));
    }
  });

  test.each(transports)(
    '%s: trains to the same bits as one that is not, and its ledger balances',
    async (transport) => {
      const compared = plain.get(transport)!;
      const encrypted = await train({ ...settings, transport, encrypt: true });
      expect(weights(encrypted)).toBe(weights(compared));
      expect(weights(compared)).toMatch(/^[0-9a-f]{64}$/);
      const codes = encrypted.map((record) =>
        record.type === 'notice' ? record.code : '',
      );
      expect(codes).not.toContain('LEDGER_UNBALANCED');
      const last = (records: readonly RunRecord[]): IterationRecord['bytes'] =>
        iterations(records).find(
          (record) => record.rank === 0 && record.iteration === 5,
        )!.bytes;
      const [without, withTags] = [last(compared), last(encrypted)];
      expect(withTags.framingSent).toBeGreaterThan(without.framingSent!);
      expect(withTags.wireSent! - withTags.framingSent!).toBe(
        without.wireSent! - without.framingSent!,
      );
    },
  );
});

test(
  'gradwire allreduce --encrypt gives the same bits, in more bytes, and says so',
  { tags: 'soak' },
  async () => {
    await using home = new GradwireHome();
    const folder = path.join(home.directory, 'vectors');
    mkdirSync(folder);
    for (const rank of [0, 1]) {
      writeFileSync(path.join(folder, `in${rank}.f32`), floats(rank, 100_003));
    }
    const reduce = async (...more: string[]): Promise<Record<string, unknown>> => {
      const { stdout, stderr } = await home.run([
        ...['allreduce', '--ranks', '2', '--algorithm', 'ring', '--json', ...more],
        ...['--in', path.join(folder, 'in{rank}.f32')],
        ...['--out', path.join(folder, `out${more.length}-{rank}.f32`)],
      ]);
      expect(stderr).toBe('');
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    const plain = await reduce();
    const encrypted = await reduce('--encrypt');
    expect([plain.encrypted, encrypted.encrypted]).toEqual([false, true]);
    const bytes = (name: string): Buffer => readFileSync(path.join(folder, name));
    expect(bytes('out1-0.f32').equals(bytes('out0-0.f32'))).toBe(true);
    const [sent] = plain.wireSent as number[];
    const [more] = encrypted.wireSent as number[];
    // A tag for each header and for each 64 KB at most.
    expect(more! - sent!).toBeGreaterThan(0);
    expect(more! / sent!).toBeLessThan(1.001);
  },
);

// By a thread of its own, or in the one that computes: that one cannot say it lives.
test.each(effort({ quick: ['inline'], soak: ['inline', 'thread'] }))(
  'a rank that computes longer than it may be silent is not silent (%s)',
  { tags: 'soak' },
  async (engine) => {
    // A limit that a busy machine does not reach, and a batch that takes longer.
    const workload = { model: 'fnn3', dataset: 'digits', batchPerRank: 12_000 };
    const records = await train({ iterations: 1, engine, timeoutSeconds: 1, workload });
    const compute = iterations(records).map(({ phases }) => phases.compute);
    expect(Math.max(...compute)).toBeGreaterThan(1000);
  },
);

/** A run whose messages are encrypted, and one whose ranks compute longer than they may be silent. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { IterationRecord, RunRecord } from '../../../src/shared/records.ts';
import { GradwireHome } from '../../harness/gradwire.ts';
import { floats } from '../collectives/run-collective.ts';

const home = new GradwireHome();
afterAll(() => home[Symbol.asyncDispose]());

async function train(settings: readonly string[]): Promise<readonly RunRecord[]> {
  const running = home.startQuickstart([
    ...['world.ranks=2', 'evaluateEvery=0', ...settings],
  ]);
  const { code, stderr } = await running.finished;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return running.records;
}

const weights = (records: readonly RunRecord[]): string | undefined =>
  records.find((record) => record.type === 'done')?.weights;
const iterations = (records: readonly RunRecord[]): readonly IterationRecord[] =>
  records.filter((record) => record.type === 'iteration');

test.each(['tcp', 'native'])(
  '%s: a run trains to the same bits, encrypted or not, and its ledger balances',
  async (transport) => {
    const settings = ['iterations=6', `transport=${transport}`];
    const plain = await train(settings);
    const encrypted = await train([...settings, 'encrypt=true']);
    expect(weights(encrypted)).toBe(weights(plain));
    expect(weights(plain)).toMatch(/^[0-9a-f]{64}$/);
    const codes = encrypted.map((record) =>
      record.type === 'notice' ? record.code : '',
    );
    expect(codes).not.toContain('LEDGER_UNBALANCED');
    const last = (records: readonly RunRecord[]): IterationRecord['bytes'] =>
      iterations(records).find((record) => record.rank === 0 && record.iteration === 5)!
        .bytes;
    const [without, withTags] = [last(plain), last(encrypted)];
    expect(withTags.framingSent).toBeGreaterThan(without.framingSent);
    expect(withTags.wireSent - withTags.framingSent).toBe(
      without.wireSent - without.framingSent,
    );
  },
);

test('gradwire allreduce --encrypt gives the same bits, in more bytes, and says so', async () => {
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
});

test.each(['inline', 'thread'])(
  'a rank that computes longer than it may be silent is not silent (%s)',
  async (engine) => {
    // A limit that a busy machine does not reach, and a batch that takes longer.
    const records = await train([
      ...['iterations=1', 'evaluateEvery=0', 'world.ranks=2', `engine=${engine}`],
      ...['timeoutSeconds=1.5', 'workload.batchPerRank=24000'],
    ]);
    const compute = iterations(records).map(({ phases }) => phases.compute ?? 0);
    expect(Math.max(...compute)).toBeGreaterThan(1500);
  },
);

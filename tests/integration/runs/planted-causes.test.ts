/**
 * The verdict on real runs whose bottleneck is known, because it was planted: a slow link,
 * latency, a slow rank, compression that does not pay, bytes that are gone already.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GradwireHome } from '../../harness/gradwire.ts';
import { PLANTED, plantedVerdict, SLOW_LINK } from '../../harness/planted-causes.ts';
import { ofType } from '../../harness/records.ts';

let home: GradwireHome;
beforeAll(() => {
  home = new GradwireHome();
});
afterAll(() => home[Symbol.asyncDispose]());

const RANKS = 2;

test.each(PLANTED)('$name is named', { tags: 'soak' }, async (cause) => {
  const { records, verdict } = await plantedVerdict(home, RANKS, cause);
  const texts = verdict.statements.map(({ text }) => text);
  expect(cause.isNamed(verdict), texts.join('; ')).toBe(true);
  if (cause.name === 'a slow link') {
    const factor = /at most ([\d.]+)×/.exec(texts.join());
    expect(Number(factor?.[1])).toBeGreaterThan(1.2);
  }
  if (cause.slowRank !== true) return;
  expect(texts.join()).toMatch(/a smaller payload would not speed up|at most 1\.\d/);
  const waits = ofType(records, 'iteration').map(({ phases }) => phases.wait);
  expect(Math.max(...waits)).toBeGreaterThan(10);
});

test(
  'what is left of the payload bounds what more compression can gain',
  { tags: 'soak' },
  async () => {
    const { verdict } = await plantedVerdict(home, RANKS, {
      ...PLANTED[0]!,
      settings: [
        ...[
          SLOW_LINK,
          'iterations=40',
          'exchange.method=topk',
          'exchange.ratio=0.0001',
        ],
        'exchange.minElements=0',
      ],
    });
    const text = verdict.statements.map((statement) => statement.text).join('; ');
    expect(text).toMatch(/would not speed up the step|at most 1\.\d/);
  },
);

/** The planted cause is named in 95 % of the runs, with 2 and with 8 ranks. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GradwireHome } from '../harness/gradwire.ts';
import { PLANTED, plantedVerdict } from '../harness/planted-causes.ts';

let home: GradwireHome;
beforeAll(() => {
  home = new GradwireHome();
});
afterAll(() => home[Symbol.asyncDispose]());

const RUNS = 20;
const cases = [2, 8].flatMap((ranks) =>
  PLANTED.filter((cause) => cause.onlyWith?.includes(ranks) ?? true).map((cause) => ({
    ...cause,
    ranks,
  })),
);

test.each(cases)('$name with $ranks ranks', async (cause) => {
  const missed: string[] = [];
  for (let run = 0; run < RUNS; run++) {
    const { verdict } = await plantedVerdict(home, cause.ranks, cause);
    if (!cause.isNamed(verdict))
      missed.push(verdict.statements.map(({ text }) => text).join('; '));
  }
  expect(missed.length, missed.join('\n')).toBeLessThanOrEqual(0.05 * RUNS);
});

/**
 * The verdict on real runs whose bottleneck is known, because it was planted: a slow link, bytes
 * that are gone already, a slow rank. What it calls the cause depends on how busy the machine is
 * with other things: that is the soak's (tests/soak/planted-causes.test.ts).
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GradwireHome } from '../../harness/gradwire.ts';
import {
  A_SLOW_LINK,
  A_SLOW_RANK,
  plantedVerdict,
  SLOW_LINK,
} from '../../harness/planted-causes.ts';
import { ofType } from '../../harness/records.ts';

let home: GradwireHome;
beforeAll(() => {
  home = new GradwireHome();
});
afterAll(() => home[Symbol.asyncDispose]());

const RANKS = 2;

/** A payload that is smaller changes little, or nothing. */
const SMALL_GAIN =
  /a smaller payload (would not speed up the step|can speed up the step by at most 1\.\d)/;

const textOf = ({ statements }: { readonly statements: readonly { text: string }[] }) =>
  statements.map(({ text }) => text).join('; ');

test('a slow link is what a smaller payload helps with', async () => {
  const { verdict } = await plantedVerdict(home, RANKS, A_SLOW_LINK);
  expect(textOf(verdict)).toContain('a smaller payload can speed up the step');
  const payload = verdict.statements.find(({ remedy }) => remedy?.id === 'payload');
  expect(payload?.remedy?.gain.factor).toBeGreaterThan(2);
});

test('what is left of the payload bounds what more compression can gain', async () => {
  const { verdict } = await plantedVerdict(home, RANKS, {
    ...A_SLOW_LINK,
    settings: [
      SLOW_LINK,
      'iterations=40',
      'exchange.method=topk',
      'exchange.ratio=0.0001',
      'exchange.minElements=0',
    ],
  });
  expect(textOf(verdict)).toMatch(SMALL_GAIN);
});

test('waiting for a slow rank is not for compression to shorten', async () => {
  const { records, verdict } = await plantedVerdict(home, RANKS, A_SLOW_RANK);
  expect(textOf(verdict)).toMatch(SMALL_GAIN);
  const waits = ofType(records, 'iteration').map(({ phases }) => phases.wait);
  expect(Math.max(...waits)).toBeGreaterThan(10);
});

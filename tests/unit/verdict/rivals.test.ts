/** Rival methods in a verdict: those that send few enough bytes, and what they keep. */
import { expect, test } from 'vitest';
import { RecentIterations } from '../../../src/shared/verdict/recent-iterations.ts';
import { verdict } from '../../../src/shared/verdict/verdict.ts';
import { verdictContext } from '../../../src/shared/verdict/verdict-context.ts';
import { summarizeWindow } from '../../../src/shared/verdict/window-summary.ts';
import type { RivalMethod } from '../../../src/shared/records/comparison.ts';
import type { RunEvent } from '../../../src/shared/records/record-kinds.ts';
import { iterationRecord } from '../renderer/records.ts';

const RIVALS: readonly RivalMethod[] = [
  { keeps: 'largest', ratio: 0.01, cosine: 0.8 },
  { keeps: 'largest', ratio: 0.02, cosine: 0.93 },
  { keeps: 'largest', ratio: 0.05, cosine: 0.97 },
  { keeps: 'signs', cosine: 0.7 },
];

/** The sentence about hiding bytes that are in flight for a part of a step of 100 ms. */
function hiding(
  ranks: number,
  receive: number,
  rivals: readonly RivalMethod[] | undefined,
) {
  const recent = new RecentIterations(ranks, 64);
  for (let iteration = 0; iteration < 30; iteration++) {
    for (let rank = 0; rank < ranks; rank++) {
      const phases = { compute: 100 - receive, receive };
      const bytes = { dense: 1000, wireSent: 1000, wireReceived: 1000 };
      recent.add(iterationRecord({ rank, iteration, phases, ...bytes }));
    }
  }
  const events: readonly RunEvent[] = [
    { type: 'comparison', at: 0, iteration: 3, cosine: 1, rivals },
  ];
  const context = verdictContext({ events, ranks, nodes: [] });
  const { statements } = verdict(summarizeWindow(recent, 5, 30)!, context)!;
  return statements.find(({ text }) => text.startsWith('hiding'))!;
}

test('the best of those that send few enough bytes is named, and all are in the proof', () => {
  // 54 ms of 100 take 22 times as long as 5 % of the step; top-k 2 % sends a 25th.
  const { proof, text } = hiding(2, 54, RIVALS);
  expect(text).toBe(
    'hiding them needs 22.3× fewer bytes: top-k 2 % reaches it at cosine 0.93; ' +
      'now its cosine with the uncompressed gradient is 1.00',
  );
  expect(proof.terms.slice(-4)).toEqual([
    { name: 'top-k 1 %', value: 'cosine 0.800, 2.00 % of the dense bytes' },
    { name: 'top-k 2 %', value: 'cosine 0.930, 4.00 % of the dense bytes' },
    { name: 'top-k 5 %', value: 'cosine 0.970, 10.0 % of the dense bytes' },
    { name: '1-bit', value: 'cosine 0.700, 3.13 % of the dense bytes' },
  ]);
  expect(proof.formula).toContain('P − 1 payloads');
});

test('with more ranks, a rank sends more payloads, and perhaps no rival is left', () => {
  expect(hiding(3, 54, RIVALS).text).toContain(': top-k 1 % reaches it at cosine 0.80');
  expect(hiding(8, 90, RIVALS).text).toContain(
    ': none of the compared methods reaches',
  );
  const unknown = hiding(2, 54, undefined);
  expect(unknown.text).toMatch(/^hiding them needs 22.3× fewer bytes; now/);
  expect(unknown.proof.formula).not.toContain('rivals');
});

import { describe, expect, it } from 'vitest';
import type { ComparedExchanges } from '../../../src/shared/records/notice.ts';
import type { Statement } from '../../../src/shared/verdict/proof.ts';
import { RecentIterations } from '../../../src/shared/verdict/recent-iterations.ts';
import { verdict, type Verdict } from '../../../src/shared/verdict/verdict.ts';
import type { VerdictContext } from '../../../src/shared/verdict/verdict-context.ts';
import {
  longestAwaited,
  summarizeWindow,
  type WindowSummary,
} from '../../../src/shared/verdict/window-summary.ts';
import { brokenPromise } from '../../harness/planted-causes.ts';
import { iterationRecord } from './records.ts';

/** Three ranks of which rank 2 computes longest and the others wait for it. */
function straggling(iterations: number): RecentIterations {
  const recent = new RecentIterations(3, 64);
  for (let iteration = 0; iteration < iterations; iteration++) {
    for (let rank = 0; rank < 3; rank++) {
      recent.add(
        iterationRecord({
          rank,
          iteration,
          phases:
            rank === 2
              ? { compute: 8, send: 1, receive: 1 }
              : { compute: 4, send: 1, receive: 1, wait: 4 },
          waitedFor: rank === 2 ? {} : { '2': 3.5, [String(1 - rank)]: 0.5 },
          dense: 4000,
          wireSent: 1000,
          overlapped: 0.5,
          at: 1000 + iteration * 20,
        }),
      );
    }
  }
  return recent;
}

function summary(iterations = 20): WindowSummary {
  return summarizeWindow(straggling(iterations), 0, iterations)!;
}

describe('window summary', () => {
  it('means over ranks and iterations', () => {
    const { wall, phases, communicationShare, rate, awaited, perRank } = summary();
    expect(wall).toBeCloseTo(10, 12);
    expect(phases.wait).toBeCloseTo(8 / 3, 12);
    expect(communicationShare).toBeCloseTo((2 + 8 / 3) / 10, 12);
    expect(rate).toBeCloseTo(50, 9);
    // Two others wait 3.5 ms each for rank 2; one other waits 0.5 ms for rank 0.
    expect(awaited).toEqual([0.25, 0.25, 3.5]);
    expect(perRank[2]!.wait).toBe(0);
  });

  it('looks only at the iterations asked for', () => {
    const recent = straggling(20);
    expect(summarizeWindow(recent, 5, 12)!.iterations).toBe(7);
    expect(summarizeWindow(recent, 20, 30)).toBeUndefined();
  });

  it.each([
    { awaited: [0.25, 0.25, 3.5], wall: 10, longest: 2, why: 'clearly longest' },
    { awaited: [3, 3.2, 3.1], wall: 10, longest: undefined, why: 'all alike' },
    {
      awaited: [0, 0, 0.1],
      wall: 10,
      longest: undefined,
      why: 'too short to matter',
    },
    { awaited: [0], wall: 10, longest: undefined, why: 'alone' },
    { awaited: [0, 5], wall: 10, longest: 1, why: 'one of two' },
  ])('knows the rank that is awaited longest: $why', ({ awaited, wall, longest }) => {
    expect(longestAwaited(awaited, wall)).toBe(longest);
  });
});

/** The machine of `straggling`, crowded where it has fewer cores than ranks. */
const crowd = (cores: number): VerdictContext['crowd'] => ({
  machine: 'box',
  ranks: 3,
  cores,
});

describe('verdict', () => {
  const texts = (
    of: WindowSummary,
    context: Partial<VerdictContext> = {},
  ): readonly string[] =>
    verdict(of, { ranks: 3, ...context })!.statements.map(({ text }) => text);
  const gain = (of: WindowSummary, context?: Partial<VerdictContext>): string =>
    texts(of, context).at(-1)!;

  it('states the bound, its remedies and the bytes, each with its chart', () => {
    const { bound, statements } = verdict(summary(), { ranks: 3 })!;
    expect(bound).toBe('compute');
    expect(statements.map(({ text }) => text)).toEqual([
      'computing bounds the step: 40 % of it, nearly as much as waiting for the straggler',
      '47 % of the step is communication, most of it waiting for other ranks',
      'another 500 µs of communication is hidden behind compute',
      'each rank sends 25.0 % of its dense bytes',
      // Ranks 0 and 1 wait 4 ms for rank 2, and compute for 4 ms themselves.
      'if rank 2 kept pace, a step could shrink to 6.00 ms (1.67× as fast at most)',
      // Bytes move for 2 of 10 ms; the wait for the straggler stays.
      'a smaller payload can speed up the step by at most 1.25×: its bytes are in flight for 2.00 ms',
      'hiding them needs 4.75× fewer bytes',
    ]);
    expect(statements.map(({ evidence }) => evidence)).toEqual([
      'phases',
      'phases',
      'phases',
      'bytes',
      'ranks',
      'phases',
      'bytes',
    ]);
    for (const { proof } of statements) {
      expect(proof.formula).not.toBe('');
      expect(proof.terms.length).toBeGreaterThan(0);
    }
  });

  it.each([
    // 1,000 bytes each way in 10 ms steps, and never more than one after the other: 2 µs.
    { linkTime: 1e-6, says: /would not speed up.*2\.00 µs/ },
    // At 4 µs a byte: 4 ms of the 6 ms that some ranks communicate.
    { linkTime: 4e-3, says: /at most 1\.67×.*4\.00 ms/ },
    // Never more than a rank communicates: rank 0 for 6 ms, rank 2 for 2.
    { linkTime: 1, says: /at most 2\.50×.*6\.00 ms/ },
  ])(
    'rests on the bytes where a link takes $linkTime ms for one',
    ({ linkTime, says }) => {
      expect(texts(summary(), { linkTime }).join('; ')).toMatch(says);
    },
  );

  it('gives no factor where the rest of a step is the difference of two nearly equal times', () => {
    const sending = (send: number): string => {
      const recent = new RecentIterations(2, 64);
      for (let iteration = 0; iteration < 20; iteration++) {
        for (const rank of [0, 1])
          recent.add(
            iterationRecord({ rank, iteration, phases: { compute: 10 - send, send } }),
          );
      }
      return texts(summarizeWindow(recent, 0, 20)!, { ranks: 2 }).join('; ');
    };
    expect(sending(9.8)).toContain(
      'can speed up the step many times: its bytes are in flight for 9.80 ms of 10.0 ms',
    );
    expect(sending(9)).toContain('by at most 10.0×');
  });

  it('says that ranks share cores, and what cores would gain', () => {
    const said = texts(summary(), { crowd: crowd(1) }).join('; ');
    expect(said).toContain('3 ranks share 1 core, so they also wait for cores');
    expect(said).toContain('with a core for each rank, a step could shrink to');
    expect(texts(summary()).join()).not.toContain('cores');
  });

  it('says nothing of a wait for cores whose proof shows none', () => {
    const recent = new RecentIterations(3, 64);
    for (let iteration = 0; iteration < 20; iteration++) {
      for (const rank of [0, 1, 2])
        recent.add(
          iterationRecord({ rank, iteration, phases: { compute: 1, send: 9 } }),
        );
    }
    const said = (cores: number): string =>
      texts(summarizeWindow(recent, 0, 20)!, { crowd: crowd(cores), ranks: 3 }).join(
        '; ',
      );
    expect(said(2)).not.toContain('wait for cores;');
    expect(said(2)).not.toContain('share 2 cores');
    expect(said(1)).toContain('3 ranks share 1 core');
  });

  it('does not take waiting for a core for compressible, and says so', () => {
    expect(gain(summary(), { crowd: crowd(1) })).toBe(
      'how much a smaller payload would save cannot be told apart from waiting for cores',
    );
    // A known link tells what its bytes take, whoever waits for a core.
    const known = texts(summary(), { crowd: crowd(1), linkTime: 4e-3 });
    expect(known.join()).toContain('at most 1.67×');
  });

  it('does not contradict the engine, which has compared both', () => {
    const { statements } = verdict(summary(), {
      ranks: 3,
      doesNotPay: { message: 'topk takes 9 ms' },
    })!;
    expect(statements.at(-1)).toMatchObject({
      text: 'do not compress here: the engine has measured that this compression takes longer than it saves',
      proof: { terms: [{ value: 'topk takes 9 ms' }] },
    });
  });

  describe('without compression', () => {
    const denseOf = (
      exchange: ComparedExchanges | undefined,
      window = summary(),
    ): Statement =>
      verdict(window, {
        ranks: 3,
        doesNotPay: { message: 'topk takes 3 ms', exchange },
      })!.statements.at(-1)!;

    it('promises what the engine has measured, and no more', () => {
      const { proof, remedy, text } = denseOf({
        compressed: 3,
        uncompressed: 1,
        measured: true,
      });
      // A step takes 10 ms, in each window of it.
      expect(remedy).toEqual({
        id: 'dense',
        gain: { step: { mean: 8, low: 8, high: 10 }, factor: 1.25, isBound: false },
      });
      expect(text).toContain(
        'without it, a step could shrink to 8.00 ms (1.25× as fast)',
      );
      expect(proof.terms.map(({ name, value }) => `${name}: ${value}`)).toEqual([
        'the engine: topk takes 3 ms',
        'step: 10.0 ms',
        'exchange: 3.00 ms',
        'exchange without compression, measured: 1.00 ms',
        'with the remedy: 8.00 ms (8.00 ms–10.0 ms)',
      ]);
    });

    it('leaves room for an exchange that was only predicted', () => {
      const { gain } = denseOf({
        compressed: 3,
        uncompressed: 1,
        measured: false,
      }).remedy!;
      expect(gain.step).toEqual({ mean: 8, low: 7, high: 10 });
    });

    it('promises no more than the step shows of the exchange', () => {
      // Of 10 ms, the ranks communicate for 14/3 ms: a third of such an exchange.
      const { gain } = denseOf({
        compressed: 14,
        uncompressed: 11,
        measured: true,
      }).remedy!;
      expect(gain.step.mean).toBeCloseTo(9, 9);
      expect(gain.step.low).toBeCloseTo(9, 9);
    });

    it('gives no number where the times are not known, or hardly differ', () => {
      const { remedy, text } = denseOf(undefined);
      expect(text).toMatch(/longer than it saves$/);
      expect(remedy!.gain).toMatchObject({ factor: 1, step: { mean: 10, high: 10 } });
      expect(remedy!.gain.step.low).toBeCloseTo(10 - 14 / 3, 9);
      const alike = { compressed: 3, uncompressed: 2.9, measured: true };
      expect(denseOf(alike).text).toMatch(/longer than it saves$/);
    });

    it('is kept by a run that is faster, and broken by one that is slower than before', () => {
      const { gain } = denseOf({
        compressed: 3,
        uncompressed: 1,
        measured: true,
      }).remedy!;
      const after = (wall: number): Verdict => {
        const recent = new RecentIterations(3, 64);
        for (let iteration = 0; iteration < 20; iteration++) {
          for (const rank of [0, 1, 2])
            recent.add(iterationRecord({ rank, iteration, phases: { compute: wall } }));
        }
        return verdict(summarizeWindow(recent, 0, 20)!, { ranks: 3 })!;
      };
      expect(brokenPromise(gain, after(8))).toBeUndefined();
      expect(brokenPromise(gain, after(9))).toBeUndefined();
      expect(brokenPromise(gain, after(11))).toMatch(
        /^promised 8.0 to 10.0 ms, shown 11/,
      );
      expect(brokenPromise(gain, after(7))).toMatch(
        /^promised 8.0 to 10.0 ms, shown 7/,
      );
    });
  });

  it('says how far what is sent now resembles the gradient', () => {
    expect(gain(summary(), { cosine: 0.934 })).toContain(
      'its cosine with the uncompressed gradient is 0.93',
    );
  });

  it('says nothing from too few iterations', () => {
    expect(verdict(summary(4), { ranks: 3 })).toBeUndefined();
  });

  it('bounds what compression is worth to a program whose bytes it does not see', () => {
    const observed = { ...summary(), wireSent: undefined, traffic: [], wall: 10 };
    const waiting = { ...observed, phases: { ...observed.phases, wait: 5 } };
    const said = texts(waiting);
    expect(said.join()).not.toContain('dense bytes');
    expect(said.at(-1)).toContain('by at most 2.00×: the program waits 5.00 ms');
    const calm = { ...observed, phases: { ...observed.phases, wait: 0.01 } };
    expect(gain(calm)).toContain('would not speed up the step');
  });

  it('does not speak of communication where there is one rank', () => {
    const [only, bound, ...more] = texts(summary(), { ranks: 1 });
    expect(only).toContain('nothing to communicate');
    expect(bound).toContain('computing bounds the step');
    expect(more).toEqual([]);
  });
});

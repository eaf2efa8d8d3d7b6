/** The judges of SparCML's reductions, by results for which the rule leaves one verdict. */
import { describe, expect, test } from 'vitest';
import { sparcmlFigure1 } from '../../../src/reproduce/figures/sparcml-figure-1.ts';
import { sparcmlFigure3Nodes } from '../../../src/reproduce/figures/sparcml-figure-3-nodes.ts';
import { sparcmlFigure3 } from '../../../src/reproduce/figures/sparcml-figure-3.ts';
import { sparcmlFigure7 } from '../../../src/reproduce/figures/sparcml-figure-7.ts';
import { judged, part, type Values } from './judged.ts';
import { madeUpSweep } from './made-up-sweep.ts';

describe('fill-in', () => {
  const filling: Values = (id) => {
    const density = Math.min(1, part(id, 'p') * part(id, 'd') * 0.7);
    return density > 0.5 ? { dense: 1 } : { dense: 0, density };
  };

  test('is confirmed where it grows with every step and becomes dense', () => {
    expect(judged(sparcmlFigure1, filling)).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  const sparse: Values = (id) => ({
    dense: 0,
    density: part(id, 'p') * part(id, 'd') * 0.1,
  });

  test('is not confirmed where the collective does not go dense for one seed', () => {
    const values: Values = (id, seed) =>
      id === 'p8-d0.1' && seed === 1 ? { dense: 0.5 } : filling(id, seed);
    expect(judged(sparcmlFigure1, values)).toEqual({
      verdict: 'undecided',
      outcomes: ['fails: at 10 % per rank and 8 ranks the collective goes dense'],
    });
  });

  test('is not confirmed where it never does', () => {
    expect(judged(sparcmlFigure1, sparse)).toEqual({
      verdict: 'undecided',
      outcomes: ['fails: at 10 % per rank and 8 ranks the collective goes dense'],
    });
  });

  test('is not confirmed where sending more makes the sum sparser', () => {
    const values: Values = (id, seed) =>
      id.endsWith('-d0.001')
        ? { dense: 0, density: 0.1 * part(id, 'p') }
        : filling(id, seed);
    expect(judged(sparcmlFigure1, values)).toMatchObject({
      verdict: 'undecided',
      outcomes: [
        'fails: at each number of ranks the sum is denser where each rank sends more',
      ],
    });
  });

  test('is undecided where seeds differ by more than ranks do', () => {
    const noisy: Values = (id, seed) =>
      id === 'p4-d0.01'
        ? { dense: 0, density: [0.004, 0.1, 0.01, 0.09, 0.02][seed]! }
        : filling(id, seed);
    expect(judged(sparcmlFigure1, noisy)).toMatchObject({
      verdict: 'undecided',
      outcomes: [expect.stringMatching(/^unclear: at 1 % per rank/)],
    });
  });

  test('is refuted where a step makes the sum sparser', () => {
    const falling: Values = (id, seed) =>
      id === 'p8-d0.001' ? { dense: 0, density: 0.0001 } : filling(id, seed);
    expect(judged(sparcmlFigure1, falling)).toMatchObject({
      verdict: 'refuted',
      outcomes: [expect.stringMatching(/that was counted \(4 to 8 ranks\)$/)],
    });
  });
});

describe('times of reductions', () => {
  const SLOWER = [0, 0.5, -0.4, 0.6, -0.5];
  const LOW = { doubling: 10, split: 20, variant: 300, ring: 600 };
  const HIGH = { doubling: 450, split: 390, variant: 390, ring: 600 };
  const taking =
    (low = LOW, high = HIGH, noise = 0): Values =>
    (id, seed) => {
      const at = id.endsWith('-d0.1') ? high : low;
      const time = id.startsWith('ssar-recursive')
        ? at.doubling
        : id.startsWith('ssar-split')
          ? at.split
          : id.startsWith('dsar')
            ? at.variant
            : at.ring;
      return {
        time:
          time *
          Math.exp(noise * SLOWER[seed]! * (id.startsWith('ssar-split') ? 1 : 0)),
      };
    };

  test('are confirmed in the order of the paper', () => {
    expect(judged(sparcmlFigure3, taking()).verdict).toBe('confirmed');
  });

  test.each([
    ['split and allgather is faster for little', { ...LOW, split: 5 }, HIGH],
    ['the dense second phase is faster for little', { ...LOW, variant: 15 }, HIGH],
    ['the lead grows', LOW, { ...HIGH, variant: 390 * 30 }],
    ['the ring is faster', { ...LOW, variant: 700 }, HIGH],
    ['the ring is more than four times slower', { ...LOW, variant: 100 }, HIGH],
  ])('are refuted where %s', (_, low, high) => {
    expect(judged(sparcmlFigure3, taking(low, high)).verdict).toBe('refuted');
  });

  test('are compared by their ratios', () => {
    // Leads of 40, 10 and 25 times at the lowest density, and of none at the highest.
    const { outcomes } = judged(sparcmlFigure3, (id, seed) => {
      const values = taking()(id, seed);
      return id === 'ssar-split-allgather-d0.0001'
        ? { time: 300 / [40, 10, 25, 30, 15][seed]! }
        : values;
    });
    expect(outcomes).not.toContainEqual(expect.stringContaining('lead'));
  });

  test('are undecided where two are as fast within their spread', () => {
    const { verdict, outcomes } = judged(
      sparcmlFigure3,
      taking({ ...LOW, split: 12 }, HIGH, 1),
    );
    expect(verdict).toBe('undecided');
    expect(outcomes[0]).toMatch(/^unclear: at 0.01 % ssar-recursive-doubling/);
  });
});

describe('times of reductions by the number of ranks', () => {
  const FEW = { doubling: 10, split: 20, variant: 300, ring: 600 };
  const MANY = { doubling: 50, split: 60, variant: 320, ring: 1100 };
  const BETWEEN = { doubling: 25, split: 40, variant: 310, ring: 900 };
  const taking =
    (few = FEW, many = MANY): Values =>
    (id, seed) => {
      const at = id.endsWith('-p2') ? few : id.endsWith('-p8') ? many : BETWEEN;
      const time = id.startsWith('ssar-recursive')
        ? at.doubling
        : id.startsWith('ssar-split')
          ? at.split
          : id.startsWith('dsar')
            ? at.variant
            : at.ring;
      return { time: time * (1 + seed) };
    };

  test('are confirmed in the order of the paper', () => {
    expect(judged(sparcmlFigure3Nodes, taking())).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  test.each([
    [
      'at 2 ranks ssar-recursive-doubling takes less time than ssar-split-allgather',
      { ...FEW, doubling: 22 },
      { ...MANY, doubling: 80 },
    ],
    [
      'the lead of ssar-recursive-doubling over the other variants shrinks until 8 (ssar-split-allgather)',
      FEW,
      { ...MANY, split: 200 },
    ],
    [
      'the lead of ssar-recursive-doubling over the other variants shrinks until 8 (dsar-split-allgather)',
      FEW,
      { doubling: 15, split: 20, variant: 600, ring: 1100 },
    ],
    [
      'dsar-split-allgather is faster than the dense ring, by no more than four times (8 ranks)',
      FEW,
      { ...MANY, ring: 300 },
    ],
    [
      'dsar-split-allgather is faster than the dense ring, by no more than four times (2 ranks, at most)',
      { ...FEW, ring: 1500 },
      MANY,
    ],
  ])('are refuted where not: %s', (text, few, many) => {
    expect(judged(sparcmlFigure3Nodes, taking(few, many))).toEqual({
      verdict: 'refuted',
      outcomes: [`fails: ${text}`],
    });
  });
});

test.each([sparcmlFigure3, sparcmlFigure3Nodes])(
  '$id shows the sparse ring, which no part judges',
  (figure) => {
    const sweep = madeUpSweep(figure, (id) => ({
      time: id.startsWith('sparse-ring') ? 77 : 5,
    }));
    const { parts } = figure.judge(sweep);
    const judgedTimes = parts.flatMap((one) =>
      one.kind === 'check' ? [] : one.tests.flatMap(({ values }) => values),
    );
    expect(new Set(judgedTimes)).toEqual(new Set([1]));
    const drawn = figure.chart(sweep).series.find(({ name }) => name === 'sparse-ring');
    expect(drawn?.points.map(({ y }) => y)).toEqual(drawn?.points.map(() => 77));
    const row = figure.table(sweep).rows.find(([name]) => name === 'sparse-ring');
    expect(row?.slice(1)).toEqual(drawn?.points.map(() => '77.0 ms'));
  },
);

describe('entries of a sum', () => {
  /** Without multiplying powers: an entry is missed by one rank after the other. */
  function union(ranks: number, k: number): number {
    let missed = 512;
    for (let rank = 0; rank < ranks; rank++) missed *= (512 - k) / 512;
    return 512 - missed;
  }
  const counted =
    (changed: (id: string, seed: number) => object | undefined = () => undefined) =>
    (id: string, seed: number) => {
      const [ranks, k] = [part(id, 'p'), part(id, 'k')];
      const entries = id.startsWith('disjoint') ? ranks * k : union(ranks, k);
      return { entries, least: entries, most: entries, ...changed(id, seed) };
    };

  test('are checked where they are as expected', () => {
    expect(judged(sparcmlFigure7, counted())).toEqual({
      verdict: 'checked',
      outcomes: [],
    });
  });

  test('are not checked 3 % off', () => {
    const values = counted((id) =>
      id === 'uniform-p8-k4' ? { entries: 1.03 * union(8, 4) } : undefined,
    );
    expect(judged(sparcmlFigure7, values)).toEqual({
      verdict: 'undecided',
      outcomes: [expect.stringMatching(/^fails: with 4 entries per rank/)],
    });
  });

  test('are not checked where one seed is off', () => {
    const values = counted((id, seed) =>
      id === 'uniform-p8-k4' && seed === 0
        ? { entries: 1.03 * union(8, 4) }
        : undefined,
    );
    expect(judged(sparcmlFigure7, values).verdict).toBe('undecided');
  });

  test.each(['least', 'most'])(
    'are not checked where disjoint ones meet: %s',
    (name) => {
      const values = counted((id) =>
        id === 'disjoint-p4-k15' ? { [name]: name === 'least' ? 59 : 61 } : undefined,
      );
      expect(judged(sparcmlFigure7, values)).toEqual({
        verdict: 'undecided',
        outcomes: ['fails: where entries are disjoint it has P·k in every iteration'],
      });
    },
  );

  test('are not checked where uniform ones do not meet', () => {
    const values = counted((id) =>
      id === 'uniform-p16-k15' ? { entries: 241 } : undefined,
    );
    expect(judged(sparcmlFigure7, values).outcomes).toContain(
      'fails: with 15 entries per rank and 16 ranks it has fewer than P·k',
    );
  });
});

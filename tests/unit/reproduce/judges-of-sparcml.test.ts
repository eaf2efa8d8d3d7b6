/** The judges of SparCML's figures, by results for which the rule leaves one verdict. */
import { describe, expect, test } from 'vitest';
import { sparcmlFigure1 } from '../../../src/reproduce/figures/sparcml-figure-1.ts';
import { sparcmlFigure3Nodes } from '../../../src/reproduce/figures/sparcml-figure-3-nodes.ts';
import { sparcmlFigure3 } from '../../../src/reproduce/figures/sparcml-figure-3.ts';
import { sparcmlFigure4 } from '../../../src/reproduce/figures/sparcml-figure-4.ts';
import { sparcmlFigure5 } from '../../../src/reproduce/figures/sparcml-figure-5.ts';
import { sparcmlFigure7 } from '../../../src/reproduce/figures/sparcml-figure-7.ts';
import { sparcmlTable2 } from '../../../src/reproduce/figures/sparcml-table-2.ts';
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

describe('training beside dense SGD', () => {
  const trained =
    (changes: Readonly<Record<string, number>>): Values =>
    (id, seed) => {
      const change = changes[id] ?? 0;
      // A seed's own luck, the same for all.
      const accuracy = 0.95 + 0.01 * seed + (id.startsWith('classifier') ? change : 0);
      const loss = (1 + 0.05 * seed) * (1 + (id.startsWith('lstm') ? change : 0));
      return {
        metric: accuracy,
        'test-metric': accuracy - 0.02,
        loss,
        'test-loss': 1.1 * loss,
      };
    };
  const LOST = { 'classifier-control': -0.3, 'lstm-control': 0.5 };

  test('is confirmed where the controls alone lose', () => {
    // Half a point and half a hundredth are allowed.
    const values = trained({ ...LOST, 'classifier-k8': -0.005, 'lstm-k2': 0.005 });
    expect(judged(sparcmlFigure4, values)).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  test.each([
    ['classifier-k16', -0.03, /^fails: with 16 of 512 in 4 bits the classifier/],
    ['classifier-k8', -0.03, /^fails: with 8 of 512 in 4 bits the classifier/],
    ['lstm-k2', 0.1, /^fails: with 2 of 512 the LSTM.* \(training, test\)$/],
  ])('is refuted by %s at %s', (id, change, outcome) => {
    expect(judged(sparcmlFigure4, trained({ ...LOST, [id]: change }))).toEqual({
      verdict: 'refuted',
      outcomes: [expect.stringMatching(outcome)],
    });
  });

  test('is refuted where the test loss alone is higher', () => {
    const values: Values = (id, seed) => {
      const made = trained(LOST)(id, seed) as { 'test-loss': number };
      return id === 'lstm-k2'
        ? { ...made, 'test-loss': 1.2 * made['test-loss'] }
        : made;
    };
    expect(judged(sparcmlFigure4, values)).toEqual({
      verdict: 'refuted',
      outcomes: [expect.stringMatching(/LSTM.* \(test\)$/)],
    });
  });

  test.each([
    ['classifier-control', /^fails: with 1 of 32,768 in 4 bits/],
    ['lstm-control', /^fails: with 1 of 32,768 the LSTM/],
  ])('is undecided where %s shows no loss', (id, outcome) => {
    expect(judged(sparcmlFigure4, trained({ ...LOST, [id]: 0 }))).toEqual({
      verdict: 'undecided',
      outcomes: [expect.stringMatching(outcome)],
    });
  });

  test('is undecided if a control cannot be distinguished from dense', () => {
    const values: Values = (id, seed) => ({
      ...trained(LOST)(id, seed),
      ...(id === 'classifier-control' ? { metric: [0.5, 1, 0.9, 1, 0.8][seed]! } : {}),
    });
    expect(judged(sparcmlFigure4, values)).toEqual({
      verdict: 'undecided',
      outcomes: [expect.stringMatching(/^unclear: with 1 of 32,768 in 4 bits/)],
    });
  });
});

describe('a residual network with 1 of 512', () => {
  const LOST = { dense: 0, k1: 0.004, control: 0.05 };
  const trained =
    (lost: Readonly<Record<string, number>>, test = lost): Values =>
    (id, seed) => ({
      // A seed's own luck, the same for all, and a little of the case's own.
      accuracy: 0.97 + 0.002 * seed - test[id]! + (seed % 2) * 0.0005 * id.length,
      training: 0.98 + 0.002 * seed - lost[id]!,
    });

  test('is confirmed where it ends little below dense SGD, and the control far below', () => {
    expect(judged(sparcmlFigure5, trained(LOST))).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  test.each([
    ['in training alone', { ...LOST, k1: 0.02 }, LOST, /\(training\)$/],
    ['in the test alone', LOST, { ...LOST, k1: 0.02 }, /\(test\)$/],
  ])('is refuted where it ends far below %s', (_, training, test_, outcome) => {
    expect(judged(sparcmlFigure5, trained(training, test_))).toEqual({
      verdict: 'refuted',
      outcomes: [expect.stringMatching(outcome)],
    });
  });

  test('is undecided where the control loses nothing', () => {
    expect(judged(sparcmlFigure5, trained({ ...LOST, control: 0.001 }))).toEqual({
      verdict: 'undecided',
      outcomes: [expect.stringMatching(/^unclear: with 1 of 32,768/)],
    });
  });
});

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

describe('passes over sparse samples', () => {
  const TIMES: Readonly<Record<string, number>> = {
    'slow-dense': 4000,
    'slow-sparse': 400,
    'fast-dense': 600,
    'fast-sparse': 300,
  };
  const taking =
    (
      changed: (id: string, seed: number) => object | undefined = () => undefined,
    ): Values =>
    (id, seed) => {
      const [net, , , kind] = id.split('-');
      // What slows a machine down, the same for all of a seed.
      const pass = TIMES[`${net}-${kind}`]! * (1 + seed);
      return { pass, communication: pass / 2, loss: 0.6, ...changed(id, seed) };
    };

  test('are confirmed where sparse ones are faster, most on the slow network', () => {
    expect(judged(sparcmlTable2, taking())).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  test.each([
    [
      'fast-url-lr-sparse',
      { pass: 1e5 },
      'fast, URL, LR: the sparse pass takes less time',
    ],
    [
      'slow-url-lr-sparse',
      { communication: 1e5 },
      'slow, URL, LR: its communication takes less time',
    ],
    [
      'fast-url-lr-sparse',
      { loss: 0.61 },
      'fast, URL, LR: the losses at the end are the same, within 0.1 %',
    ],
  ])('are refuted by %s of %j', (changed, values, failing) => {
    const { outcomes } = judged(
      sparcmlTable2,
      taking((id) => (id === changed ? values : undefined)),
    );
    expect(outcomes).toContain(`fails: ${failing}`);
  });

  test('are confirmed whatever the SVM takes, of which the paper has no such row', () => {
    const values = taking((id) =>
      id === 'slow-url-svm-sparse' ? { pass: 1e5, communication: 1e5 } : undefined,
    );
    expect(judged(sparcmlTable2, values)).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  test('are refuted where the fast network gains more', () => {
    const values = taking((id, seed) =>
      id === 'fast-webspam-lr-dense' ? { pass: 30_000 * (1 + seed) } : undefined,
    );
    expect(judged(sparcmlTable2, values)).toEqual({
      verdict: 'refuted',
      outcomes: ['fails: Webspam: a pass gains more on the slow network'],
    });
  });

  test('are undecided where seeds disagree', () => {
    const values = taking((id, seed) =>
      id === 'fast-url-lr-sparse'
        ? { pass: [300, 6000, 900, 500, 2000][seed] }
        : undefined,
    );
    expect(judged(sparcmlTable2, values)).toMatchObject({
      verdict: 'undecided',
      outcomes: ['unclear: fast, URL, LR: the sparse pass takes less time'],
    });
  });
});

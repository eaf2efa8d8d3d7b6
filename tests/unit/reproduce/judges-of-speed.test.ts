/** The judges of times, entries and training beside dense SGD, by results made up for a verdict. */
import { describe, expect, test } from 'vitest';
import { qsgdFigure2 } from '../../../src/main/reproduce/figures/qsgd-figure-2.ts';
import { sparcmlFigure4 } from '../../../src/main/reproduce/figures/sparcml-figure-4.ts';
import { sparcmlFigure7 } from '../../../src/main/reproduce/figures/sparcml-figure-7.ts';
import { sparcmlTable2 } from '../../../src/main/reproduce/figures/sparcml-table-2.ts';
import { judged, part, type Values } from './judged.ts';

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

  test('are confirmed where they are as expected', () => {
    expect(judged(sparcmlFigure7, counted())).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  test('are refuted 3 % off', () => {
    const values = counted((id) =>
      id === 'uniform-p8-k4' ? { entries: 1.03 * union(8, 4) } : undefined,
    );
    expect(judged(sparcmlFigure7, values)).toEqual({
      verdict: 'refuted',
      outcomes: [expect.stringMatching(/^fails: with 4 entries a rank/)],
    });
  });

  test('are undecided where one seed is off', () => {
    const values = counted((id, seed) =>
      id === 'uniform-p8-k4' && seed === 0
        ? { entries: 1.03 * union(8, 4) }
        : undefined,
    );
    expect(judged(sparcmlFigure7, values).verdict).toBe('undecided');
  });

  test.each(['least', 'most'])('are refuted where disjoint ones meet: %s', (name) => {
    const values = counted((id) =>
      id === 'disjoint-p4-k15' ? { [name]: name === 'least' ? 59 : 61 } : undefined,
    );
    expect(judged(sparcmlFigure7, values)).toEqual({
      verdict: 'refuted',
      outcomes: ['fails: where entries are disjoint it has P·k in every iteration'],
    });
  });

  test('are refuted where uniform ones do not meet', () => {
    const values = counted((id) =>
      id === 'uniform-p16-k15' ? { entries: 241 } : undefined,
    );
    expect(judged(sparcmlFigure7, values).outcomes).toContain(
      'fails: with 15 entries a rank and 16 ranks it has fewer than P·k',
    );
  });
});

describe('training beside dense SGD', () => {
  const trained =
    (changes: Readonly<Record<string, number>>, noise = 0): Values =>
    (id, seed) => ({
      // A seed's own luck, the same for all.
      metric:
        0.95 + 0.01 * seed + (id.startsWith('classifier') ? (changes[id] ?? 0) : 0),
      loss:
        (1 + 0.05 * seed) *
        (1 + (id.startsWith('lstm') ? (changes[id] ?? 0) : 0) + noise * seed),
    });
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
    ['lstm-k2', 0.1, /^fails: with 2 of 512 the LSTM/],
    ['classifier-control', 0, /^fails: with 1 of 32,768 in 4 bits/],
    ['lstm-control', 0, /^fails: with 1 of 32,768 the LSTM/],
  ])('is refuted by %s at %s', (id, change, outcome) => {
    expect(judged(sparcmlFigure4, trained({ ...LOST, [id]: change }))).toEqual({
      verdict: 'refuted',
      outcomes: [expect.stringMatching(outcome)],
    });
  });

  test('is undecided where a control cannot be told from dense', () => {
    const values: Values = (id, seed) => ({
      ...trained(LOST)(id, seed),
      ...(id === 'classifier-control' ? { metric: [0.5, 1, 0.9][seed]! } : {}),
    });
    expect(judged(sparcmlFigure4, values)).toEqual({
      verdict: 'undecided',
      outcomes: [expect.stringMatching(/^unclear: with 1 of 32,768 in 4 bits/)],
    });
  });
});

describe('passes over sparse samples', () => {
  const TIMES: Readonly<Record<string, number>> = {
    ...{ 'slow-dense': 4000, 'slow-sparse': 400 },
    ...{ 'fast-dense': 600, 'fast-sparse': 300 },
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
      'slow-url-svm-sparse',
      { communication: 1e5 },
      'slow, URL, SVM: its communication takes less time',
    ],
    [
      'fast-url-lr-sparse',
      { loss: 0.61 },
      'fast, URL, LR: the losses at the end are the same, to 0.01 %',
    ],
  ])('are refuted by %s of %j', (changed, values, failing) => {
    const { outcomes } = judged(
      sparcmlTable2,
      taking((id) => (id === changed ? values : undefined)),
    );
    expect(outcomes).toContain(`fails: ${failing}`);
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
      id === 'fast-url-lr-sparse' ? { pass: [300, 6000, 900][seed] } : undefined,
    );
    expect(judged(sparcmlTable2, values)).toMatchObject({
      verdict: 'undecided',
      outcomes: ['unclear: fast, URL, LR: the sparse pass takes less time'],
    });
  });
});

describe('shares of communication', () => {
  const sharing =
    (
      changed: (id: string, seed: number) => object | undefined = () => undefined,
    ): Values =>
    (id, seed) => {
      const ranks = part(id, 'p');
      const alexnet = id.startsWith('alexnet');
      const compute = (alexnet ? 80 : 400) / ranks;
      const communication = (alexnet ? 60 : 25) * (id.endsWith('bits-4') ? 0.5 : 1);
      const iteration = compute + communication;
      return {
        ...{ communication, iteration: iteration * (1 + seed) },
        share: communication / iteration + 0.001 * seed,
        ...changed(id, seed),
      };
    };

  test('are confirmed where they grow and quantised gradients take less', () => {
    expect(judged(qsgdFigure2, sharing())).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  test.each([
    [
      'alexnet-p8-full',
      { share: 0.7 },
      'fails: AlexNet: with 32 bit the share of communication grows with the number of ranks',
    ],
    [
      'resnet-50-p2-full',
      { share: 0.61 },
      'fails: it is larger in AlexNet than in ResNet-50 at each number of ranks',
    ],
    [
      'resnet-50-p4-bits-4',
      { communication: 30 },
      'fails: ResNet-50: with 4 bit communication takes less time at each number of ranks',
    ],
    [
      'resnet-50-p8-bits-4',
      { iteration: 1000 },
      'fails: ResNet-50: with 4 bit an iteration takes less time at 8 ranks',
    ],
  ])('are refuted by %s with %j', (changed, values, outcome) => {
    const { outcomes, verdict } = judged(
      qsgdFigure2,
      sharing((id) => (id === changed ? values : undefined)),
    );
    expect(verdict).toBe('refuted');
    expect(outcomes).toContain(outcome);
  });

  test('are undecided where the gain is within the spread', () => {
    const values = sharing((id, seed) =>
      id === 'alexnet-p8-bits-4' ? { iteration: [30, 400, 210][seed] } : undefined,
    );
    expect(judged(qsgdFigure2, values)).toEqual({
      verdict: 'undecided',
      outcomes: [
        'unclear: AlexNet: with 4 bit an iteration takes less time at 8 ranks',
      ],
    });
  });
});

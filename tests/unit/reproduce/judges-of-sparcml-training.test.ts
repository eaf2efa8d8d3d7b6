/** The judges of training with SparCML, by results for which the rule leaves one verdict. */
import { describe, expect, test } from 'vitest';
import { sparcmlFigure4 } from '../../../src/reproduce/figures/sparcml-figure-4.ts';
import { sparcmlFigure5 } from '../../../src/reproduce/figures/sparcml-figure-5.ts';
import { sparcmlTable2 } from '../../../src/reproduce/figures/sparcml-table-2.ts';
import { judged, type Values } from './judged.ts';

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

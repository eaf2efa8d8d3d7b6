/** Results judged by the rules that figures have now. */
import { expect, test } from 'vitest';
import type { Figure } from '../../../src/reproduce/figure.ts';
import { figures, findFigure } from '../../../src/reproduce/figures/registry.ts';
import { judgedAgain } from '../../../src/reproduce/judge-again.ts';
import { claim, atLeast } from '../../../src/reproduce/part.ts';
import {
  documentOf,
  entriesIn,
  entryOf,
  inOrder,
  resultsDocument,
} from '../../../src/reproduce/page/results-document.ts';
import { setupOf } from '../../../src/reproduce/setup.ts';
import { madeUp } from './made-up-result.ts';

const figure = findFigure('a2sgd-figure-3');
const result = madeUp(figure);
const changed = (change: Partial<Figure>): readonly Figure[] =>
  figures.map((one) => (one === figure ? { ...one, ...change } : one));

test('the same rule comes to the same result', () => {
  expect(judgedAgain(result, figures)).toEqual(result);
  const byTorch = { ...result, python: 'venv/bin/python' };
  expect(judgedAgain(byTorch, figures)).toEqual(byTorch);
});

test('another rule judges the same runs, and says when it was changed', () => {
  const sure = atLeast([9, 9, 9, 9, 9], { trueAt: 1 });
  const again = judgedAgain(
    result,
    changed({
      rule: 'So it is.',
      judge: () => ({ parts: [claim('so', sure)], ours: '9' }),
    }),
    1000,
  );
  expect(result.verdict).not.toBe('confirmed');
  expect(again).toEqual({
    ...result,
    rule: 'So it is.',
    verdict: 'confirmed',
    ours: '9',
    findings: again!.findings,
    ruleChangedAt: 1000,
  });
  // Judged once more, by that rule or yet another one, it was first changed then.
  expect(judgedAgain(again!, figures, 2000)?.ruleChangedAt).toBe(1000);
});

test('another bound is another rule; another word beside it is not', () => {
  const judge = (trueAt: number, ours = '9') => ({
    judge: () => ({ parts: [claim('so', atLeast([1, 2, 3, 4, 5], { trueAt }))], ours }),
  });
  const first = judgedAgain(result, changed(judge(1)))!;
  const stated = { ...first };
  delete stated.ruleChangedAt;
  expect(judgedAgain(stated, changed(judge(1, '8')))).toEqual({ ...stated, ours: '8' });
  expect(judgedAgain(stated, changed(judge(2)), 3000)?.ruleChangedAt).toBe(3000);
});

test('other words for the same settings, and other machines, change no run', () => {
  const settings = [{ text: 'A rate of 0.01.', because: 'In other words.' }];
  expect(judgedAgain(result, changed({ settings }))).toEqual({ ...result, settings });
  const [first, ...others] = figure.cases;
  const { world, ...spec } = first!.spec as { readonly world: object };
  const placed = { ...first!, spec: { world: { nodes: ['a'], ...world }, ...spec } };
  expect(judgedAgain(result, changed({ cases: [placed, ...others] }))).toEqual(result);
});

test('runs by other settings, seeds or cases are not judged', () => {
  const [first, ...others] = figure.cases;
  const hotter = { ...first!, spec: { ...first!.spec, optimizer: { lr: 1 } } };
  expect(judgedAgain(result, changed({ cases: [hotter, ...others] }))).toBeUndefined();
  // Earlier results have the words alone.
  const earlier = { ...result, setup: undefined };
  expect(judgedAgain(earlier, figures)).toEqual(result);
  expect(judgedAgain(earlier, changed({ settings: [] }))).toBeUndefined();
  expect(judgedAgain(result, changed({ seeds: [1, 2, 3, 4, 5] }))).toBeUndefined();
  expect(judgedAgain(result, changed({ measureVersion: 2 }))).toBeUndefined();
  expect(
    judgedAgain(result, changed({ cases: figure.cases.slice(1) })),
  ).toBeUndefined();
  expect(judgedAgain(result, [])).toBeUndefined();
});

test('a result of full scale is judged by the same rule', () => {
  const full = { of: figure.id, nodes: ['a'], data: '/data' };
  const id = `${figure.id}-full`;
  const { differences, settings } = figure.full!;
  const setup = setupOf({ ...figure, cases: figure.full!.cases });
  expect(setup).not.toBe(result.setup);
  const large = {
    ...result,
    figure: id,
    differences,
    settings,
    full,
    setup,
  };
  expect(judgedAgain(large, figures)).toEqual(large);
  expect(judgedAgain({ ...large, setup: result.setup! }, figures)).toBeUndefined();
  expect(judgedAgain(large, [findFigure('a2sgd-table-2')])).toBeUndefined();
});

test('a document is read back, and figures have their order', () => {
  const other = madeUp(findFigure('sparcml-figure-4'));
  const full = { ...result, figure: 'a2sgd-figure-3-full' };
  const ids = figures.map((one) => one.id);
  const all = inOrder([full, result, other], ids);
  expect(all).toEqual([other, result, full]);
  const document = resultsDocument(all, ['qsgd-table-1']);
  expect(entriesIn(document)).toEqual(all.map(entryOf));
  expect(documentOf(entriesIn(document), ['qsgd-table-1'])).toBe(document);
});

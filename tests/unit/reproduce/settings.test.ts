/** Settings of figures, at both scales: each number that decides a training is stated, with a reason. */
import { describe, expect, test } from 'vitest';
import type { Figure } from '../../../src/reproduce/figure.ts';
import { figures, findFigure } from '../../../src/reproduce/figures/registry.ts';
import { atFullScale } from '../../../src/reproduce/full-scale.ts';
import { formatCount } from '../../../src/shared/words/units.ts';

interface Spec {
  readonly world: { readonly ranks: number };
  readonly workload: { readonly dataset: string; readonly batchPerRank: number };
  readonly optimizer?: Readonly<Record<string, unknown>>;
  readonly iterations: number;
}

const MACHINES = { nodes: ['a'], processors: undefined, data: '/data' };
const atBothScales: readonly Figure[] = figures.flatMap((figure) =>
  figure.full === undefined
    ? [figure]
    : [figure, atFullScale(figure, MACHINES, figures)],
);

const WORDS = 'zero one two three four five six seven eight'.split(' ');

/** Finds a number in a text, whole: 8 is not in 128. */
function mentions(text: string, value: number): boolean {
  const written = [formatCount(value), String(value), WORDS[value]];
  return written.some(
    (one) =>
      one !== undefined &&
      new RegExp(
        `(?<![\\w.,])${one.replaceAll('.', String.raw`\.`)}(?![\\w]|[.,]\\d)`,
        'i',
      ).test(text),
  );
}

type Says = (text: string) => boolean;
const says =
  (key: RegExp, value: number): Says =>
  (text) =>
    key.test(text) && mentions(text, value);

/** Returns what the settings of a spec have to say, by a name for the report. */
function required({ iterations, optimizer = {}, workload, world }: Spec) {
  const { kind, lr, momentum } = optimizer;
  const all: [string, Says][] = [
    [`${world.ranks} ranks`, says(/ranks?\b|workers?\b/i, world.ranks)],
    [`${iterations} iterations`, says(/iterations/i, iterations)],
  ];
  // Made-up gradients have no samples.
  if (workload.dataset !== 'none') {
    const batch = workload.batchPerRank;
    all.push([`batch ${batch}`, says(/batch|samples|images|windows/i, batch)]);
  }
  if (typeof kind === 'string') {
    all.push([kind, (text) => new RegExp(`\\b${kind}\\b`, 'i').test(text)]);
  }
  if (typeof lr === 'number') all.push([`rate ${lr}`, says(/\brate/i, lr)]);
  // Adam has means of its own.
  if (typeof momentum === 'number' && kind !== 'adam') {
    all.push([
      `momentum ${momentum}`,
      momentum === 0
        ? (text) => /(?:without|no) momentum|plain SGD/i.test(text)
        : says(/momentum/i, momentum),
    ]);
  }
  return all;
}

const unsaid = ({ cases, settings }: Pick<Figure, 'cases' | 'settings'>) => {
  const all = new Map(cases.flatMap(({ spec }) => required(spec as unknown as Spec)));
  return [...all].flatMap(([name, isSaid]) =>
    settings.some(({ text }) => isSaid(text)) ? [] : [name],
  );
};

describe.each(atBothScales.map((figure) => [figure.id, figure] as const))(
  '%s',
  (_, figure) => {
    test('states optimiser, rate, momentum, batch, iterations and ranks of all its cases', () => {
      expect(unsaid(figure)).toEqual([]);
    });

    test('has a place in the paper for each setting, or says that it is ours', () => {
      for (const { because } of figure.settings) {
        expect(because).toMatch(
          /\bours?\b|\b(?:Section|Table|Figure|Appendix|Algorithm|Experiments|Footnote|Equations?)\b/i,
        );
      }
    });
  },
);

test('settings that say nothing, or another number, are seen', () => {
  const { cases, settings } = findFigure('scalecom-figure-3');
  const all = ['4 ranks', '30 iterations', 'batch 32', 'sgd', 'rate 0.1', 'momentum 0'];
  expect(unsaid({ cases, settings: [] })).toEqual(
    expect.arrayContaining([...all, '8 ranks', '16 ranks']),
  );
  const other = settings.map((one) => ({
    ...one,
    text: one.text.replace('0.1', '0.12').replace('30 iterations', '130 iterations'),
  }));
  expect(unsaid({ cases, settings: other })).toEqual(['30 iterations', 'rate 0.1']);
});

test('a figure at full scale has settings of its own', () => {
  const [laptop, full] = atBothScales.filter(({ id }) => id.startsWith('qsgd-table-1'));
  expect(full!.settings).toEqual(findFigure('qsgd-table-1').full!.settings);
  expect(full!.settings).not.toEqual(laptop!.settings);
});

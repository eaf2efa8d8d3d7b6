/** What people read of a figure that is being repeated. */
import { expect, test } from 'vitest';
import { humanFigurePrinter } from '../../../src/cli/text/figure-printer.ts';
import type { Result } from '../../../src/reproduce/result.ts';
import { findFigure } from '../../../src/reproduce/figures/registry.ts';

test('a line for each run, then the verdict, its parts and the page', () => {
  let printed = '';
  const printer = humanFigurePrinter((text) => {
    printed += text;
  });
  const figure = findFigure('a2sgd-table-2');
  printer.begin(figure, 10);
  printer.run(figure, {
    run: 'x',
    case: 'a',
    label: 'top-k, fnn3',
    seed: 3,
    index: 2,
    of: 10,
    ...{ values: { density: 0.123456, bits: 64 }, milliseconds: 2345 },
  });
  printer.run(figure, {
    run: 'y',
    case: 'a',
    label: 'top-k, fnn3',
    seed: 4,
    index: 3,
    of: 10,
    values: { accuracy: 0.1 },
    diverged: true,
    milliseconds: 1000,
  });
  const result: Partial<Result> = {
    verdict: 'refuted',
    findings: [
      { kind: 'check', text: 'one', outcome: 'holds', measured: [] },
      {
        kind: 'claim',
        text: 'another',
        outcome: 'unclear',
        measured: [
          {
            mean: 1,
            low: 0,
            high: 2,
            trueAt: 1,
            falseAt: 1,
            visible: 3,
            name: '4 ranks',
            outcome: 'unclear',
            text: '1 (0 to 2)',
          },
        ],
      },
    ],
    falseVerdict: 0.05,
    claim: { text: 'What they say.', quoted: [] },
    ours: 'what we saw',
  };
  printer.end(result as Result, 'out/a.html');
  expect(printed.split('\n')).toEqual([
    'a2sgd-table-2: Bits that a rank sends in an iteration, by method (10 runs)',
    ' 2/10  top-k, fnn3, seed 3: density 0.1235, bits 64  (2.35 s)',
    ' 3/10  top-k, fnn3, seed 4: diverged, counts as accuracy 0.1  (1.00 s)',
    '',
    'refuted: The direction of the claim does not hold here, at this scale.',
    '  holds    check: one',
    '  unclear  another',
    '           4 ranks: 1 (0 to 2)',
    'By chance, such a verdict is false at most 5 times in 100.',
    'claim: What they say.',
    'here: what we saw',
    'page: out/a.html',
    '',
    '',
  ]);
});

test('what is left out is said when it is given up, and again at the end', () => {
  const left = { figure: 'dct-table-1', why: '1 of 50 runs took 48 s' };
  const printed: string[] = [];
  const printer = humanFigurePrinter((text) => printed.push(text));
  printer.givenUp(left);
  printer.leftOut([]);
  expect(printed.splice(0)).toEqual([
    '\ndct-table-1 is left out: 1 of 50 runs took 48 s\n\n',
  ]);
  printer.leftOut([left]);
  expect(printed.join('').split('\n')).toEqual([
    'Not decided, as --quick takes half an hour at most:',
    '  dct-table-1: 1 of 50 runs took 48 s',
    'Give the name of a figure to make it whole, however long it takes; --all makes all of them.',
    '',
  ]);
});

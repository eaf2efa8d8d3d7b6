/** The figures that can be reproduced, one line each, in the order of the list. */
import { inputError } from '../../shared/errors/errors.ts';
import { nearest } from '../../shared/words/nearest.ts';
import type { Figure } from '../figure.ts';
import { a2sgdFigure1 } from './a2sgd-figure-1.ts';
import { a2sgdFigure2 } from './a2sgd-figure-2.ts';
import { a2sgdFigure3Lstm } from './a2sgd-figure-3-lstm.ts';
import { a2sgdFigure3Resnet } from './a2sgd-figure-3-resnet.ts';
import { a2sgdFigure3 } from './a2sgd-figure-3.ts';
import { a2sgdFigure4 } from './a2sgd-figure-4.ts';
import { a2sgdFigure5 } from './a2sgd-figure-5.ts';
import { a2sgdTable2 } from './a2sgd-table-2.ts';
import { dctFigure2 } from './dct-figure-2.ts';
import { dctFigure5 } from './dct-figure-5.ts';
import { dctFigure7b } from './dct-figure-7b.ts';
import { dctFigure7 } from './dct-figure-7.ts';
import { dctTable1 } from './dct-table-1.ts';
import { dctTable2 } from './dct-table-2.ts';
import { dctTable3 } from './dct-table-3.ts';
import { dctTable4 } from './dct-table-4.ts';
import { qsgdFigure2 } from './qsgd-figure-2.ts';
import { qsgdSection3 } from './qsgd-section-3.ts';
import { qsgdTable1 } from './qsgd-table-1.ts';
import { scalecomFigure1c } from './scalecom-figure-1c.ts';
import { scalecomFigure1 } from './scalecom-figure-1.ts';
import { scalecomFigure2 } from './scalecom-figure-2.ts';
import { scalecomFigure3 } from './scalecom-figure-3.ts';
import { scalecomFigure6 } from './scalecom-figure-6.ts';
import { scalecomTable2 } from './scalecom-table-2.ts';
import { scalecomTable2Resnet } from './scalecom-table-2-resnet.ts';
import { scalecomTable3 } from './scalecom-table-3.ts';
import { sparcmlFigure1 } from './sparcml-figure-1.ts';
import { sparcmlFigure3Nodes } from './sparcml-figure-3-nodes.ts';
import { sparcmlFigure3 } from './sparcml-figure-3.ts';
import { sparcmlFigure4 } from './sparcml-figure-4.ts';
import { sparcmlFigure5 } from './sparcml-figure-5.ts';
import { sparcmlFigure7 } from './sparcml-figure-7.ts';
import { sparcmlTable2 } from './sparcml-table-2.ts';

export const figures: readonly Figure[] = [
  sparcmlFigure1,
  sparcmlFigure3,
  sparcmlFigure3Nodes,
  sparcmlFigure4,
  sparcmlFigure5,
  sparcmlFigure7,
  sparcmlTable2,
  qsgdFigure2,
  qsgdTable1,
  qsgdSection3,
  a2sgdFigure1,
  a2sgdFigure2,
  a2sgdTable2,
  a2sgdFigure3,
  a2sgdFigure3Resnet,
  a2sgdFigure3Lstm,
  a2sgdFigure4,
  a2sgdFigure5,
  scalecomFigure1,
  scalecomFigure1c,
  scalecomFigure2,
  scalecomFigure3,
  scalecomTable2,
  scalecomTable2Resnet,
  scalecomTable3,
  scalecomFigure6,
  dctFigure2,
  dctFigure5,
  dctTable1,
  dctTable2,
  dctTable3,
  dctTable4,
  dctFigure7,
  dctFigure7b,
];

/** @throws GradwireError `FIGURE_UNKNOWN` */
export function findFigure(id: string): Figure {
  const found = figures.find((figure) => figure.id === id);
  if (found !== undefined) return found;
  const ids = figures.map((figure) => figure.id);
  const suggestion = nearest(id, ids);
  throw inputError('FIGURE_UNKNOWN', `there is no figure "${id}"`, {
    next:
      (suggestion === undefined ? '' : `Did you mean "${suggestion}"? `) +
      `Figures: ${ids.join(', ')}.`,
  });
}

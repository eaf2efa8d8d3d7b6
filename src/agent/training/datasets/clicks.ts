/**
 * Embedded click log: 20,000 samples, generated on demand, the same in every run and on every
 * machine. The first 13 category columns describe the viewer, the others the item shown; some
 * categories are more frequent than others. Each category has a hidden number, its taste. The
 * probability of a click depends on the product of the viewer's and the item's sums of tastes, which
 * a linear model cannot express: it can only use the 13 numbers, three of which matter.
 */
import { CATEGORY_COLUMNS, DENSE_COLUMNS } from '../batches/click-fields.ts';
import { purposes, RandomSequence } from '../runtime/random-sequence.ts';
import {
  CLICK_BYTES,
  categoryRow,
  clickFields,
  ClickCollector,
  requireRows,
} from './click-samples.ts';
import type { Dataset } from './dataset.ts';
import { splitSizes } from './sample-split.ts';
import { exp, power } from '../../../shared/numbers/portable-math.ts';
import { formatCount } from '../../../shared/words/units.ts';

const SAMPLES = 20_000;
const FEATURES = 2 ** 14;
/** Columns that describe the viewer; the rest describe what is shown. */
const VIEWERS = CATEGORY_COLUMNS / 2;
/** Categories in a column. */
const CATEGORIES = 8;
/** Log-odds of a click: AGREEMENT for matching tastes, SLOPES for the numbers, OFFSET always. */
const AGREEMENT = 3;
const SLOPES: readonly number[] = [0.5, -0.4, 0.3];
const OFFSET = -1;

export const clicks: Dataset = {
  id: 'clicks',
  title: 'Click log (embedded)',
  summary: `${formatCount(SAMPLES)} samples of ${DENSE_COLUMNS} numbers and ${CATEGORY_COLUMNS} categories, clicked or not, generated on the fly`,
  needsData: false,
  fields: clickFields,
  sampleBytes: CLICK_BYTES,
  features: () => FEATURES,
  inspect: ({ features = FEATURES }) => {
    requireRows(features);
    return splitSizes(SAMPLES);
  },
  open: ({ features = FEATURES, rank, world }) => {
    const collector = new ClickCollector(splitSizes(SAMPLES), rank, world);
    const rows = Array.from({ length: CATEGORY_COLUMNS }, (_, column) =>
      Array.from({ length: CATEGORIES }, (_, which) =>
        categoryRow(Buffer.from(String(which)), column, requireRows(features)),
      ),
    );
    const tastes = hiddenTastes();
    const random = new RandomSequence({ seed: 1, purpose: purposes.clickSample });
    const dense = new Float32Array(DENSE_COLUMNS);
    const categories = new Int32Array(CATEGORY_COLUMNS);
    for (let n = 0; n < SAMPLES; n++) {
      const samples = collector.ofSplit(n);
      if (samples === undefined) continue;
      random.rename({ seed: 1, iteration: n, purpose: purposes.clickSample });
      let score = OFFSET;
      for (let i = 0; i < DENSE_COLUMNS; i++) {
        dense[i] = random.bell();
        score += (SLOPES[i] ?? 0) * dense[i]!;
      }
      let viewer = 0;
      let shown = 0;
      for (let column = 0; column < CATEGORY_COLUMNS; column++) {
        // The probability of category c falls with c.
        const which = Math.floor(CATEGORIES * power(random.uniform(), 2));
        categories[column] = rows[column]![which]!;
        const taste = tastes[column]![which]!;
        if (column < VIEWERS) viewer += taste;
        else shown += taste;
      }
      score += (AGREEMENT * viewer * shown) / VIEWERS;
      const label = random.uniform() < 1 / (1 + exp(-score)) ? 1 : 0;
      samples.add({ label, dense, categories });
    }
    return Promise.resolve(collector.shard());
  },
};

/** The taste of each category, by column. */
function hiddenTastes(): readonly (readonly number[])[] {
  const random = new RandomSequence({ seed: 1, purpose: purposes.clickTaste });
  return Array.from({ length: CATEGORY_COLUMNS }, () =>
    Array.from({ length: CATEGORIES }, () => random.bell()),
  );
}

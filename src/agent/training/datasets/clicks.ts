/**
 * Embedded click logs of 20,000 and 200,000 samples, or of a size that a spec gives, generated on demand, the same in
 * every run and on every machine. A sample depends on its number alone, so the first samples of a longer log are those
 * of a shorter one. Test losses of 50,000 samples have a fifth of the standard error of those of 2,000. The first 13 category columns describe the viewer, the others the item shown; some
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
  type ClickSample,
} from './click-samples.ts';
import type { Dataset } from './dataset.ts';
import { splitSizes, type SplitSizes } from './sample-split.ts';
import { exp, power } from '../../../shared/numbers/portable-math.ts';
import { formatCount } from '../../../shared/words/units.ts';

const FEATURES = 2 ** 14;
/** Columns that describe the viewer; the rest describe what is shown. */
const VIEWERS = CATEGORY_COLUMNS / 2;
/** Categories in a column. */
const CATEGORIES = 8;
/** Log-odds of a click: AGREEMENT for matching tastes, SLOPES for the numbers, OFFSET always. */
const AGREEMENT = 3;
const SLOPES: readonly number[] = [0.5, -0.4, 0.3];
const OFFSET = -1;

/** Every tenth sample is for testing. */
export const clicks = clickLog({
  id: 'clicks',
  title: 'Click log (embedded)',
  samples: 20_000,
  split: splitSizes,
  of: (collector, n) => collector.ofSplit(n),
});

/** One part in this many of the larger log, the last, is for testing. */
const LARGE_TEST = 4;

/** Enough samples for losses that differ by less than a hundredth. The last quarter is for testing. */
export const clicksLarge = clickLog({
  id: 'clicks-large',
  title: 'Large click log (embedded)',
  samples: 200_000,
  split: (samples) => {
    const test = Math.floor(samples / LARGE_TEST);
    return { train: samples - test, test };
  },
  of: (collector, n, { train }) =>
    n < train ? collector.ofTrain(n) : collector.ofTest(n - train),
});

interface ClickLog {
  readonly id: string;
  readonly title: string;
  /** Samples where a spec asks for no other number. */
  readonly samples: number;
  readonly split: (samples: number) => SplitSizes;
  /** The part that the n-th sample goes to; undefined if it is another rank's. */
  readonly of: (
    collector: ClickCollector,
    n: number,
    sizes: SplitSizes,
  ) => ReturnType<ClickCollector['ofTrain']>;
}

function clickLog({ id, title, samples: usual, split, of }: ClickLog): Dataset {
  return {
    id,
    title,
    summary: `${formatCount(usual)} samples of ${DENSE_COLUMNS} numbers and ${CATEGORY_COLUMNS} categories, clicked or not, generated on the fly`,
    needsData: false,
    takesSamples: true,
    fields: clickFields,
    sampleBytes: CLICK_BYTES,
    features: () => FEATURES,
    inspect: ({ features = FEATURES, samples = usual }) => {
      requireRows(features);
      return split(samples);
    },
    open: ({ features = FEATURES, samples = usual, rank, world }) => {
      const sizes = split(samples);
      const collector = new ClickCollector(sizes, rank, world);
      const sampleOf = generator(requireRows(features));
      for (let n = 0; n < samples; n++) of(collector, n, sizes)?.add(sampleOf(n));
      return Promise.resolve(collector.shard());
    },
  };
}

/**
 * Generates samples by their number, for tables of `features` rows. A sample is valid until the next
 * one is generated.
 */
function generator(features: number): (n: number) => ClickSample {
  const rows = Array.from({ length: CATEGORY_COLUMNS }, (_, column) =>
    Array.from({ length: CATEGORIES }, (_, which) =>
      categoryRow(Buffer.from(String(which)), column, features),
    ),
  );
  const tastes = hiddenTastes();
  const random = new RandomSequence({ seed: 1, purpose: purposes.clickSample });
  const dense = new Float32Array(DENSE_COLUMNS);
  const categories = new Int32Array(CATEGORY_COLUMNS);
  return (n) => {
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
    return { label, dense, categories };
  };
}

/** The taste of each category, by column. */
function hiddenTastes(): readonly (readonly number[])[] {
  const random = new RandomSequence({ seed: 1, purpose: purposes.clickTaste });
  return Array.from({ length: CATEGORY_COLUMNS }, () =>
    Array.from({ length: CATEGORIES }, () => random.bell()),
  );
}

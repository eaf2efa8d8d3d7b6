/**
 * Embedded sparse samples: 10,000 samples of 40 features each, generated on demand, the same in
 * every run and on every machine. As in text, a few features are in most samples
 * and most are rare. Each feature has a hidden weight. In nine samples of ten
 * the class is the sign of the sum of the sample's weights.
 */
import { purposes, RandomSequence } from '../runtime/random-sequence.ts';
import type { Dataset } from './dataset.ts';
import { splitSizes } from './sample-split.ts';
import { ShardCollector, sparseFields, sparseSampleBytes } from './sparse-samples.ts';
import { power } from '../../../shared/numbers/portable-math.ts';
import { formatCount } from '../../../shared/words/units.ts';

const SAMPLES = 10_000;
const PER_SAMPLE = 40;
const FEATURES = 2 ** 16;
const WRONG_LABELS = 0.1;

export const sparse: Dataset = {
  id: 'sparse',
  title: 'Sparse samples (embedded)',
  summary: `${formatCount(SAMPLES)} samples of ${PER_SAMPLE} features in two classes, generated on the fly`,
  needsData: false,
  fields: sparseFields,
  features: () => FEATURES,
  inspect: () => ({
    ...splitSizes(SAMPLES),
    bytes: sparseSampleBytes(SAMPLES, PER_SAMPLE * SAMPLES),
  }),
  open: ({ features = FEATURES, rank, world }) => {
    const collector = new ShardCollector(splitSizes(SAMPLES), rank, world);
    const random = new RandomSequence({ seed: 1, purpose: purposes.sparseSample });
    const hidden = new RandomSequence({ seed: 1, purpose: purposes.sparseWeight });
    for (let n = 0; n < SAMPLES; n++) {
      const samples = collector.ofSplit(n);
      if (samples === undefined) continue;
      random.rename({ seed: 1, iteration: n, purpose: purposes.sparseSample });
      const of = new Set<number>();
      // Feature f with a probability of about 1/f: log-uniform.
      while (of.size < Math.min(PER_SAMPLE, features)) {
        of.add(Math.floor(power(features + 1, random.uniform())) - 1);
      }
      let score = 0;
      for (const feature of of) {
        hidden.rename({ seed: 1, iteration: feature, purpose: purposes.sparseWeight });
        // Rare features carry less information; otherwise nothing could be learnt from so
        // few samples.
        score += hidden.bell() / power(feature + 1, 0.3);
      }
      const isWrong = random.uniform() < WRONG_LABELS;
      const label = score > 0 === isWrong ? 0 : 1;
      const used = [...of].sort((a, b) => a - b);
      samples.add({ label, features: used, values: used.map(() => 1) });
    }
    return Promise.resolve(collector.shard());
  },
};

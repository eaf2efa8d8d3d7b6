/**
 * A classifier of small colour images whose layers are normalised by batch: softmax
 * cross-entropy, accuracy, and the statistics of its norms.
 */
import { accuracy } from '../metrics/accuracy.ts';
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';
import { BatchNorms } from './batch-norm.ts';
import { scoreClasses } from './classifier.ts';
import type { Model } from './model.ts';

export interface ImageClassifierDefinition extends Pick<
  Model,
  'id' | 'title' | 'summary' | 'tensors'
> {
  readonly statistics: NonNullable<Model['statistics']>;
  /** Columns of an image, and as many rows. */
  readonly width: number;
  readonly channels: number;
  readonly classes: number;
  /**
   * Scores before the softmax, [samples, classes], of images [samples, rows, columns,
   * channels]. Takes ownership of its arguments.
   */
  logits(
    jax: Jax,
    parameters: Iterator<JaxArray>,
    images: JaxArray,
    norms: BatchNorms,
  ): JaxArray;
}

export function imageClassifier(definition: ImageClassifierDefinition): Model {
  const { id, title, summary, tensors, statistics } = definition;
  const { width, channels, classes } = definition;
  return {
    id,
    title,
    summary,
    tensors,
    statistics,
    inputs: {
      inputs: { type: 'f32', shape: [width, width, channels] },
      labels: { type: 'i32', shape: [], below: classes },
    },
    predictions: 1,
    metric: accuracy,
    objective(jax, parameters, { inputs, labels }, given) {
      const norms = new BatchNorms(jax, given);
      const logits = definition.logits(jax, parameters.values(), inputs!, norms);
      const { losses, hits } = scoreClasses(jax, logits, labels!);
      return { losses, sums: [hits], statistics: norms.statistics };
    },
  };
}

/** The next tensor of a model. */
export function take(parameters: Iterator<JaxArray>): JaxArray {
  const { done, value } = parameters.next();
  if (done === true)
    throw new Error('internal: a model takes more tensors than it has');
  return value;
}

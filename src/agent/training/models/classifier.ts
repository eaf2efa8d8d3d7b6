/**
 * A softmax classifier: rows of numbers to one score per class. Its loss is softmax
 * cross-entropy, its metric the share of samples whose highest score is the right class.
 */
import { accuracy } from '../metrics/accuracy.ts';
import type { ModelFields } from '../batches/batch.ts';
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';
import { crossEntropy } from './cross-entropy.ts';
import { requireShape } from './model-failed.ts';
import type { ModelHead } from './layered.ts';
import type { Model } from './model.ts';

export interface ClassifierDefinition extends Pick<
  Model,
  'id' | 'title' | 'summary' | 'tensors'
> {
  /** Values of one sample, which arrive as a flat row. */
  readonly inputLength: number;
  readonly classes: number;
  /**
   * Scores before the softmax, [rows, classes], of inputs [rows, inputLength]. Takes
   * ownership of its arguments, as every jax-js function does.
   */
  logits(jax: Jax, parameters: readonly JaxArray[], inputs: JaxArray): JaxArray;
}

export function classifier(definition: ClassifierDefinition): Model {
  const { id, title, summary, tensors, inputLength, classes } = definition;
  return {
    id,
    title,
    summary,
    tensors,
    inputs: classifierInputs(inputLength, classes),
    predictions: 1,
    metric: accuracy,
    objective(jax, parameters, { inputs, labels }) {
      const rows = inputs!.shape[0]!;
      const logits = definition.logits(jax, parameters, inputs!);
      requireShape('logits', logits, [rows, classes]);
      const { losses, hits } = scoreClasses(jax, logits, labels!);
      return { losses, sums: [hits] };
    },
  };
}

/** Parts that classifiers made of named layers share. The last layer returns the scores. */
export function classifierKind(inputLength: number, classes: number) {
  return {
    inputs: classifierInputs(inputLength, classes),
    predictions: 1,
    metric: accuracy,
    head: {
      fields: ['labels'],
      objective({ jax, fields }, logits) {
        const { losses, hits } = scoreClasses(jax, logits, fields.labels!);
        return { losses, sums: [hits] };
      },
    } satisfies ModelHead,
  };
}

const classifierInputs = (inputLength: number, classes: number): ModelFields => ({
  inputs: { type: 'f32', shape: [inputLength] },
  labels: { type: 'i32', shape: [], below: classes },
});

export interface Scores {
  /** −log p of the right class, [rows]. */
  readonly losses: JaxArray;
  /** 1 where the highest score is the right class, else 0, [rows]. */
  readonly hits: JaxArray;
}

/** Takes ownership of `logits` [rows, classes] and `labels` [rows] (int32). */
export function scoreClasses(jax: Jax, logits: JaxArray, labels: JaxArray): Scores {
  const { numpy } = jax;
  const hits = numpy
    .equal(numpy.argmax(logits.ref, 1), labels.ref)
    .astype(numpy.float32);
  return { losses: crossEntropy(jax, logits, labels), hits };
}

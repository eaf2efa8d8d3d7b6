/**
 * The objective of all models so far: softmax cross-entropy over classes, and the count
 * of samples whose highest score is the right class. Written in jax-js operations, to be
 * compiled together with a model's forward pass.
 */
import type { Jax, JaxArray } from './runtime/jax-runtime.ts';

export interface Scores {
  /** −log p of the right class, [rows]. */
  readonly losses: JaxArray;
  /** 1 where the highest score is the right class, else 0, [rows]. */
  readonly hits: JaxArray;
}

/** Takes ownership of `logits` [rows, classes] and `labels` [rows] (int32). */
export function scoreClasses(jax: Jax, logits: JaxArray, labels: JaxArray): Scores {
  const { numpy, nn } = jax;
  const classes = logits.shape[1]!;
  const hits = numpy
    .equal(numpy.argmax(logits.ref, 1), labels.ref)
    .astype(numpy.float32);
  const right = nn.oneHot(labels, classes);
  const losses = nn.logSoftmax(logits).mul(right).sum(1).neg();
  return { losses, hits };
}

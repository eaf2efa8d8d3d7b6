/**
 * A transformer that makes one sequence of another: an encoder, whose positions see the
 * whole source, and a decoder, whose positions see the source and the preceding part of
 * the target. It sees the target up to each token and predicts that token (teacher
 * forcing); the loss of a sample is the mean of its tokens'. Both sequences are filled up
 * with `PADDING`, which no place attends to and which does not count.
 *
 * The scores of tokens are products with their embeddings, which serve twice.
 */
import { tokenAccuracy } from '../metrics/token-accuracy.ts';
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';
import { scoreClasses } from './classifier.ts';
import type { Model } from './model.ts';
import {
  causalMask,
  embeddingTensor,
  layerTensors,
  normTensors,
  paddingMask,
  TransformerPass,
  type TransformerShape,
} from './transformer.ts';

/** The token behind the end of a sequence. */
const PADDING = 0;

export interface TranslatorShape extends TransformerShape {
  /** Tokens of a source and of a target, padding among them. */
  readonly sourceVocabulary: number;
  readonly targetVocabulary: number;
  /** Layers of the encoder, and as many of the decoder. */
  readonly layers: number;
}

export function transformerTranslator(
  definition: TranslatorShape & Pick<Model, 'id' | 'title' | 'summary'>,
): Model {
  const { id, title, summary, layers, sourceVocabulary, targetVocabulary } = definition;
  const part = (name: string, vocabulary: number, cross: boolean) => [
    embeddingTensor(`${name}.embedding`, vocabulary, definition),
    ...Array.from({ length: layers }, (_, layer) =>
      layerTensors(`${name}.layer${layer + 1}`, definition, { cross }),
    ).flat(),
    ...(definition.norm === 'before' ? normTensors(`${name}.norm`, definition) : []),
  ];
  return {
    id,
    title,
    summary,
    inputs: {
      source: { type: 'i32', shape: ['any'], below: sourceVocabulary },
      target: { type: 'i32', shape: ['any'], below: targetVocabulary },
    },
    predictions: 1,
    metric: tokenAccuracy,
    tensors: [
      ...part('encoder', sourceVocabulary, false),
      ...part('decoder', targetVocabulary, true),
    ],
    objective(jax, parameters, { source, target }) {
      const rows = source!.shape[0]!;
      const pass = new TransformerPass({ jax, shape: definition, parameters, rows });
      const steps = target!.shape[1]! - 1;
      const mask = paddingMask(jax, source!.ref, PADDING);
      let values = pass.embed(source!, pass.take());
      for (let layer = 0; layer < layers; layer++) values = pass.layer(values, mask);
      const memory = { values: pass.finish(values), mask };
      // Padding of the target comes after everything that counts, where nothing attends to it.
      const causal = causalMask(jax, steps);
      const embedding = pass.take();
      values = pass.embed(target!.ref.slice([], [0, steps]), embedding.ref);
      for (let layer = 0; layer < layers; layer++) {
        values = pass.layer(values, causal, memory);
      }
      for (const used of [causal, memory.values, mask]) used.dispose();
      const { numpy } = jax;
      const scores = numpy.matmul(pass.finish(values), numpy.transpose(embedding));
      return scoreTokens(jax, scores, target!.slice([], [1, steps + 1]));
    },
  };
}

/** @param scores [rows · steps, tokens] @param labels [rows, steps] */
function scoreTokens(jax: Jax, scores: JaxArray, labels: JaxArray) {
  const { numpy } = jax;
  const [rows, steps] = labels.shape as [number, number];
  const counts = numpy.notEqual(labels.ref, PADDING).astype(numpy.float32);
  const { losses, hits } = scoreClasses(jax, scores, labels.reshape([rows * steps]));
  const counted = counts.ref.sum(1);
  const right = hits.reshape([rows, steps]).mul(counts.ref).sum(1);
  const sums = losses.reshape([rows, steps]).mul(counts).sum(1);
  // A target of padding alone has a loss of 0.
  return { losses: sums.div(numpy.maximum(counted.ref, 1)), sums: [right, counted] };
}

/**
 * A transformer that predicts the next token: layers of attention in which no place sees those
 * behind it. The scores of tokens are products with their embeddings, which serve twice
 * (Press and Wolf, "Using the Output Embedding to Improve Language Models", 2017).
 */
import { perplexity } from '../metrics/perplexity.ts';
import { crossEntropy } from './cross-entropy.ts';
import type { Model } from './model.ts';
import {
  causalMask,
  embeddingTensor,
  layerTensors,
  normTensors,
  TransformerPass,
  type TransformerShape,
} from './transformer.ts';

export interface LanguageModelShape extends TransformerShape {
  /** Tokens that there are. */
  readonly vocabulary: number;
  readonly layers: number;
  /** Predictions in a window. */
  readonly steps: number;
}

export function transformerLanguageModel(
  definition: LanguageModelShape & Pick<Model, 'id' | 'title' | 'summary'>,
): Model {
  const { id, title, summary, layers, norm, steps, vocabulary } = definition;
  return {
    ...{ id, title, summary },
    inputs: { tokens: { type: 'i32', shape: [steps + 1], below: vocabulary } },
    predictions: steps,
    metric: perplexity,
    tensors: [
      embeddingTensor('embedding', vocabulary, definition),
      ...Array.from({ length: layers }, (_, layer) =>
        layerTensors(`layer${layer + 1}`, definition, { cross: false }),
      ).flat(),
      ...(norm === 'before' ? normTensors('norm', definition) : []),
    ],
    objective(jax, parameters, { tokens }) {
      const { numpy } = jax;
      const rows = tokens!.shape[0]!;
      const seen = tokens!.ref.slice([], [0, steps]);
      const next = tokens!.slice([], [1, steps + 1]).reshape([rows * steps]);
      const pass = new TransformerPass({ jax, shape: definition, parameters, rows });
      const embedding = pass.take();
      let values = pass.embed(seen, embedding.ref);
      const mask = causalMask(jax, steps);
      for (let layer = 0; layer < layers; layer++) values = pass.layer(values, mask);
      mask.dispose();
      const scores = numpy.matmul(pass.finish(values), numpy.transpose(embedding));
      const losses = crossEntropy(jax, scores, next).reshape([rows, steps]).sum(1);
      return { losses, sums: [] };
    },
  };
}

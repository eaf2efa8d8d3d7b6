/**
 * A decoder-only transformer that predicts the next token. Input and output embeddings are
 * tied (Press and Wolf, "Using the Output Embedding to Improve Language Models", 2017).
 */
import { perplexity } from '../metrics/perplexity.ts';
import { crossEntropy } from './cross-entropy.ts';
import {
  layered,
  type LayerCall,
  type LayeredModel,
  type ModelLayer,
} from './layered.ts';
import type { Model, ModelTensor } from './model.ts';
import type { JaxArray } from '../runtime/jax-runtime.ts';
import {
  causalMask,
  embeddingTensor,
  layerTensors,
  normTensors,
  splitTensors,
  TransformerPass,
  type TransformerShape,
} from './transformer.ts';

export interface LanguageModelShape extends TransformerShape {
  /** Number of different tokens. */
  readonly vocabulary: number;
  readonly layers: number;
  /** Predictions per window. */
  readonly steps: number;
}

export function transformerLanguageModel(
  definition: LanguageModelShape & Pick<Model, 'id' | 'title' | 'summary'>,
): LayeredModel {
  const { id, inner, layers, norm, steps, summary, title, vocabulary, width } =
    definition;
  const output = { rows: steps, width };
  const embedding = embeddingTensor('embedding', vocabulary, definition);
  const ofLayers = Array.from({ length: layers }, (_, layer) =>
    layerTensors(`layer${layer + 1}`, definition, { cross: false }),
  );
  const ofNorm = norm === 'before' ? normTensors('norm', definition) : [];
  const pass = ({ jax, parameters, samples: rows }: LayerCall) =>
    new TransformerPass({ jax, shape: definition, parameters, rows });
  return layered({
    id,
    title,
    summary,
    inputs: { tokens: { type: 'i32', shape: [steps + 1], below: vocabulary } },
    predictions: steps,
    metric: perplexity,
    tensors: [embedding, ...ofLayers.flat(), ...ofNorm],
    layers: [
      {
        name: 'embedding',
        tensors: [embedding.name],
        fields: ['tokens'],
        output,
        apply(call) {
          const own = pass(call);
          return own.embed(call.fields.tokens!.slice([], [0, steps]), own.take());
        },
      },
      ...ofLayers.map((tensors, index): ModelLayer => {
        const name = `layer${index + 1}`;
        const [first, second] = splitTensors(tensors, definition);
        const layer = { name, fields: [], output, tensors: namesOf(tensors) };
        const masked = (
          { jax }: LayerCall,
          apply: (mask: JaxArray) => JaxArray,
        ): JaxArray => {
          const mask = causalMask(jax, steps);
          const result = apply(mask);
          mask.dispose();
          return result;
        };
        return {
          ...layer,
          apply: (call, values) =>
            masked(call, (mask) => pass(call).layer(values!, mask)),
          parts: [
            {
              name: `${name}.units`,
              fields: [],
              output: { rows: steps, width: inner + width, skip: width },
              tensors: namesOf(first),
              apply: (call, values) =>
                masked(call, (mask) => pass(call).toUnits(values!, mask)),
            },
            {
              ...layer,
              tensors: namesOf(second),
              apply: (call, values) => pass(call).fromUnits(values!),
            },
          ],
        };
      }),
      {
        name: 'scores',
        fields: [],
        output: { rows: steps, width: vocabulary },
        tensors: [...ofNorm.map(({ name }) => name), embedding.name],
        apply(call, values) {
          const { numpy } = call.jax;
          const own = pass(call);
          const normed = own.finish(values!);
          return numpy.matmul(normed, numpy.transpose(own.take()));
        },
      },
    ],
    head: {
      fields: ['tokens'],
      objective({ jax, fields, samples }, scores) {
        const next = fields.tokens!.slice([], [1, steps + 1]);
        const targets = next.reshape([samples * steps]);
        const losses = crossEntropy(jax, scores, targets).reshape([samples, steps]);
        return { losses: losses.sum(1), sums: [] };
      },
    },
  });
}

const namesOf = (tensors: readonly ModelTensor[]): readonly string[] =>
  tensors.map(({ name }) => name);

/**
 * The layers of a transformer: attention with several heads, the two-layer network between,
 * and layer norm around both. Each layer has its tensors and its computation here, in the
 * same order.
 *
 * Source: Vaswani et al., "Attention Is All You Need", 2017, section 3. Norm before a layer,
 * on the way around which nothing is changed: Xiong et al., "On Layer Normalization in the
 * Transformer Architecture", 2020. There is no dropout: the replicas of a run compute the
 * same function.
 */
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';
import { oneHot } from './cross-entropy.ts';
import type { Initializer, ModelTensor } from './model.ts';
import { cos, power, sin } from '../../../shared/portable-math.ts';

export interface TransformerShape {
  /** Length of a token's vector. */
  readonly width: number;
  /** The number of heads; each sees its share of the width. */
  readonly heads: number;
  /** Units between the two layers of the network that follows the attention. */
  readonly inner: number;
  /**
   * Whether a layer's input is normalised, and the last output; or the sum after the
   * layer.
   */
  readonly norm: 'before' | 'after';
}

type Width = Pick<TransformerShape, 'width'>;

/** Masked positions have no weight in a softmax of f32. */
const MASKED = -1e9;

/** Tokens' vectors; scaled by √width when they are looked up. */
export function embeddingTensor(
  name: string,
  vocabulary: number,
  { width }: Width,
): ModelTensor {
  const initialize = { normal: 1 / Math.sqrt(width) };
  return { name, shape: [vocabulary, width], initialize };
}

export function normTensors(name: string, { width }: Width): ModelTensor[] {
  return [
    { name: `${name}.scale`, shape: [width], initialize: 'ones' },
    { name: `${name}.shift`, shape: [width], initialize: 'zeros' },
  ];
}

/** @param name of the layer, as `encoder.layer1` */
export function layerTensors(
  name: string,
  shape: TransformerShape,
  { cross }: { readonly cross: boolean },
): ModelTensor[] {
  const { inner, width } = shape;
  const attentions = cross ? ['attention', 'cross'] : ['attention'];
  return [
    ...attentions.flatMap((part) => [
      ...normTensors(`${name}.${part}.norm`, shape),
      ...['query', 'key', 'value', 'output'].flatMap((product) =>
        linearTensors(`${name}.${part}.${product}`, width, width),
      ),
    ]),
    ...normTensors(`${name}.network.norm`, shape),
    ...linearTensors(`${name}.network.first`, width, inner),
    ...linearTensors(`${name}.network.second`, inner, width),
  ];
}

function linearTensors(name: string, from: number, to: number): ModelTensor[] {
  // Glorot and Bengio, 2010: the scale of values and of gradients stays about the same.
  const initialize: Initializer = { uniform: Math.sqrt(6 / (from + to)) };
  return [
    { name: `${name}.weight`, shape: [from, to], initialize },
    { name: `${name}.bias`, shape: [to], initialize: 'zeros' },
  ];
}

/**
 * The computation, which takes a model's parameters one after the other. Vectors of a batch of
 * sequences are [rows · length, width]. Every function takes ownership of the arrays that it
 * is given, but masks, which several layers use.
 */
export class TransformerPass {
  readonly #jax: Jax;
  readonly #shape: TransformerShape;
  readonly #parameters: Iterator<JaxArray>;
  /** Sequences in the batch. */
  readonly #rows: number;

  constructor(options: {
    readonly jax: Jax;
    readonly shape: TransformerShape;
    readonly parameters: readonly JaxArray[];
    readonly rows: number;
  }) {
    this.#jax = options.jax;
    this.#shape = options.shape;
    this.#parameters = options.parameters.values();
    this.#rows = options.rows;
  }

  /** The next parameter that no layer has taken. */
  take(): JaxArray {
    const { done, value } = this.#parameters.next();
    if (done === true) throw new Error('internal: a transformer has too few tensors');
    return value;
  }

  /** Tokens [rows, length] by the rows of `table`, with their places added. */
  embed(tokens: JaxArray, table: JaxArray): JaxArray {
    const { numpy } = this.#jax;
    const { width } = this.#shape;
    const [rows, length] = tokens.shape as [number, number];
    const chosen = oneHot(this.#jax, tokens, table.shape[0]!);
    const vectors = numpy.matmul(chosen, table).mul(Math.sqrt(width));
    return vectors
      .reshape([rows, length, width])
      .add(numpy.array(placeVectors(length, width), { shape: [length, width] }))
      .reshape([rows * length, width]);
  }

  /** @param mask from `causalMask` or `paddingMask` */
  layer(
    values: JaxArray,
    mask: JaxArray,
    memory?: { readonly values: JaxArray; readonly mask: JaxArray },
  ): JaxArray {
    let result = this.#around(values, (own) => this.#attention(own.ref, own, mask.ref));
    if (memory !== undefined) {
      result = this.#around(result, (own) =>
        this.#attention(own, memory.values.ref, memory.mask.ref),
      );
    }
    return this.#around(result, (own) => {
      const units = this.#jax.nn.relu(this.#linear(own));
      return this.#linear(units);
    });
  }

  /** Normalises the last layer's output, unless that has been done already. */
  finish(values: JaxArray): JaxArray {
    return this.#shape.norm === 'before' ? this.#norm(values) : values;
  }

  /** A layer and the way around it. */
  #around(values: JaxArray, compute: (values: JaxArray) => JaxArray): JaxArray {
    const [scale, shift] = [this.take(), this.take()];
    if (this.#shape.norm === 'before') {
      const normed = this.#normBy(values.ref, scale, shift);
      return values.add(compute(normed));
    }
    return this.#normBy(values.ref.add(compute(values)), scale, shift);
  }

  #norm(values: JaxArray): JaxArray {
    return this.#normBy(values, this.take(), this.take());
  }

  #normBy(values: JaxArray, scale: JaxArray, shift: JaxArray): JaxArray {
    return this.#jax.nn.standardize(values, -1).mul(scale).add(shift);
  }

  #linear(values: JaxArray): JaxArray {
    return this.#jax.numpy.matmul(values, this.take()).add(this.take());
  }

  /** Each of `asking` takes a mean of `asked`, weighted by how well they fit. */
  #attention(asking: JaxArray, asked: JaxArray, mask: JaxArray): JaxArray {
    const { numpy, nn } = this.#jax;
    const { heads, width } = this.#shape;
    const queries = this.#byHead(this.#linear(asking));
    const keys = this.#byHead(this.#linear(asked.ref));
    const shown = this.#byHead(this.#linear(asked));
    const fit = numpy
      .matmul(queries, keys.transpose([0, 1, 3, 2]))
      .mul(1 / Math.sqrt(width / heads))
      .add(mask);
    const means = numpy.matmul(nn.softmax(fit, -1), shown);
    return this.#linear(means.transpose([0, 2, 1, 3]).reshape([-1, width]));
  }

  /** [rows · length, width] as [rows, heads, length, width ⁄ heads]. */
  #byHead(values: JaxArray): JaxArray {
    const { heads, width } = this.#shape;
    return values
      .reshape([this.#rows, -1, heads, width / heads])
      .transpose([0, 2, 1, 3]);
  }
}

/** The mask that keeps a place from seeing later ones, [length, length]. */
export function causalMask({ numpy }: Jax, length: number): JaxArray {
  const mask = Float32Array.from({ length: length * length }, (_, i) =>
    i % length > Math.floor(i / length) ? MASKED : 0,
  );
  return numpy.array(mask, { shape: [length, length] });
}

/** A mask that hides padding, [rows, 1, 1, length]. @param tokens [rows, length] */
export function paddingMask(
  { numpy }: Jax,
  tokens: JaxArray,
  padding: number,
): JaxArray {
  const [rows, length] = tokens.shape as [number, number];
  return numpy
    .equal(tokens, padding)
    .astype(numpy.float32)
    .mul(MASKED)
    .reshape([rows, 1, 1, length]);
}

/** Sines and cosines of places by waves that grow longer, [length, width], flat. */
function placeVectors(length: number, width: number): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: length * width }, (_, i) => {
    const place = Math.floor(i / width);
    const wave = Math.floor((i % width) / 2);
    const angle = place / power(10_000, (2 * wave) / width);
    return i % 2 === 0 ? sin(angle) : cos(angle);
  });
}

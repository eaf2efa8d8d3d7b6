/**
 * The layers of a transformer: multi-head attention and a feed-forward network, each with a
 * residual connection and a layer norm. For each layer this file has the parameter tensors and
 * the computation, which takes them in the same order.
 *
 * Source: Vaswani et al., "Attention Is All You Need", 2017, section 3. Pre-norm: Xiong et al.,
 * "On Layer Normalization in the Transformer Architecture", 2020. There is no dropout, so that
 * all replicas of a run compute the same function.
 */
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';
import { oneHot } from './cross-entropy.ts';
import type { Initializer, ModelTensor } from './model.ts';
import { cos, power, sin } from '../../../shared/numbers/portable-math.ts';

export interface TransformerShape {
  /** Length of the vector of a token. */
  readonly width: number;
  /** Attention heads; each has width ⁄ heads elements of a vector. */
  readonly heads: number;
  /** Hidden units of the feed-forward network. */
  readonly inner: number;
  /**
   * `before` (pre-norm): each sublayer's input is normalised, and the output of the last layer.
   * `after` (post-norm): the sum of the sublayer's output and its residual connection is.
   */
  readonly norm: 'before' | 'after';
}

type Width = Pick<TransformerShape, 'width'>;

/** Number added to the scores of masked positions: their softmax is 0 in f32. */
const MASKED = -1e9;

/** Number added to the variance in a layer norm, as PyTorch does. */
const EPSILON = 1e-5;

/** One vector per token. `embed` multiplies them by √width. */
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

/** @param name of the layer, for example `encoder.layer1` */
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

/**
 * The tensors of a layer without `cross` in two parts: up to the units of its feed-forward network, and the
 * rest. A norm belongs to the part that applies it.
 */
export function splitTensors(
  tensors: readonly ModelTensor[],
  { norm }: Pick<TransformerShape, 'norm'>,
): readonly [readonly ModelTensor[], readonly ModelTensor[]] {
  const isLater = ({ name }: ModelTensor): boolean =>
    name.includes('.network.second.') ||
    (norm === 'after' && name.includes('.network.norm.'));
  return [tensors.filter((tensor) => !isLater(tensor)), tensors.filter(isLater)];
}

function linearTensors(name: string, from: number, to: number): ModelTensor[] {
  // Glorot and Bengio, 2010: keeps the variance of activations and gradients about constant.
  const initialize: Initializer = { uniform: Math.sqrt(6 / (from + to)) };
  return [
    { name: `${name}.weight`, shape: [from, to], initialize },
    { name: `${name}.bias`, shape: [to], initialize: 'zeros' },
  ];
}

/**
 * The forward pass. Its methods consume the model's parameters in order. The vectors of a batch
 * of sequences are [rows · length, width]. Every method takes ownership of its arrays, except
 * for masks, which several layers share.
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

  /** The next parameter. */
  take(): JaxArray {
    const { done, value } = this.#parameters.next();
    if (done === true) throw new Error('internal: a transformer has too few tensors');
    return value;
  }

  /** The embeddings of tokens [rows, length], with positional encodings added. */
  embed(tokens: JaxArray, table: JaxArray): JaxArray {
    const { numpy } = this.#jax;
    const { width } = this.#shape;
    const [rows, length] = tokens.shape as [number, number];
    const chosen = oneHot(this.#jax, tokens, table.shape[0]!);
    const vectors = numpy.matmul(chosen, table).mul(Math.sqrt(width));
    return vectors
      .reshape([rows, length, width])
      .add(numpy.array(positionalEncodings(length, width), { shape: [length, width] }))
      .reshape([rows * length, width]);
  }

  /** @param mask from `causalMask` or `paddingMask` */
  layer(
    values: JaxArray,
    mask: JaxArray,
    memory?: { readonly values: JaxArray; readonly mask: JaxArray },
  ): JaxArray {
    let result = this.#residual(values, (own) =>
      this.#attention(own.ref, own, mask.ref),
    );
    if (memory !== undefined) {
      result = this.#residual(result, (own) =>
        this.#attention(own, memory.values.ref, memory.mask.ref),
      );
    }
    return this.#residual(result, (own) => {
      const units = this.#jax.nn.relu(this.#linear(own));
      return this.#linear(units);
    });
  }

  /**
   * A layer without memory up to the units of its feed-forward network, [rows · length, inner + width]: the
   * units, and what passes the network. Its parameters are those of `splitTensors`, first part.
   */
  toUnits(values: JaxArray, mask: JaxArray): JaxArray {
    const { nn, numpy } = this.#jax;
    const skip = this.#residual(values, (own) =>
      this.#attention(own.ref, own, mask.ref),
    );
    const input = this.#shape.norm === 'before' ? this.#norm(skip.ref) : skip.ref;
    return numpy.concatenate([nn.relu(this.#linear(input)), skip], 1);
  }

  /** The rest of that layer. Its parameters are those of `splitTensors`, second part. */
  fromUnits(values: JaxArray): JaxArray {
    const { inner, norm, width } = this.#shape;
    const skip = values.ref.slice([], [inner, inner + width]);
    const units = values.slice([], [0, inner]);
    if (norm === 'before') return skip.add(this.#linear(units));
    const [scale, shift] = [this.take(), this.take()];
    return this.#normBy(skip.add(this.#linear(units)), scale, shift);
  }

  /** The final norm of a pre-norm model; post-norm has none. */
  finish(values: JaxArray): JaxArray {
    return this.#shape.norm === 'before' ? this.#norm(values) : values;
  }

  /** A sublayer with its residual connection and its norm. */
  #residual(values: JaxArray, compute: (values: JaxArray) => JaxArray): JaxArray {
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
    const { lax, numpy } = this.#jax;
    // jax-js takes the mean of the squares less the square of the mean, which cancel each other. Sums
    // of what lies far from 0 are rough as well: so all is taken from the first element.
    const near = values.ref.sub(lax.stopGradient(values.slice([], [0, 1])));
    const centred = near.ref.sub(near.mean(-1, { keepdims: true }));
    const variance = numpy.square(centred.ref).mean(-1, { keepdims: true });
    const deviation = numpy.sqrt(variance.add(EPSILON));
    return centred.div(deviation).mul(scale).add(shift);
  }

  #linear(values: JaxArray): JaxArray {
    return this.#jax.numpy.matmul(values, this.take()).add(this.take());
  }

  /** Queries come from `from`; keys and values from `memory`. */
  #attention(from: JaxArray, memory: JaxArray, mask: JaxArray): JaxArray {
    const { numpy, nn } = this.#jax;
    const { heads, width } = this.#shape;
    const queries = this.#byHead(this.#linear(from));
    const keys = this.#byHead(this.#linear(memory.ref));
    const values = this.#byHead(this.#linear(memory));
    const scores = numpy
      .matmul(queries, keys.transpose([0, 1, 3, 2]))
      .mul(1 / Math.sqrt(width / heads))
      .add(mask);
    const means = numpy.matmul(nn.softmax(scores, -1), values);
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

/** Hides later positions, [length, length]. */
export function causalMask({ numpy }: Jax, length: number): JaxArray {
  const mask = Float32Array.from({ length: length * length }, (_, i) =>
    i % length > Math.floor(i / length) ? MASKED : 0,
  );
  return numpy.array(mask, { shape: [length, length] });
}

/** Hides padding, [rows, 1, 1, length]. @param tokens [rows, length] */
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

/** Sinusoidal positional encodings (Vaswani et al., section 3.5), [length, width], flat. */
function positionalEncodings(length: number, width: number): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: length * width }, (_, i) => {
    const position = Math.floor(i / width);
    const pair = Math.floor((i % width) / 2);
    const angle = position / power(10_000, (2 * pair) / width);
    return i % 2 === 0 ? sin(angle) : cos(angle);
  });
}

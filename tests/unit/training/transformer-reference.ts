/**
 * Transformers in plain TypeScript and f64, one sequence, one place and one head at a time: the
 * oracle for the compiled ones. Parameters are read one after the other, in the models' order.
 */
export interface ReferenceSizes {
  readonly width: number;
  readonly heads: number;
  readonly inner: number;
  readonly norm: 'before' | 'after';
  readonly layers: number;
}

type Vector = readonly number[];
type Sequence = readonly Vector[];
type Sees = (from: number, to: number) => boolean;

class Reader {
  #at = 0;
  readonly #weights: ArrayLike<number>;

  constructor(weights: ArrayLike<number>) {
    this.#weights = weights;
  }

  vector(length: number): number[] {
    return Array.from({ length }, () => this.#weights[this.#at++]!);
  }

  matrix(rows: number, columns: number): number[][] {
    return Array.from({ length: rows }, () => this.vector(columns));
  }

  end(): void {
    if (this.#at !== this.#weights.length) {
      throw new Error(`${this.#at} of ${this.#weights.length} weights used`);
    }
  }
}

const sum = (values: Vector): number => values.reduce((a, b) => a + b, 0);
const plus = (a: Vector, b: Vector): Vector => a.map((value, i) => value + b[i]!);
const times = (a: Vector, b: Vector): number => sum(a.map((value, i) => value * b[i]!));

type Map = (value: Vector) => Vector;

function affine(reader: Reader, from: number, to: number): Map {
  const matrix = reader.matrix(from, to);
  const bias = reader.vector(to);
  return (value) =>
    bias.map((shift, j) => shift + sum(value.map((x, i) => x * matrix[i]![j]!)));
}

function normed(reader: Reader, width: number): Map {
  const scale = reader.vector(width);
  const shift = reader.vector(width);
  return (value) => {
    const mean = sum(value) / width;
    const variance = sum(value.map((x) => (x - mean) ** 2)) / width;
    return value.map(
      (x, i) => ((x - mean) / Math.sqrt(variance + 1e-5)) * scale[i]! + shift[i]!,
    );
  };
}

type Sublayer = (own: Sequence) => Sequence;

function around(
  values: Sequence,
  norm: Map,
  sizes: ReferenceSizes,
  sublayer: Sublayer,
) {
  const added = (given: Sequence): Sequence =>
    sublayer(given).map((value, i) => plus(values[i]!, value));
  return sizes.norm === 'before' ? added(values.map(norm)) : added(values).map(norm);
}

function attention(
  reader: Reader,
  { heads, width }: ReferenceSizes,
): (asking: Sequence, asked: Sequence, sees: Sees) => Sequence {
  const [query, key, value, output] = [0, 1, 2, 3].map(() =>
    affine(reader, width, width),
  ) as [Map, Map, Map, Map];
  const size = width / heads;
  return (asking, asked, sees) => {
    const keys = asked.map(key);
    const values = asked.map(value);
    return asking.map((one, from) => {
      const wanted = query(one);
      const mixed = Array.from({ length: heads }, (_, head) => {
        const part = (vector: Vector): Vector =>
          vector.slice(head * size, (head + 1) * size);
        const weights = keys.map((each, to) =>
          sees(from, to)
            ? Math.exp(times(part(wanted), part(each)) / Math.sqrt(size))
            : 0,
        );
        return Array.from(
          { length: size },
          (_, i) =>
            sum(weights.map((weight, to) => weight * part(values[to]!)[i]!)) /
            sum(weights),
        );
      });
      return output(mixed.flat());
    });
  };
}

function layer(
  reader: Reader,
  sizes: ReferenceSizes,
  values: Sequence,
  sees: Sees,
  memory?: { readonly values: Sequence; readonly sees: Sees },
): Sequence {
  const { inner, width } = sizes;
  const norm = normed(reader, width);
  const own = attention(reader, sizes);
  let result = around(values, norm, sizes, (given) => own(given, given, sees));
  if (memory !== undefined) {
    const crossNorm = normed(reader, width);
    const cross = attention(reader, sizes);
    result = around(result, crossNorm, sizes, (given) =>
      cross(given, memory.values, memory.sees),
    );
  }
  const lastNorm = normed(reader, width);
  const first = affine(reader, width, inner);
  const second = affine(reader, inner, width);
  return around(result, lastNorm, sizes, (given) =>
    given.map((value) => second(first(value).map((x) => Math.max(x, 0)))),
  );
}

function embedded(tokens: Vector, table: readonly Vector[], width: number): Sequence {
  return tokens.map((token, place) =>
    table[token]!.map((value, i) => {
      const angle = place * 10_000 ** (-(i - (i % 2)) / width);
      return (
        value * Math.sqrt(width) + (i % 2 === 0 ? Math.sin(angle) : Math.cos(angle))
      );
    }),
  );
}

const finished = (reader: Reader, sizes: ReferenceSizes, values: Sequence): Sequence =>
  sizes.norm === 'before' ? values.map(normed(reader, sizes.width)) : values;

/** −log p of a token, and whether none has a higher score. */
function scored(value: Vector, table: readonly Vector[], right: number) {
  const scores = table.map((row) => times(row, value));
  const loss = Math.log(sum(scores.map(Math.exp))) - scores[right]!;
  return { loss, hit: Math.max(...scores) === scores[right] };
}

/** The summed cross-entropy of a window. */
export function languageModelLoss(
  weights: ArrayLike<number>,
  window: Vector,
  sizes: ReferenceSizes & { readonly vocabulary: number },
): number {
  const reader = new Reader(weights);
  const table = reader.matrix(sizes.vocabulary, sizes.width);
  let values = embedded(window.slice(0, -1), table, sizes.width);
  for (let i = 0; i < sizes.layers; i++) {
    values = layer(reader, sizes, values, (from, to) => to <= from);
  }
  values = finished(reader, sizes, values);
  reader.end();
  return sum(values.map((value, i) => scored(value, table, window[i + 1]!).loss));
}

/** Of a pair without padding: its loss, and how many of its tokens were predicted right. */
export function translatorScore(
  weights: ArrayLike<number>,
  { source, target }: { readonly source: Vector; readonly target: Vector },
  sizes: ReferenceSizes & {
    readonly sourceVocabulary: number;
    readonly targetVocabulary: number;
  },
): { readonly loss: number; readonly right: number } {
  const { layers, sourceVocabulary, targetVocabulary, width } = sizes;
  const reader = new Reader(weights);
  const sourceTable = reader.matrix(sourceVocabulary, width);
  let values = embedded(source, sourceTable, width);
  for (let i = 0; i < layers; i++) values = layer(reader, sizes, values, () => true);
  const memory = { values: finished(reader, sizes, values), sees: () => true };
  const table = reader.matrix(targetVocabulary, width);
  values = embedded(target.slice(0, -1), table, width);
  for (let i = 0; i < layers; i++) {
    values = layer(reader, sizes, values, (from, to) => to <= from, memory);
  }
  values = finished(reader, sizes, values);
  reader.end();
  const scores = values.map((value, i) => scored(value, table, target[i + 1]!));
  return {
    loss: sum(scores.map(({ loss }) => loss)) / scores.length,
    right: scores.filter(({ hit }) => hit).length,
  };
}

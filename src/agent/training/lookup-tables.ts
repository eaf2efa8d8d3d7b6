/**
 * Tables of a model of which a batch uses a few rows (`rowsOf`): embeddings, the weights of
 * sparse features. They are on the host. A batch's rows are copied out, the model's
 * functions see only these, and the gradients of the rows are added at their positions; the
 * rest of the flat gradient is 0. So a step costs the rows in use and two passes over the
 * table's gradient.
 */
import type { BatchValues } from './batches/batch.ts';
import type { Model } from './models/model.ts';
import type { ParameterTensor } from './trainer.ts';
import type { TableRule } from './optimizers/optimizer.ts';

type Values = Float32Array<ArrayBuffer>;

interface Table {
  /** The table's index among the model's tensors. */
  readonly index: number;
  readonly tensor: ParameterTensor;
  /** The field that names its rows. */
  readonly field: string;
  /** Elements of a row. */
  readonly width: number;
  readonly weights: Values;
  readonly state: readonly Values[];
}

export class LookupTables {
  readonly #tables: readonly Table[];

  /** @param vectors state vectors that the optimiser keeps */
  constructor(
    model: Pick<Model, 'tensors'>,
    tensors: readonly ParameterTensor[],
    vectors: number,
  ) {
    this.#tables = model.tensors.flatMap(({ rowsOf, shape }, index) => {
      if (rowsOf === undefined) return [];
      const tensor = tensors[index]!;
      const zeros = (): Values => new Float32Array(tensor.length);
      return {
        index,
        tensor,
        field: rowsOf,
        width: tensor.length / shape[0]!,
        weights: zeros(),
        state: Array.from({ length: vectors }, zeros),
      };
    });
  }

  /** The rows that a batch uses, of each table: [batch, …field, …row], flat. */
  gather(batch: BatchValues): readonly Values[] {
    return this.#tables.map(({ field, weights, width }) => {
      const rows = batch[field]!;
      const out = new Float32Array(rows.length * width);
      for (let i = 0; i < rows.length; i++) {
        const from = rows[i]! * width;
        for (let j = 0; j < width; j++) out[i * width + j] = weights[from + j]!;
      }
      return out;
    });
  }

  /** Writes 0 to the tables' slices of the flat gradient. */
  clear(gradient: Float32Array): void {
    for (const table of this.#tables) sliceOf(gradient, table).fill(0);
  }

  /**
   * Writes the tables' slices of the flat gradient.
   * @param gradients of the rows that the batch uses, as `gather` gives these
   */
  scatter(
    gradients: readonly Float32Array[],
    batch: BatchValues,
    gradient: Float32Array,
  ): void {
    this.clear(gradient);
    this.scatterAdd(gradients, batch, gradient);
  }

  /** Adds the tables' slices of the flat gradient to what is there. */
  scatterAdd(
    gradients: readonly Float32Array[],
    batch: BatchValues,
    gradient: Float32Array,
  ): void {
    for (const [which, table] of this.#tables.entries()) {
      const { field, width } = table;
      const rows = batch[field]!;
      const from = gradients[which]!;
      const out = sliceOf(gradient, table);
      for (let i = 0; i < rows.length; i++) {
        const to = rows[i]! * width;
        for (let j = 0; j < width; j++) out[to + j]! += from[i * width + j]!;
      }
    }
  }

  /**
   * One step of the optimiser.
   * @param plain whether a tensor takes a step without momentum, by its place
   * @param decayMoves whether its decay has a velocity then
   */
  step(
    gradient: Float32Array,
    rule: TableRule,
    plain: readonly boolean[],
    decayMoves: boolean,
  ): void {
    for (const table of this.#tables) {
      const { index, weights, state } = table;
      const isPlain = plain[index] === true;
      const own = isPlain && !decayMoves ? [] : state;
      rule(weights, sliceOf(gradient, table), own, isPlain && decayMoves);
    }
  }

  /** Resets a tensor's state. */
  clearState(tensor: number): void {
    const table = this.#tables.find(({ index }) => index === tensor);
    for (const vector of table?.state ?? []) vector.fill(0);
  }

  /** Copies the weights, or a state vector, out into a flat vector. */
  read(out: Float32Array, vector?: number): void {
    for (const table of this.#tables) sliceOf(out, table).set(held(table, vector));
  }

  write(flat: Float32Array, vector?: number): void {
    for (const table of this.#tables) held(table, vector).set(sliceOf(flat, table));
  }
}

const held = ({ state, weights }: Table, vector?: number): Values =>
  vector === undefined ? weights : state[vector]!;

const sliceOf = (
  flat: Float32Array,
  { tensor: { start, length } }: Table,
): Float32Array => flat.subarray(start, start + length);

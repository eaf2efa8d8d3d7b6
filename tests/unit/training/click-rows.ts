/** Clicks as models get them, and what their values must be. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { allocateBatch } from '../../../src/agent/training/batches/batch.ts';
import type {
  Dataset,
  Samples,
  ShardRequest,
} from '../../../src/agent/training/datasets/dataset.ts';
import { murmurHash } from '../../../src/agent/training/datasets/murmur-hash.ts';
import { temporaryDirectory } from './idx-fixtures.ts';

const ROWS = 1000;

export function fileOf(content: string | Uint8Array, name = 'clicks.data'): string {
  const file = path.join(temporaryDirectory(), name);
  writeFileSync(file, content);
  return file;
}

/** One sample, as models get it. */
interface Row {
  readonly label: number;
  readonly dense: readonly number[];
  readonly categories: readonly number[];
  readonly features: readonly number[];
  readonly values: readonly number[];
}

function rowsOf(part: Samples): Row[] {
  const rows = Uint32Array.from({ length: part.count }, (_, i) => i);
  const batch = allocateBatch(
    {
      dense: { type: 'f32', shape: [13] },
      categories: { type: 'i32', shape: [26] },
      features: { type: 'i32', shape: [39] },
      values: { type: 'f32', shape: [39] },
      labels: { type: 'i32', shape: [] },
    },
    rows.length,
  );
  // As a batch before would have left them.
  for (const values of Object.values(batch)) values.fill(99);
  part.read(rows, batch);
  const of = (name: string, row: number, width: number): number[] => [
    ...batch[name]!.subarray(row * width, (row + 1) * width),
  ];
  return Array.from(rows, (_, row) => ({
    label: batch['labels']![row]!,
    dense: of('dense', row, 13),
    categories: of('categories', row, 26),
    features: of('features', row, 39),
    values: of('values', row, 39),
  }));
}

export async function partsOf(dataset: Dataset, given: Partial<ShardRequest> = {}) {
  const shard = await dataset.open({
    inputs: {},
    features: ROWS,
    rank: 0,
    world: 1,
    ...given,
  });
  return { train: rowsOf(shard.train), test: rowsOf(shard.test) };
}

export const log = (number: number): number => Math.fround(Math.log1p(number));

/** The number that the hash must make of a category, from the definition of a row. */
export const row = (text: string, column: number): number =>
  13 + (murmurHash(Buffer.from(text), column) % (ROWS - 13));

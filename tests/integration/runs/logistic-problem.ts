/**
 * Logistic regression with a finite minimum: samples in two classes that no plane separates,
 * as files of svmlight, and the smallest loss over them.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';

export const FEATURES = 10;
export const SAMPLES = 90;

export interface Sample {
  readonly label: 1 | -1;
  readonly features: readonly number[];
}

/** 32 bits of a hash, so that neighbours have nothing in common. */
function mixed(number: number): number {
  let word = Math.imul(number + 1, 0x9e37_79b1);
  word = Math.imul(word ^ (word >>> 15), 0x85eb_ca6b);
  return (word ^ (word >>> 13)) >>> 0;
}

/** Labels follow the first features, but for a third: so the minimum is finite. */
export const samples: readonly Sample[] = Array.from({ length: SAMPLES }, (_, i) => {
  const features = Array.from({ length: FEATURES }, (_, j) => j).filter(
    (j) => mixed(101 * i + j) % 3 === 0,
  );
  const side = features.filter((j) => j < 5).length >= 2 ? 1 : -1;
  return { label: mixed(7 * i) % 3 === 0 ? (-side as 1 | -1) : side, features };
});

/** Mean logistic loss at the minimum: by Newton's method, in numbers of 64 bits. */
export function smallestLoss(): number {
  const size = FEATURES + 1;
  const weights = new Float64Array(size);
  const margin = ({ features, label }: Sample): number =>
    label * features.reduce((sum, j) => sum + weights[j]!, weights[FEATURES]!);
  for (let round = 0; round < 30; round++) {
    const matrix = Array.from({ length: size }, () => new Float64Array(size + 1));
    for (const sample of samples) {
      const risk = 1 / (1 + Math.exp(margin(sample)));
      const used = [...sample.features, FEATURES];
      for (const j of used) {
        matrix[j]![size]! -= sample.label * risk;
        for (const k of used) matrix[j]![k]! += risk * (1 - risk);
      }
    }
    solve(matrix).forEach((value, j) => {
      weights[j]! -= value;
    });
  }
  const losses = samples.map((sample) => Math.log1p(Math.exp(-margin(sample))));
  return losses.reduce((sum, loss) => sum + loss, 0) / SAMPLES;
}

/** By elimination, largest pivot first; the right side is the last column. */
function solve(rows: Float64Array[]): Float64Array {
  const size = rows.length;
  for (let k = 0; k < size; k++) {
    const from = rows.slice(k);
    const best = k + from.findIndex((row) => row === largest(from, k));
    [rows[k], rows[best]] = [rows[best]!, rows[k]!];
    for (const row of rows) {
      if (row === rows[k]) continue;
      const factor = row[k]! / rows[k]![k]!;
      for (let j = k; j <= size; j++) row[j]! -= factor * rows[k]![j]!;
    }
  }
  return Float64Array.from(rows, (row, k) => row[size]! / row[k]!);
}

const largest = (rows: readonly Float64Array[], column: number): Float64Array =>
  rows.reduce((best, row) =>
    Math.abs(row[column]!) > Math.abs(best[column]!) ? row : best,
  );

/** Their files in a folder: a training part, and the same samples as the test part. */
export function writeSamples(folder: string): string {
  const file = path.join(folder, 'train');
  const lines = samples.map(
    ({ features, label }) =>
      `${label === 1 ? '+1' : '-1'} ${features.map((j) => `${j}:1`).join(' ')}\n`,
  );
  for (const name of [file, `${file}.t`]) writeFileSync(name, lines.join(''));
  return file;
}

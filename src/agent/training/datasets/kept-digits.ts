/**
 * Keeps drawn digits for later processes, beside the compiled code: all runs of a machine draw the same
 * ones, which takes a tenth of the start of a rank with half of them. A file has one series, since a rank
 * needs no more. Without a place for compiled code digits are drawn each time.
 */
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
// Not by name: the engine's entry has to load on a Node without it, to say that it is too old.
import nodeModule from 'node:module';
import path from 'node:path';
import { attempt, readChecked, writeChecked } from '../../bundle/checked-file.ts';
import type { ByteSamples } from './byte-dataset.ts';
import {
  digitPixels,
  drawDigits,
  drawingName,
  type DigitSeries,
} from './digit-drawing.ts';

/** Bytes of all files together, after which they are begun anew: worlds of four sizes. */
const MOST_BYTES = 32 * 2 ** 20;

/**
 * The samples of each series of the set `seed`.
 * @param parent of the directory in which they are kept; no other user may be able to write to it
 * @throws GradwireError `AGENT_MISSING`
 */
export function keptDigits(
  seed: number,
  series: readonly DigitSeries[],
  parent = nodeModule.getCompileCacheDir(),
): readonly ByteSamples[] {
  if (parent === undefined) return drawDigits(seed, series);
  const directory = path.join(parent, `digits-${drawingName()}`);
  const files = series.map(({ first, step, count }) =>
    path.join(directory, [seed, first, step, count].join('-')),
  );
  const kept = files.map((file, i) => read(file, series[i]!.count));
  if (kept.every((samples) => samples !== undefined)) return kept;
  const drawn = drawDigits(seed, series);
  attempt(() => {
    mkdirSync(directory, { recursive: true });
    makeRoom(directory, drawn);
  });
  for (const [i, { values, labels }] of drawn.entries()) {
    if (kept[i] === undefined) writeChecked(files[i]!, [values, labels]);
  }
  return drawn;
}

function read(file: string, count: number): ByteSamples | undefined {
  const content = readChecked(file);
  if (content?.length !== count * (digitPixels + 1)) return undefined;
  const pixels = count * digitPixels;
  // As they are drawn: a Buffer's slices, for one, share its memory.
  const bytes = new Uint8Array(content.buffer, content.byteOffset, content.length);
  return { count, values: bytes.subarray(0, pixels), labels: bytes.subarray(pixels) };
}

/** Removes all files if there would be too many bytes with these. */
function makeRoom(directory: string, added: readonly ByteSamples[]): void {
  const files = readdirSync(directory).map((name) => path.join(directory, name));
  const sizes = [
    ...files.map((file) => statSync(file).size),
    ...added.map(({ count }) => count * (digitPixels + 1)),
  ];
  if (sizes.reduce((sum, size) => sum + size, 0) <= MOST_BYTES) return;
  for (const file of files) rmSync(file, { force: true });
}

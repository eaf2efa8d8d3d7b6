/**
 * Draws the embedded digits (assembly/) in separate memory: the skeletons as a table, and
 * the images of one call.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { bundledFile } from '../../bundle/bundled-file.ts';
import type { ByteSamples } from './byte-dataset.ts';
import { digitGlyphs } from './digit-strokes.ts';

export const digitWidth = 28;
export const digitPixels = digitWidth * digitWidth;
export const digitClasses = digitGlyphs.length;

const DRAWING = {
  bundle: 'digits.wasm',
  source: '../../../../dist/kernels/digits.wasm',
};
const PAGE = 65_536;

/** The samples `first`, `first` + `step`, … of a set, `count` of them. */
export interface DigitSeries {
  readonly first: number;
  readonly step: number;
  readonly count: number;
}

interface Drawing {
  freeMemory(): number;
  draw(
    glyphs: number,
    seed: number,
    first: number,
    step: number,
    count: number,
    images: number,
    labels: number,
  ): void;
}

/**
 * The samples of each series of the set `seed`.
 * @throws GradwireError `AGENT_MISSING`
 */
export function drawDigits(
  seed: number,
  series: readonly DigitSeries[],
): ByteSamples[] {
  const module = new WebAssembly.Module(drawingCode());
  const table = glyphTable();
  const samples = series.reduce((sum, { count }) => sum + count, 0);
  // The first page is the drawing's own, and more than it uses.
  const bytes = PAGE + table.byteLength + samples * (digitPixels + 1);
  const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE) });
  const instance = new WebAssembly.Instance(module, { env: { memory } });
  const drawing = instance.exports as unknown as Drawing;

  const glyphs = drawing.freeMemory();
  new Int32Array(memory.buffer, glyphs, table.length).set(table);
  let free = glyphs + table.byteLength;
  return series.map(({ first, step, count }) => {
    const values = new Uint8Array(memory.buffer, free, count * digitPixels);
    free += values.length;
    const labels = new Uint8Array(memory.buffer, free, count);
    free += labels.length;
    drawing.draw(
      glyphs,
      seed,
      first,
      step,
      count,
      values.byteOffset,
      labels.byteOffset,
    );
    return { count, values, labels };
  });
}

/**
 * A name of what draws, code and skeletons: under the same name the same samples are drawn.
 * @throws GradwireError `AGENT_MISSING`
 */
export function drawingName(): string {
  const hash = createHash('sha256').update(drawingCode()).update(glyphTable());
  return hash.digest('hex').slice(0, 12);
}

function drawingCode(): Buffer<ArrayBuffer> {
  return readFileSync(bundledFile(DRAWING, import.meta.dirname));
}

/**
 * The skeletons as lists of lists: a list is its length and its entries, which are places
 * of lists in the table, or, of a stroke, 1 for a curve, else 0, and the points. The first
 * list has an entry for each digit.
 */
function glyphTable(): Int32Array {
  const words: number[] = [];
  const list = <T>(items: readonly T[], add: (item: T) => number): number => {
    const place = words.length;
    words.push(items.length, ...items.map(() => 0));
    for (const [i, item] of items.entries()) words[place + 1 + i] = add(item);
    return place;
  };
  list(digitGlyphs, (habits) =>
    list(habits, (glyph) =>
      list(glyph, ({ kind, points }) =>
        list([kind === 'curve' ? 1 : 0, ...points], (number) => number),
      ),
    ),
  );
  return Int32Array.from(words);
}

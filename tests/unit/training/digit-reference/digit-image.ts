/**
 * The embedded digits in plain TypeScript: what the drawing in WebAssembly
 * (datasets/assembly/) is checked against, byte for byte. About 20 µs an image.
 */
import {
  purposes,
  RandomSequence,
} from '../../../../src/agent/training/runtime/random-sequence.ts';
import {
  digitGlyphs,
  type Stroke,
} from '../../../../src/agent/training/datasets/digit-strokes.ts';
import { Rasterizer } from './rasterizer.ts';

export const digitWidth = 28;
export const digitPixels = digitWidth * digitWidth;
export const digitClasses = digitGlyphs.length;

/** How far samples stray from the skeletons; lengths in pixels unless said otherwise. */
const variation = {
  /** Glyph box before stretching. */
  height: 19,
  width: 15.5,
  /** Relative stretch of height and width (deviation). */
  stretchHeight: 0.09,
  stretchWidth: 0.12,
  /** Shear: horizontal shift per unit of height (deviation). */
  slant: 0.15,
  /** Tangent of half the turning angle (deviation): 0.05 is 6°. */
  turn: 0.05,
  /** Displacement of the whole glyph (deviation). */
  shift: 1.35,
  /** Displacement of each control point (deviation). */
  wobble: 0.6,
  /** Pen radius: smallest and largest. */
  radius: [0.75, 1.75],
  /** Relative change of the radius along a stroke (largest). */
  pressure: 0.3,
  /** Width of the ink's edge: smallest and largest. */
  softness: [0.9, 2.1],
  /** Darkness of the ink: smallest and largest. */
  darkness: [0.75, 1.1],
  /** Share of the samples with a gap in a stroke, and with a stray mark. */
  gaps: 0.25,
  strays: 0.2,
  /** Grain of the paper, in grey levels per unit of noise (±127.5). */
  grain: 0.12,
} as const;

/** The class of a sample, uniform over the digits. */
export function digitLabel(seed: number, index: number): number {
  const name = { seed, iteration: index, purpose: purposes.digitLabel };
  return new RandomSequence(name).below(digitClasses);
}

/** Draws images one after another with the same scratch memory. */
export class DigitRenderer {
  readonly #raster = new Rasterizer(digitWidth, digitWidth);
  readonly #random = new RandomSequence({ seed: 0 });
  readonly #word = (): number => this.#random.word();
  /** Control points of the current stroke in pixels, x and y in turn. */
  readonly #points = new Float64Array(2 * 32);

  /** Writes sample `index` of the set `seed` to out[offset … offset + 784). */
  render(seed: number, index: number, out: Uint8Array, offset: number): void {
    const random = this.#random;
    const raster = this.#raster;
    const label = digitLabel(seed, index);
    random.rename({ seed, iteration: index, purpose: purposes.digitImage });
    raster.clear();

    const habits = digitGlyphs[label]!;
    const glyph = habits[random.below(habits.length)]!;

    // Box → pixels: stretch, slant, turn, place, as one affine map.
    const width =
      (variation.width / 100) * (1 + variation.stretchWidth * random.bell());
    const height =
      (variation.height / 100) * (1 + variation.stretchHeight * random.bell());
    const slant = variation.slant * random.bell();
    const tangent = variation.turn * random.bell();
    const cosine = (1 - tangent * tangent) / (1 + tangent * tangent);
    const sine = (2 * tangent) / (1 + tangent * tangent);
    const centerX = (digitWidth - 1) / 2 + variation.shift * random.bell();
    const centerY = (digitWidth - 1) / 2 + variation.shift * random.bell();

    const radius = random.between(...variation.radius);
    const softness = random.between(...variation.softness);

    for (const stroke of glyph) {
      const count = stroke.points.length / 2;
      for (let i = 0; i < count; i++) {
        const boxY = stroke.points[2 * i + 1]! - 50;
        const upX = (stroke.points[2 * i]! - 50) * width - slant * boxY * height;
        const upY = boxY * height;
        this.#points[2 * i] =
          centerX + cosine * upX - sine * upY + variation.wobble * random.bell();
        this.#points[2 * i + 1] =
          centerY + sine * upX + cosine * upY + variation.wobble * random.bell();
      }
      this.#draw(stroke, count, radius, softness);
    }

    if (random.uniform() < variation.gaps) {
      raster.erase(
        random.between(8, 20),
        random.between(6, 22),
        random.between(1.5, 3.2),
        0.15,
      );
    }
    if (random.uniform() < variation.strays) {
      const x = random.between(3, 25);
      const y = random.between(3, 25);
      raster.segment(
        x,
        y,
        x + random.between(-4, 4),
        y + random.between(-4, 4),
        0.6,
        1.2,
      );
    }
    const darkness = random.between(...variation.darkness);
    raster.write(out, offset, darkness, variation.grain, this.#word);
  }

  #draw(stroke: Stroke, count: number, radius: number, softness: number): void {
    const points = this.#points;
    const start = 1 + variation.pressure * (2 * this.#random.uniform() - 1);
    const end = 1 + variation.pressure * (2 * this.#random.uniform() - 1);
    for (let i = 0; i + 1 < count; i++) {
      const x1 = points[2 * i]!;
      const y1 = points[2 * i + 1]!;
      const x2 = points[2 * i + 2]!;
      const y2 = points[2 * i + 3]!;
      if (stroke.kind === 'line') {
        const share = (i + 0.5) / (count - 1);
        const pen = radius * (start + (end - start) * share);
        this.#raster.segment(x1, y1, x2, y2, pen, softness);
        continue;
      }
      // Catmull–Rom through the four neighbouring points, the ends repeated.
      const before = Math.max(0, i - 1);
      const after = Math.min(count - 1, i + 2);
      const x0 = points[2 * before]!;
      const y0 = points[2 * before + 1]!;
      const x3 = points[2 * after]!;
      const y3 = points[2 * after + 1]!;
      const length = Math.sqrt((x2 - x1) ** 2 + (y2 - y1) ** 2);
      const steps = length < 2.5 ? 1 : length < 5 ? 2 : length < 8 ? 3 : 4;
      let fromX = x1;
      let fromY = y1;
      for (let step = 1; step <= steps; step++) {
        const t = step / steps;
        const x = catmullRom(x0, x1, x2, x3, t);
        const y = catmullRom(y0, y1, y2, y3, t);
        const share = (i + t) / (count - 1);
        const pen = radius * (start + (end - start) * share);
        this.#raster.segment(fromX, fromY, x, y, pen, softness);
        fromX = x;
        fromY = y;
      }
    }
  }
}

/** The uniform Catmull–Rom spline between b (t = 0) and c (t = 1). */
function catmullRom(a: number, b: number, c: number, d: number, t: number): number {
  const linear = c - a;
  const square = 2 * a - 5 * b + 4 * c - d;
  const cube = 3 * (b - c) + d - a;
  return b + 0.5 * t * (linear + t * (square + t * cube));
}

/**
 * The images of the embedded data set, compiled by AssemblyScript: a handwriting-like
 * digit, 28×28 bytes, 0 paper and 255 ink. An image is a pure function of (seed, sample),
 * so a rank draws only the samples of its shard. About 5 µs an image on one core, from
 * the first one on.
 *
 * What varies: the writer's habit (digit-strokes.ts), every control point, slant,
 * turn, width, height and place of the glyph, pressure along a stroke, softness and
 * darkness of the ink, gaps, stray marks and grain. The amounts are chosen so that a
 * linear classifier falls short of 92 % and a small multilayer perceptron passes 95 %:
 * tests/unit/training/digits-hardness.test.ts.
 *
 * Only +, −, ×, ÷ and √ take part, which IEEE 754 defines exactly: the same image on
 * every machine.
 */
import {
  asUniform,
  beginStream,
  bell,
  between,
  onlyWord,
  uniform,
} from './random-words';
import { clear, erase, PIXELS, segment, WIDTH, write } from './raster';

/** `purposes` of runtime/random-sequence.ts. */
const LABEL_PURPOSE: u32 = 0x7401;
const IMAGE_PURPOSE: u32 = 0x7402;

// How far samples stray from the skeletons; lengths in pixels unless said otherwise.
/** Glyph box before stretching. */
const GLYPH_HEIGHT: f64 = 19;
const GLYPH_WIDTH: f64 = 15.5;
/** Relative stretch of height and width (deviation). */
const STRETCH_HEIGHT = 0.09;
const STRETCH_WIDTH = 0.12;
/** Shear: horizontal shift per unit of height (deviation). */
const SLANT = 0.15;
/** Tangent of half the turning angle (deviation): 0.05 is 6°. */
const TURN = 0.05;
/** Displacement of the whole glyph (deviation). */
const SHIFT = 1.35;
/** Displacement of each control point (deviation). */
const WOBBLE = 0.6;
/** Pen radius. */
const LEAST_RADIUS = 0.75;
const MOST_RADIUS = 1.75;
/** Relative change of the radius along a stroke (largest). */
const PRESSURE = 0.3;
/** Width of the ink's edge. */
const LEAST_SOFTNESS = 0.9;
const MOST_SOFTNESS = 2.1;
/** Darkness of the ink. */
const LEAST_DARKNESS = 0.75;
const MOST_DARKNESS = 1.1;
/** Share of the samples with a gap in a stroke, and with a stray mark. */
const GAPS = 0.25;
const STRAYS = 0.2;
/** Grain of the paper, in grey levels per unit of noise (±127.5). */
const GRAIN = 0.12;

const MOST_POINTS = 32;
/** Control points of the current stroke in pixels, x and y in turn, f64. */
const points = memory.data(16 * MOST_POINTS, 16);

/** Returns the address from which nothing in here uses the memory. */
export function freeMemory(): usize {
  return __heap_base;
}

/**
 * The samples `first`, `first` + `step`, … of the set `seed`: their images one after another
 * at `images`, their labels at `labels`. `glyphs` is the table of digit-drawing.ts.
 */
export function draw(
  glyphs: usize,
  seed: u32,
  first: u32,
  step: u32,
  count: u32,
  images: usize,
  labels: usize,
): void {
  for (let i: u32 = 0; i < count; i++) {
    const label = drawOne(glyphs, seed, first + i * step, images + i * PIXELS);
    store<u8>(labels + i, <u8>label);
  }
}

/** Entry `index` of the list at place `list` of the table; entry −1 is its length. */
function entry(glyphs: usize, list: i32, index: i32): i32 {
  return load<i32>(glyphs + 4 * (list + 1 + index));
}

function coordinate(point: i32, axis: i32): f64 {
  return load<f64>(points + 16 * point + 8 * axis);
}

function drawOne(glyphs: usize, seed: u32, sample: u32, out: usize): i32 {
  const classes = entry(glyphs, 0, -1);
  const labelWord = onlyWord(seed, sample, LABEL_PURPOSE);
  const label = <i32>(asUniform(labelWord) * <f64>classes);
  beginStream(seed, sample, IMAGE_PURPOSE);
  clear();

  const habits = entry(glyphs, 0, label);
  const habit = <i32>(uniform() * <f64>entry(glyphs, habits, -1));
  const glyph = entry(glyphs, habits, habit);

  // Box → pixels: stretch, slant, turn, place, as one affine map.
  const width = (GLYPH_WIDTH / 100) * (1 + STRETCH_WIDTH * bell());
  const height = (GLYPH_HEIGHT / 100) * (1 + STRETCH_HEIGHT * bell());
  const slant = SLANT * bell();
  const tangent = TURN * bell();
  const cosine = (1 - tangent * tangent) / (1 + tangent * tangent);
  const sine = (2 * tangent) / (1 + tangent * tangent);
  const centerX = <f64>(WIDTH - 1) / 2 + SHIFT * bell();
  const centerY = <f64>(WIDTH - 1) / 2 + SHIFT * bell();

  const radius = between(LEAST_RADIUS, MOST_RADIUS);
  const softness = between(LEAST_SOFTNESS, MOST_SOFTNESS);

  const strokes = entry(glyphs, glyph, -1);
  for (let s = 0; s < strokes; s++) {
    // Whether it is a curve, then its points.
    const stroke = entry(glyphs, glyph, s);
    const count = (entry(glyphs, stroke, -1) - 1) / 2;
    for (let i = 0; i < count; i++) {
      const boxX = <f64>entry(glyphs, stroke, 1 + 2 * i) - 50;
      const boxY = <f64>entry(glyphs, stroke, 2 + 2 * i) - 50;
      const upX = boxX * width - slant * boxY * height;
      const upY = boxY * height;
      const x = centerX + cosine * upX - sine * upY + WOBBLE * bell();
      const y = centerY + sine * upX + cosine * upY + WOBBLE * bell();
      store<f64>(points + 16 * i, x);
      store<f64>(points + 16 * i, y, 8);
    }
    drawStroke(entry(glyphs, stroke, 0) == 1, count, radius, softness);
  }

  if (uniform() < GAPS) {
    const x = between(8, 20);
    const y = between(6, 22);
    erase(x, y, between(1.5, 3.2), 0.15);
  }
  if (uniform() < STRAYS) {
    const x = between(3, 25);
    const y = between(3, 25);
    const toX = x + between(-4, 4);
    const toY = y + between(-4, 4);
    segment(x, y, toX, toY, 0.6, 1.2);
  }
  write(out, between(LEAST_DARKNESS, MOST_DARKNESS), GRAIN);
  return label;
}

function drawStroke(curve: bool, count: i32, radius: f64, softness: f64): void {
  const start = 1 + PRESSURE * (2 * uniform() - 1);
  const end = 1 + PRESSURE * (2 * uniform() - 1);
  for (let i = 0; i + 1 < count; i++) {
    const x1 = coordinate(i, 0);
    const y1 = coordinate(i, 1);
    const x2 = coordinate(i + 1, 0);
    const y2 = coordinate(i + 1, 1);
    if (!curve) {
      const share = (<f64>i + 0.5) / <f64>(count - 1);
      segment(x1, y1, x2, y2, radius * (start + (end - start) * share), softness);
      continue;
    }
    // Catmull–Rom through the four neighbouring points, the ends repeated.
    const before = max(0, i - 1);
    const after = min(count - 1, i + 2);
    const x0 = coordinate(before, 0);
    const y0 = coordinate(before, 1);
    const x3 = coordinate(after, 0);
    const y3 = coordinate(after, 1);
    const length = sqrt((x2 - x1) * (x2 - x1) + (y2 - y1) * (y2 - y1));
    const steps = length < 2.5 ? 1 : length < 5 ? 2 : length < 8 ? 3 : 4;
    let fromX = x1;
    let fromY = y1;
    for (let step = 1; step <= steps; step++) {
      const t = <f64>step / <f64>steps;
      const x = catmullRom(x0, x1, x2, x3, t);
      const y = catmullRom(y0, y1, y2, y3, t);
      const share = (<f64>i + t) / <f64>(count - 1);
      const pen = radius * (start + (end - start) * share);
      segment(fromX, fromY, x, y, pen, softness);
      fromX = x;
      fromY = y;
    }
  }
}

/** The uniform Catmull–Rom spline between b (t = 0) and c (t = 1). */
function catmullRom(a: f64, b: f64, c: f64, d: f64, t: f64): f64 {
  const linear = c - a;
  const square = 2 * a - 5 * b + 4 * c - d;
  const cube = 3 * (b - c) + d - a;
  return b + 0.5 * t * (linear + t * (square + t * cube));
}

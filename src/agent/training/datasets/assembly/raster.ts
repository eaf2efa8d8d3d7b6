/**
 * Draws pen strokes into a small greyscale image: every line segment darkens the pixels
 * near it by their distance, with a soft edge. A pixel is touched only where it is in
 * a segment's bounding box.
 */
import { word } from './random-words';

/** Width and height of the image in pixels. */
export const WIDTH = 28;
export const PIXELS = WIDTH * WIDTH;

/** Bytes from one row to the next: what is drawn past a row's end is not in the image. */
const ROW = 128;
/** f32 per pixel: 0 paper, 1 ink. */
const ink = memory.data(ROW * WIDTH, 16);

export function clear(): void {
  memory.fill(ink, 0, ROW * WIDTH);
}

function place(x: i32, y: i32): usize {
  return ink + ROW * y + 4 * x;
}

function first(least: f64): i32 {
  return <i32>max(0.0, ceil(least));
}

function final(greatest: f64): i32 {
  return <i32>min(<f64>(WIDTH - 1), floor(greatest));
}

/**
 * A segment in pixel units, drawn with a round pen of the given radius. `softness` is
 * the width over which ink fades to nothing, centred on the pen's edge. Ink does not
 * add up: the darkest stroke over a pixel wins.
 */
export function segment(
  x0: f64,
  y0: f64,
  x1: f64,
  y1: f64,
  radius: f64,
  softness: f64,
): void {
  const reach = radius + softness / 2;
  const left = first(min(x0, x1) - reach);
  const right = final(max(x0, x1) + reach);
  const top = first(min(y0, y1) - reach);
  const bottom = final(max(y0, y1) + reach);
  const dx = x1 - x0;
  const dy = y1 - y0;
  const squared = dx * dx + dy * dy;
  const inverse = squared > 0 ? 1 / squared : 0;
  const limit = f64x2.splat(reach * reach);
  const slope = f64x2.splat(1 / softness);
  for (let y = top; y <= bottom; y++) {
    const py = <f64>y - y0;
    // Two pixels at a time; the second of the last two may be out of reach.
    for (let x = left; x <= right; x += 2) {
      const px = f64x2(<f64>x - x0, <f64>(x + 1) - x0);
      const dot = f64x2.add(f64x2.mul(px, f64x2.splat(dx)), f64x2.splat(py * dy));
      const share = f64x2.mul(dot, f64x2.splat(inverse));
      const along = f64x2.min(f64x2.splat(1), f64x2.max(f64x2.splat(0), share));
      const ex = f64x2.sub(px, f64x2.mul(along, f64x2.splat(dx)));
      const ey = f64x2.sub(f64x2.splat(py), f64x2.mul(along, f64x2.splat(dy)));
      const distance = f64x2.add(f64x2.mul(ex, ex), f64x2.mul(ey, ey));
      const inside = f64x2.sub(f64x2.splat(reach), f64x2.sqrt(distance));
      const value = f64x2.mul(inside, slope);
      const at = place(x, y);
      const old = f64x2.promote_low_f32x4(v128.load64_zero(at));
      const darker = v128.and(f64x2.lt(distance, limit), f64x2.gt(value, old));
      const now = v128.bitselect(f64x2.min(f64x2.splat(1), value), old, darker);
      v128.store_lane<u64>(at, f32x4.demote_f64x2_zero(now), 0);
    }
  }
}

/** Lift the ink in a disc to a share `keep` of what it was, with a soft rim. */
export function erase(x: f64, y: f64, radius: f64, keep: f64): void {
  const right = final(x + radius);
  const bottom = final(y + radius);
  for (let row = first(y - radius); row <= bottom; row++) {
    for (let column = first(x - radius); column <= right; column++) {
      const dx = <f64>column - x;
      const dy = <f64>row - y;
      const distance = (dx * dx + dy * dy) / (radius * radius);
      if (distance >= 1) continue;
      const pixel = place(column, row);
      const kept = <f64>load<f32>(pixel) * (keep + (1 - keep) * distance);
      store<f32>(pixel, <f32>kept);
    }
  }
}

/**
 * The image as bytes (0 paper, 255 ink) at `out`: ink times `gain` plus, per pixel, noise
 * of at most ±`grain`·127.5 from the next random words, four pixels each.
 */
export function write(out: usize, gain: f64, grain: f64): void {
  const scale = f64x2.splat(255 * gain);
  for (let y = 0; y < WIDTH; y++) {
    for (let x = 0; x < WIDTH; x += 4, out += 4) {
      const bytes = i16x8.extend_low_i8x16_u(i32x4.splat(word()));
      const noise = i32x4.extend_low_i16x8_u(bytes);
      const upper = v128.shuffle<u64>(noise, noise, 1, 1);
      const first = shade(place(x, y), noise, scale, grain);
      const last = shade(place(x + 2, y), upper, scale, grain);
      // Narrowing clamps: to 0 below, to 255 above.
      const words = i16x8.narrow_i32x4_s(v128.shuffle<u64>(first, last, 0, 2), noise);
      v128.store_lane<u32>(out, i8x16.narrow_i16x8_u(words, words), 0);
    }
  }
}

/** The lower two lanes: grey levels of two pixels, not clamped, towards 0. */
function shade(pixel: usize, noise: v128, scale: v128, grain: f64): v128 {
  const level = f64x2.convert_low_i32x4_s(noise);
  const grainy = f64x2.mul(f64x2.sub(level, f64x2.splat(127.5)), f64x2.splat(grain));
  const inked = f64x2.promote_low_f32x4(v128.load64_zero(pixel));
  return i32x4.trunc_sat_f64x2_s_zero(f64x2.add(f64x2.mul(inked, scale), grainy));
}

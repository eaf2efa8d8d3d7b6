/**
 * Sums in WGSL that are as good as f64's. A tile's elements of one class are added in fixed
 * point: 64 bits, scaled by the tile's largest magnitude, of which the lowest place is
 * 2⁻⁵¹ of it; so the order does not matter, nothing overflows, and a tile's sum is right
 * to 2⁻³⁸ of itself. The host adds the tiles in f64. One pass over memory.
 *
 * Of each tile, for the elements ≥ 0 and for the elements < 0, by magnitude: the sum in
 * three limbs of 22 bits (the highest has what is left), the exponent that scales it and
 * the count.
 */
import type { KernelSource } from './kernel-source.ts';
import { largestOf, totalOf } from './reduction.ts';

export const SUM_TILE = 4096;
/** Words that a tile leaves: two classes of limbs, exponent, count. */
export const SUM_WORDS = 10;

const accumulate = (subgroups: boolean): string =>
  totalOf(subgroups) +
  largestOf(subgroups) +
  /* wgsl */ `
// a magnitude in units of 2^-27 of the last place that belongs to the exponent.
fn fixed(size: u32, exponent: u32) -> vec2<u32> {
  let own = max(size >> 23u, 1u);
  let m = (size & 0x007fffffu) | select(0u, 0x00800000u, size >= 0x00800000u);
  let down = exponent - own;
  if down > 50u { return vec2(0u); }
  let low = m << 27u;
  let high = m >> 5u;
  if down == 0u { return vec2(low, high); }
  if down >= 32u { return vec2(high >> (down - 32u), 0u); }
  return vec2((low >> down) | (high << (32u - down)), high >> down);
}

fn plus(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.x + b.x;
  return vec2(low, a.y + b.y + select(0u, 1u, low < b.x));
}

// 22 bits each, so that sums of 256 of them fit a word.
fn limbs(a: vec2<u32>, count: u32) -> vec4<u32> {
  return vec4(a.x & 0x3fffffu, ((a.x >> 22u) | (a.y << 10u)) & 0x3fffffu, a.y >> 12u, count);
}
`;

/** The sums of a window's tiles. */
export const tileSums: KernelSource<'length' | 'tile', 'x' | 'sums'> = {
  name: 'sums by sign',
  parameters: ['length', 'tile'],
  bindings: { x: 'read', sums: 'write' },
  code: (subgroups) => summing(subgroups, 'x[parameters.xAt + i]', ''),
};

/**
 * The sums of squared deviations of a window's tiles, all of one class: of (x · lift · factor −
 * mean)², where lift is 2⁶⁴ or 1 or 2⁻⁶⁴ (`lift` 1, 0, 2) and the product is at most 1.
 */
export const tileSquares: KernelSource<
  'length' | 'tile' | 'lift' | 'factor' | 'mean',
  'x' | 'sums'
> = {
  name: 'sums of squares',
  parameters: ['length', 'tile', 'lift', 'factor', 'mean'],
  bindings: { x: 'read', sums: 'write' },
  code: (subgroups) =>
    summing(
      subgroups,
      'square_of(x[parameters.xAt + i])',
      /* wgsl */ `
fn square_of(bits: u32) -> u32 {
  let size = bits & 0x7fffffffu;
  var up = size;
  if parameters.lift == 1u {
    up = select(size + (64u << 23u), bitcast<u32>(f32(size) * 0x1p-85f), size < 0x00800000u);
  } else if parameters.lift == 2u {
    up = select(size - (64u << 23u), 0u, size < (65u << 23u));
  }
  let value = bitcast<f32>(up | (bits & 0x80000000u)) * bitcast<f32>(parameters.factor);
  let deviation = value - bitcast<f32>(parameters.mean);
  return bitcast<u32>(deviation * deviation);
}
`,
    ),
};

function summing(subgroups: boolean, value: string, functions: string): string {
  return (
    accumulate(subgroups) +
    functions +
    /* wgsl */ `
@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  const ROWS = ${SUM_TILE / 256}u;
  var kept: array<u32, ROWS>;
  var most = vec2(0u);
  var counts = vec2(0u);
  for (var row = 0u; row < ROWS; row++) {
    let i = group.x * ${SUM_TILE}u + row * 256u + lane;
    if i < parameters.length {
      let bits = ${value};
      kept[row] = bits;
      let size = bits & 0x7fffffffu;
      if bits > 0x80000000u {
        most.y = max(most.y, size);
        counts.y += 1u;
      } else {
        most.x = max(most.x, size);
        counts.x += 1u;
      }
    }
  }
  let exponents = max(largest(lane, most) >> vec2(23u), vec2(1u));
  var positive = vec2(0u);
  var negative = vec2(0u);
  for (var row = 0u; row < ROWS; row++) {
    let bits = kept[row];
    let size = bits & 0x7fffffffu;
    if bits > 0x80000000u {
      negative = plus(negative, fixed(size, exponents.y));
    } else {
      positive = plus(positive, fixed(size, exponents.x));
    }
  }
  let above = total(lane, limbs(positive, counts.x));
  let below = total(lane, limbs(negative, counts.y));
  if lane == 0u {
    let at = parameters.sumsAt + ${SUM_WORDS}u * (parameters.tile + group.x);
    for (var i = 0u; i < 4u; i++) {
      sums[at + i] = above[i];
      sums[at + 5u + i] = below[i];
    }
    sums[at + 4u] = exponents.x;
    sums[at + 9u] = exponents.y;
  }
}
`
  );
}

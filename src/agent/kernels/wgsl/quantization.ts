/**
 * Stochastic rounding in WGSL, in the arithmetic of `kernels/quantization.ts`, to the bit.
 * Scales are maxima of bit patterns; the factor of a run is divided out once; then a
 * group of 8, 16 or 32 elements, as many as fill whole words of codes, becomes codes in
 * one invocation. Three dispatches: two passes over x, one over the runs.
 *
 * A window of x begins at element `first` of its section, wherever that is: words of codes
 * that lie across its ends are completed by the next window, so codes begin as zeros.
 *
 * Where a device takes numbers below 2⁻¹²⁶ for 0, an element so small beside its
 * scale may be rounded otherwise than on the CPU once in 2⁴⁰ times.
 */
import { levelUnit } from '../quantization.ts';
import type { KernelSource } from './kernel-source.ts';
import { eachElement, ROWS_TILE } from './elementwise.ts';
import { exactQuotient, exactSumAndProduct } from './exact.ts';
import { philox } from './philox.ts';

/** Raises `scales[run]` to the largest |x| of the run, by bits; they begin as zeros. */
export const raiseScales: KernelSource<
  'length' | 'first' | 'runLength',
  'x' | 'scales'
> = {
  name: 'largest magnitudes of runs',
  parameters: ['length', 'first', 'runLength'],
  bindings: { x: 'read', scales: 'atomic' },
  code: () => /* wgsl */ `
var<workgroup> own: array<atomic<u32>, ${ROWS_TILE}>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let start = group.x * ${ROWS_TILE}u;
  let end = min(start + ${ROWS_TILE}u, parameters.length);
  let first_run = (parameters.first + start) / parameters.runLength;
  let runs = (parameters.first + end - 1u) / parameters.runLength - first_run + 1u;
  for (var run = lane; run < runs; run += 256u) { atomicStore(&own[run], 0u); }
  workgroupBarrier();
  let begin = start + 8u * lane;
  if begin < end {
    var run = (parameters.first + begin) / parameters.runLength;
    // The window's element at which the run ends.
    var until = (run + 1u) * parameters.runLength - parameters.first;
    var most = 0u;
    for (var i = begin; i < min(begin + 8u, end); i++) {
      if i == until {
        atomicMax(&own[run - first_run], most);
        run += 1u;
        until += parameters.runLength;
        most = 0u;
      }
      most = max(most, x[parameters.xAt + i] & 0x7fffffffu);
    }
    atomicMax(&own[run - first_run], most);
  }
  workgroupBarrier();
  for (var run = lane; run < runs; run += 256u) {
    atomicMax(&scales[parameters.scalesAt + first_run + run], atomicLoad(&own[run]));
  }
}
`,
};

/** factors[run] = 65536·s / (scale · lift), 0 where the scale is 0; of `length` runs. */
export const divideFactors: KernelSource<'length' | 'levels', 'scales' | 'factors'> = {
  name: 'factors of runs',
  parameters: ['length', 'levels'],
  bindings: { scales: 'read', factors: 'write' },
  code: () =>
    exactSumAndProduct +
    exactQuotient +
    eachElement(/* wgsl */ `
      let scale = scales[parameters.scalesAt + i];
      var factor = 0u;
      if scale > 0u {
        var divisor = scale;
        if scale < (63u << 23u) {
          divisor = bitcast<u32>(lifted(scale));
        } else if scale > (191u << 23u) {
          divisor = scale - (64u << 23u);
        }
        factor = quotient(parameters.levels, divisor) + (16u << 23u);
      }
      factors[parameters.factorsAt + i] = factor;`),
};

/**
 * Codes of a window. `group`: elements of an invocation; `groups`: how many of them the
 * window meets. `seed` … `purpose` name the stream of random numbers.
 */
export const roundToCodes: KernelSource<
  | 'length'
  | 'first'
  | 'runLength'
  | 'levels'
  | 'bits'
  | 'group'
  | 'groups'
  | 'seed'
  | 'rank'
  | 'place'
  | 'iteration'
  | 'purpose',
  'x' | 'scales' | 'factors' | 'codes'
> = {
  name: 'stochastic rounding',
  parameters: [
    'length',
    'first',
    'runLength',
    'levels',
    'bits',
    'group',
    'groups',
    'seed',
    'rank',
    'place',
    'iteration',
    'purpose',
  ],
  bindings: { x: 'read', scales: 'read', factors: 'read', codes: 'atomic' },
  code: () =>
    exactSumAndProduct +
    philox +
    /* wgsl */ `
fn random_block(block: u32) -> vec4<u32> {
  return philox(
    vec4(block, parameters.place, parameters.iteration, parameters.purpose),
    vec2(parameters.seed, parameters.rank));
}

fn level_of(size: u32, scale: u32, factor: u32, drawn: u32, element: u32) -> u32 {
  var value = bitcast<f32>(size);
  if scale < (63u << 23u) {
    value = lifted(size);
  } else if scale > (191u << 23u) {
    value = select(
      0.0, bitcast<f32>(size - (64u << 23u)), size >= (65u << 23u));
  }
  let fractions = bitcast<f32>(bitcast<u32>(value * bitcast<f32>(factor)) ^ parameters.zero);
  let y = min(fractions, f32(parameters.levels << 16u));
  let whole = u32(y);
  let level = whole >> 16u;
  let fraction = whole & 0xffffu;
  if fraction != drawn { return level + select(0u, 1u, fraction > drawn); }
  let more = random_block(0x80000000u + element / 4u)[element % 4u];
  return level + select(0u, 1u, y - f32(whole) > f32(more >> 8u) * 0x1p-24f);
}

fn put(word: u32, value: u32, complete: bool) {
  let at = parameters.codesAt + word;
  if complete { atomicStore(&codes[at], value); } else { atomicOr(&codes[at], value); }
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = workgroup.x * 256u + lane;
  if index >= parameters.groups { return; }
  let start = (parameters.first / parameters.group + index) * parameters.group;
  let end = parameters.first + parameters.length;
  let complete = start >= parameters.first && start + parameters.group <= end;
  let bits = parameters.bits;
  var word = start / 32u * bits + (start % 32u) * bits / 32u;
  var filled = 0u;
  var codes_word = 0u;
  var run = start / parameters.runLength;
  var until = (run + 1u) * parameters.runLength;
  var scale = scales[parameters.scalesAt + run];
  var factor = factors[parameters.factorsAt + run];
  var random = vec4(0u);
  for (var element = start; element < min(start + parameters.group, end); element++) {
    if element % 8u == 0u { random = random_block(element / 8u); }
    if element == until {
      run += 1u;
      until += parameters.runLength;
      scale = scales[parameters.scalesAt + run];
      factor = factors[parameters.factorsAt + run];
    }
    var code = 0u;
    if element >= parameters.first {
      let value = x[parameters.xAt + element - parameters.first];
      let half = (random[(element / 2u) % 4u] >> (16u * (element % 2u))) & 0xffffu;
      code = level_of(magnitude(value), scale, factor, half, element)
        | (select(0u, 1u, is_negative(value)) << (bits - 1u));
    }
    codes_word |= code << filled;
    filled += bits;
    if filled >= 32u {
      put(word, codes_word, complete);
      word += 1u;
      filled -= 32u;
      codes_word = select(0u, code >> (bits - filled), filled > 0u);
    }
  }
  if filled > 0u { put(word, codes_word, false); }
}
`,
};

/**
 * Values of codes to a window, added to what is there (`keep` 1) or alone. `units` are
 * those of `unitWords`; `codes` and `units` are the section's, from the word and run of
 * `codesFrom` and `unitsFrom` on.
 */
export const addCodes: KernelSource<
  'length' | 'first' | 'runLength' | 'bits' | 'keep' | 'codesFrom' | 'unitsFrom',
  'codes' | 'units' | 'out'
> = {
  name: 'values of codes',
  parameters: [
    'length',
    'first',
    'runLength',
    'bits',
    'keep',
    'codesFrom',
    'unitsFrom',
  ],
  bindings: { codes: 'read', units: 'read', out: 'write' },
  code: () =>
    exactSumAndProduct +
    /* wgsl */ `
// level · unit, rounded, and made 2^64 times smaller, rounded again, if the unit is lifted.
fn value_of(level: u32, unit: u32) -> u32 {
  let size = bitcast<u32>(f32(level) * bitcast<f32>(magnitude(unit))) ^ parameters.zero;
  if unit < SIGN { return size; }
  if size >= (65u << 23u) { return size - (64u << 23u); }
  return u32(round(bitcast<f32>(size) * 0x1p85f));
}
` +
    eachElement(/* wgsl */ `
      let element = parameters.first + i;
      let bits = parameters.bits;
      // The words of 32 elements are whole, so that no product overflows.
      let bit = (element % 32u) * bits;
      let word = parameters.codesAt + element / 32u * bits + bit / 32u - parameters.codesFrom;
      let shift = bit % 32u;
      var code = codes[word] >> shift;
      if shift + bits > 32u { code |= codes[word + 1u] << (32u - shift); }
      let sign = 1u << (bits - 1u);
      let unit = units[parameters.unitsAt + element / parameters.runLength - parameters.unitsFrom];
      let size = value_of(code & (sign - 1u), unit);
      let value = size | select(0u, SIGN, (code & sign) != 0u);
      let at = parameters.outAt + i;
      out[at] = sum(select(0u, out[at], parameters.keep == 1u), value);`),
};

/** Units of runs (`levelUnit`) as words for `addCodes`: those that are lifted are negative. */
export function unitWords(scales: Float32Array, levels: number): Uint32Array {
  const units = scales.map((scale) => {
    const { unit, factor } = levelUnit(scale, levels);
    return factor === 1 ? unit : -unit;
  });
  return new Uint32Array(units.buffer);
}

/** Elements of an invocation: the fewest, a multiple of 8, whose codes are whole words. */
export function groupOf(bits: number): number {
  if (bits % 4 === 0) return 8;
  return bits % 2 === 0 ? 16 : 32;
}

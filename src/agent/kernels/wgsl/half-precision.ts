/**
 * 16-bit values in WGSL, as `kernels/half-precision.ts` defines them, in integers, so that no
 * device can take a subnormal for 0. `format`: 0 bfloat16, 1 binary16. Two codes share a word,
 * whose windows may begin in its middle, so codes begin as zeros.
 */
import type { KernelSource } from './kernel-source.ts';
import { eachElement } from './elementwise.ts';
import { exactSumAndProduct } from './exact.ts';
import { philox } from './philox.ts';

/** codes ← x · factor; `random` 1: by the stream that `seed` … `purpose` name, else to nearest. */
export const narrowHalves: KernelSource<
  | 'length'
  | 'first'
  | 'format'
  | 'factor'
  | 'random'
  | 'seed'
  | 'rank'
  | 'place'
  | 'iteration'
  | 'purpose',
  'x' | 'codes'
> = {
  name: 'to 16 bits',
  parameters: [
    'length',
    'first',
    'format',
    'factor',
    'random',
    'seed',
    'rank',
    'place',
    'iteration',
    'purpose',
  ],
  bindings: { x: 'read', codes: 'atomic' },
  code: () =>
    exactSumAndProduct +
    philox +
    /* wgsl */ `
// whole.rest, of which \`shift\` bits are behind the point, rounded.
fn rounded(size: u32, shift: u32, element: u32) -> u32 {
  let whole = select(size >> shift, 0u, shift > 31u);
  let rest = select(size & ((1u << (shift & 31u)) - 1u), size, shift > 31u);
  if parameters.random == 1u {
    let block = philox(
      vec4(element / 8u, parameters.place, parameters.iteration, parameters.purpose),
      vec2(parameters.seed, parameters.rank));
    let drawn = (block[(element / 2u) % 4u] >> (16u * (element % 2u))) & 0xffffu;
    let weight = select(rest << ((16u - shift) & 31u), rest >> ((shift - 16u) & 31u), shift > 16u);
    return whole + select(0u, 1u, weight > drawn);
  }
  // With more places than a fraction has, less than a half is left.
  if shift > 24u { return 0u; }
  let half = 1u << (shift - 1u);
  let up = rest > half || (rest == half && (whole & 1u) == 1u);
  return whole + select(0u, 1u, up);
}

fn code_of(bits: u32, element: u32) -> u32 {
  let size = magnitude(bits);
  let sign = (bits & SIGN) >> 16u;
  if parameters.format == 0u { return sign | min(rounded(size, 16u, element), 0x7f7fu); }
  if size >= 0x38800000u {
    return sign | min(rounded(size - 0x38000000u, 13u, element), 0x7bffu);
  }
  let shift = 126u - (size >> 23u);
  if shift > 39u { return sign; }
  return sign | rounded((size & FRACTION) | HIDDEN, shift, element);
}
` +
    eachElement(/* wgsl */ `
      let element = parameters.first + i;
      let value = product(x[parameters.xAt + i], parameters.factor);
      let code = code_of(value, element) << (16u * (element % 2u));
      if code > 0u { atomicOr(&codes[parameters.codesAt + element / 2u], code); }`),
};

/** out ← values of codes */
export const widenHalves: KernelSource<'length' | 'first' | 'format', 'codes' | 'out'> =
  {
    name: 'from 16 bits',
    parameters: ['length', 'first', 'format'],
    bindings: { codes: 'read', out: 'write' },
    code: () =>
      /* wgsl */ `
fn value_of(code: u32) -> u32 {
  if parameters.format == 0u { return code << 16u; }
  let size = code & 0x7fffu;
  let sign = (code & 0x8000u) << 16u;
  if size >= 0x7c00u { return sign | ((size << 13u) | 0x7f800000u); }
  if size >= 0x400u { return sign | ((size << 13u) + 0x38000000u); }
  return sign | bitcast<u32>(f32(size) * 0x1p-24f);
}
` +
      eachElement(/* wgsl */ `
      let element = parameters.first + i;
      let word = codes[parameters.codesAt + element / 2u];
      out[parameters.outAt + i] = value_of((word >> (16u * (element % 2u))) & 0xffffu);`),
  };

/**
 * Elementwise kernels in WGSL. A workgroup takes 2,048 consecutive elements of a window in
 * eight rows of 256, so that neighbours read neighbours. One pass over memory each.
 */
import type { KernelSource } from './kernel-source.ts';
import { exactSumAndProduct } from './exact.ts';

/** Elements of a window that a workgroup takes. */
export const ROWS_TILE = 2048;

/** A `main` that runs `body` for each element `i` of a window of `parameters.length`. */
export function eachElement(body: string): string {
  return /* wgsl */ `
@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  for (var row = 0u; row < 8u; row++) {
    let i = group.x * ${ROWS_TILE}u + row * 256u + lane;
    if i < parameters.length {
      ${body}
    }
  }
}
`;
}

/** out ← out + x */
export const add: KernelSource<'length', 'out' | 'x'> = {
  name: 'add',
  parameters: ['length'],
  bindings: { out: 'write', x: 'read' },
  code: () =>
    exactSumAndProduct +
    eachElement(/* wgsl */ `
      let at = parameters.outAt + i;
      out[at] = sum(out[at], x[parameters.xAt + i]);`),
};

/** x ← x · factor */
export const scale: KernelSource<'length' | 'factor', 'x'> = {
  name: 'scale',
  parameters: ['length', 'factor'],
  bindings: { x: 'write' },
  code: () =>
    exactSumAndProduct +
    eachElement(/* wgsl */ `
      let at = parameters.xAt + i;
      x[at] = product(x[at], parameters.factor);`),
};

/** out ← outFactor · out + xFactor · x, rounded after each operation. */
export const blend: KernelSource<'length' | 'outFactor' | 'xFactor', 'out' | 'x'> = {
  name: 'blend',
  parameters: ['length', 'outFactor', 'xFactor'],
  bindings: { out: 'write', x: 'read' },
  code: () =>
    exactSumAndProduct +
    eachElement(/* wgsl */ `
      let at = parameters.outAt + i;
      let added = product(x[parameters.xAt + i], parameters.xFactor);
      out[at] = sum(product(out[at], parameters.outFactor), added);`),
};

/** x ← x + plus where x ≥ 0, x + minus where x < 0. */
export const shiftBySign: KernelSource<'length' | 'plus' | 'minus', 'x'> = {
  name: 'shift by sign',
  parameters: ['length', 'plus', 'minus'],
  bindings: { x: 'write' },
  code: () =>
    exactSumAndProduct +
    eachElement(/* wgsl */ `
      let at = parameters.xAt + i;
      let value = x[at];
      x[at] = sum(value, select(parameters.plus, parameters.minus, is_negative(value)));`),
};

/** The least index of a NaN or infinity goes to `found`, which begins as 2³² − 1. */
export const firstNonFinite: KernelSource<'length' | 'first', 'x' | 'found'> = {
  name: 'first non-finite',
  parameters: ['length', 'first'],
  bindings: { x: 'read', found: 'atomic' },
  code: () =>
    eachElement(/* wgsl */ `
      if (x[parameters.xAt + i] & 0x7f800000u) == 0x7f800000u {
        atomicMin(&found[parameters.foundAt], parameters.first + i);
      }`),
};

/**
 * Stores the value that `firstNonFinite` has found, if it is in the window, after its
 * index.
 */
export const valueFound: KernelSource<'length' | 'first', 'x' | 'found'> = {
  name: 'value found',
  parameters: ['length', 'first'],
  bindings: { x: 'read', found: 'write' },
  code: () => /* wgsl */ `
@compute @workgroup_size(1)
fn main() {
  // Indices before the window wrap to places far behind it.
  let place = found[parameters.foundAt] - parameters.first;
  if place < parameters.length {
    found[parameters.foundAt + 1u] = x[parameters.xAt + place];
  }
}
`,
};

/** out[index − first] ← out + factor · value, of the pairs whose index is in the window. */
export const scatterAdd: KernelSource<
  'count' | 'factor' | 'first' | 'length',
  'indices' | 'values' | 'out'
> = {
  name: 'scatter-add',
  parameters: ['count', 'factor', 'first', 'length'],
  bindings: { indices: 'read', values: 'read', out: 'write' },
  code: () =>
    exactSumAndProduct +
    eachPair(/* wgsl */ `
      let at = parameters.outAt + place;
      let value = values[parameters.valuesAt + i];
      out[at] = sum(out[at], product(value, parameters.factor));`),
};

/** out[i] ← x[index − first] for the indices in the window. */
export const gatherAt: KernelSource<
  'count' | 'first' | 'length',
  'indices' | 'x' | 'out'
> = {
  name: 'gather at indices',
  parameters: ['count', 'first', 'length'],
  bindings: { indices: 'read', x: 'read', out: 'write' },
  code: () => eachPair('out[parameters.outAt + i] = x[parameters.xAt + place];'),
};

/** x[index − first] ← 0 for the indices in the window. */
export const clearAt: KernelSource<'count' | 'first' | 'length', 'indices' | 'x'> = {
  name: 'clear at indices',
  parameters: ['count', 'first', 'length'],
  bindings: { indices: 'read', x: 'write' },
  code: () => eachPair('x[parameters.xAt + place] = 0u;'),
};

/** A `main` over `count` indices: `body` for those that fall on a `place` in the window. */
function eachPair(body: string): string {
  return /* wgsl */ `
@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let i = group.x * 256u + lane;
  if i >= parameters.count { return; }
  // Indices before the window wrap to places far behind it.
  let place = indices[parameters.indicesAt + i] - parameters.first;
  if place < parameters.length {
    ${body}
  }
}
`;
}

/**
 * Signs of elements in WGSL, one bit each, and the values that they represent: the means
 * of their run. A workgroup collects the bits of its elements in shared memory; words
 * that lie across the ends of workgroups or windows are completed by the next, so they
 * begin as zeros.
 */
import type { KernelSource } from './kernel-source.ts';
import { eachElement, ROWS_TILE } from './elementwise.ts';
import { exactSumAndProduct } from './exact.ts';

/** x ← x − the mean of its sign; its sign goes to `signs`. Means are the whole section's. */
export const takeSigns: KernelSource<
  'length' | 'first' | 'runLength',
  'x' | 'means' | 'signs'
> = {
  name: 'take signs',
  parameters: ['length', 'first', 'runLength'],
  bindings: { x: 'write', means: 'read', signs: 'atomic' },
  code: () =>
    exactSumAndProduct +
    /* wgsl */ `
const WORDS = ${ROWS_TILE / 32 + 1}u;
var<workgroup> words: array<atomic<u32>, WORDS>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  if lane < WORDS { atomicStore(&words[lane], 0u); }
  workgroupBarrier();
  let start = group.x * ${ROWS_TILE}u;
  let first_word = (parameters.first + start) / 32u;
  for (var row = 0u; row < 8u; row++) {
    let i = start + row * 256u + lane;
    if i < parameters.length {
      let element = parameters.first + i;
      let value = x[parameters.xAt + i];
      let below = select(0u, 1u, is_negative(value));
      if below == 1u { atomicOr(&words[element / 32u - first_word], 1u << (element % 32u)); }
      let mean = means[parameters.meansAt + 2u * (element / parameters.runLength) + below];
      x[parameters.xAt + i] = sum(value, mean ^ SIGN);
    }
  }
  workgroupBarrier();
  if lane < WORDS {
    let word = atomicLoad(&words[lane]);
    if word > 0u { atomicOr(&signs[parameters.signsAt + first_word + lane], word); }
  }
}
`,
};

/**
 * Writes the values that signs stand for, added to what is there (`keep` 1) or alone; `means` and
 * `signs` are those of the section from the run of `meansFrom` and the word of `signsFrom` on.
 */
export const addSigns: KernelSource<
  'length' | 'first' | 'runLength' | 'keep' | 'meansFrom' | 'signsFrom',
  'means' | 'signs' | 'out'
> = {
  name: 'values of signs',
  parameters: ['length', 'first', 'runLength', 'keep', 'meansFrom', 'signsFrom'],
  bindings: { means: 'read', signs: 'read', out: 'write' },
  code: () =>
    exactSumAndProduct +
    eachElement(/* wgsl */ `
      let element = parameters.first + i;
      let word = signs[parameters.signsAt + element / 32u - parameters.signsFrom];
      let below = (word >> (element % 32u)) & 1u;
      let run = element / parameters.runLength - parameters.meansFrom;
      let at = parameters.outAt + i;
      out[at] = sum(
        select(0u, out[at], parameters.keep == 1u),
        means[parameters.meansAt + 2u * run + below]);`),
};

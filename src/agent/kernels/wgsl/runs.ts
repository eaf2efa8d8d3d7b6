/**
 * Selection from runs of consecutive elements in WGSL. A workgroup takes as many whole runs
 * as fit its shared memory. An entry's rank in its run is how many are larger, or as
 * large and before it; it is selected if its rank is below k, and its place is how many
 * of those before it are. So nothing waits for anything but the run: one pass over memory,
 * and for each entry as many comparisons as it takes to find k that are larger: `run` of
 * them at the worst, some 2·k where sizes are in no order.
 *
 * Source: k of each 512 elements, SparCML (Renggli et al., SC 2019), section 8.
 */
import type { KernelSource } from './kernel-source.ts';

/** Elements in shared memory: no run is longer. */
export const LONGEST_RUN = 2048;

/** Whole runs that a workgroup takes. */
export const runsTogether = (run: number): number =>
  Math.max(1, Math.floor(LONGEST_RUN / run));

/**
 * Selects from each of `runs` runs the k of largest magnitude, ties by lower index, to k places
 * each; `first`: the index of the first entry. k ≤ run.
 */
export const selectFromRuns: KernelSource<
  'run' | 'runs' | 'together' | 'k' | 'first',
  'x' | 'indices' | 'values'
> = {
  name: 'largest of runs',
  parameters: ['run', 'runs', 'together', 'k', 'first'],
  bindings: { x: 'read', indices: 'write', values: 'write' },
  code: () => /* wgsl */ `
var<workgroup> sizes: array<u32, ${LONGEST_RUN}>;
var<workgroup> selected: array<u32, ${LONGEST_RUN}>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let run = parameters.run;
  let first_run = group.x * parameters.together;
  let runs = min(parameters.together, parameters.runs - first_run);
  let start = first_run * run;
  let entries = runs * run;
  for (var i = lane; i < entries; i += 256u) {
    sizes[i] = x[parameters.xAt + start + i] & 0x7fffffffu;
  }
  workgroupBarrier();
  for (var i = lane; i < entries; i += 256u) {
    let size = sizes[i];
    let begin = i - i % run;
    var rank = 0u;
    for (var j = begin; j < begin + run && rank < parameters.k; j++) {
      // Those before it win at equal size.
      rank += select(0u, 1u, sizes[j] >= size + select(0u, 1u, j >= i));
    }
    selected[i] = select(0u, 1u, rank < parameters.k);
  }
  workgroupBarrier();
  for (var i = lane; i < entries; i += 256u) {
    if selected[i] == 1u {
      let begin = i - i % run;
      var place = (first_run + i / run) * parameters.k;
      for (var j = begin; j < i; j++) { place += selected[j]; }
      indices[parameters.indicesAt + place] = parameters.first + start + i;
      values[parameters.valuesAt + place] = x[parameters.xAt + start + i];
    }
  }
}
`,
};

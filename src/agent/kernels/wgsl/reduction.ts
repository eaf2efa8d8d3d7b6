/**
 * Reductions over a workgroup of 256 in WGSL, each with two ways to the same bits: trees in
 * shared memory, or subgroups first and an atomic for each. On integers alone, so
 * the order does not matter. Every invocation must call them, and gets the result.
 */
const THREADS = 256;

/** `total(lane, value)`: sums of four words at once. */
export function totalOf(subgroups: boolean): string {
  if (!subgroups) return tree('total', 'vec4<u32>', (a, b) => `${a} + ${b}`);
  return /* wgsl */ `
var<workgroup> total_cells: array<atomic<u32>, 4>;

fn total(lane: u32, value: vec4<u32>) -> vec4<u32> {
  if lane < 4u { atomicStore(&total_cells[lane], 0u); }
  workgroupBarrier();
  let part = subgroupAdd(value);
  if subgroupElect() {
    for (var i = 0u; i < 4u; i++) { atomicAdd(&total_cells[i], part[i]); }
  }
  workgroupBarrier();
  let result = vec4(
    atomicLoad(&total_cells[0]), atomicLoad(&total_cells[1]),
    atomicLoad(&total_cells[2]), atomicLoad(&total_cells[3]));
  workgroupBarrier();
  return result;
}
`;
}

/** `largest(lane, value)`: maxima of two words at once. */
export function largestOf(subgroups: boolean): string {
  if (!subgroups) return tree('largest', 'vec2<u32>', (a, b) => `max(${a}, ${b})`);
  return /* wgsl */ `
var<workgroup> largest_cells: array<atomic<u32>, 2>;

fn largest(lane: u32, value: vec2<u32>) -> vec2<u32> {
  if lane < 2u { atomicStore(&largest_cells[lane], 0u); }
  workgroupBarrier();
  let part = subgroupMax(value);
  if subgroupElect() {
    atomicMax(&largest_cells[0], part.x);
    atomicMax(&largest_cells[1], part.y);
  }
  workgroupBarrier();
  let result = vec2(atomicLoad(&largest_cells[0]), atomicLoad(&largest_cells[1]));
  workgroupBarrier();
  return result;
}
`;
}

function tree(
  name: string,
  type: string,
  combine: (a: string, b: string) => string,
): string {
  const cells = `${name}_cells`;
  return /* wgsl */ `
var<workgroup> ${cells}: array<${type}, ${THREADS}>;

fn ${name}(lane: u32, value: ${type}) -> ${type} {
  ${cells}[lane] = value;
  workgroupBarrier();
  for (var step = ${THREADS / 2}u; step > 0u; step >>= 1u) {
    if lane < step {
      ${cells}[lane] = ${combine(`${cells}[lane]`, `${cells}[lane + step]`)};
    }
    workgroupBarrier();
  }
  let result = ${cells}[0];
  workgroupBarrier();
  return result;
}
`;
}

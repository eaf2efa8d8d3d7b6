/**
 * Sums in fixed point in WGSL, to the bit as `kernels/fixed-point.ts` defines them: of
 * runs of any length, each in units of its largest magnitude, which an earlier pass has
 * found. An invocation adds up a few consecutive elements; a workgroup adds these up by
 * run, in limbs that cannot overflow, and adds its part to the run's words with a carry.
 * So a run may extend over several workgroups and windows. Two passes over memory in
 * total.
 */
import type { KernelSource } from './kernel-source.ts';
import { eachElement } from './elementwise.ts';

/** Words of a run's sum of squares. */
export const SQUARE_WORDS = 3;
/** Words of a run's sums by sign: Σ of elements ≥ 0, Σ of those < 0, how many are < 0. */
export const CLASS_WORDS = 5;

/** Runs that a workgroup can meet. */
const SLOTS = 264;

/**
 * Consecutive elements of an invocation: fewer if runs are so short that slots would run
 * out.
 */
export function elementsEach(runLength: number): number {
  return runLength < 8 ? 1 : 8;
}

const fixedUnits = /* wgsl */ `
// The exponent field by which a run counts.
fn exponent_of(largest: u32) -> u32 { return max((largest & 0x7fffffffu) >> 23u, 1u); }

fn units_of(bits: u32, exponent: u32) -> u32 {
  let size = bits & 0x7fffffffu;
  let hidden = select(0u, 0x00800000u, size >= 0x00800000u);
  let down = exponent - max(size >> 23u, 1u);
  return select(0u, (((size & 0x007fffffu) | hidden) << 4u) >> (down & 31u), down < 28u);
}
`;

/** `rounded(m, exponent)`: the bits of m · 2^exponent, m < 2³¹, halves up. */
const roundedToFloat = /* wgsl */ `
fn rounded(m: u32, exponent: i32) -> u32 {
  let place = max(exponent + 8 - i32(countLeadingZeros(m)), -149);
  let drop = place - exponent;
  if drop > 31 { return 0u; }
  var kept = m << u32(max(-drop, 0));
  if drop > 0 { kept = ((m >> u32(drop - 1)) + 1u) >> 1u; }
  return min((u32(place + 149) << 23u) + kept, 0x7f7fffffu);
}
`;

/**
 * A `main` that walks the invocation's elements run by run: `take` is given `bits` and
 * `exponents` and adds to what `declare` declares, `give` adds that to slot `slot` and
 * sets it back, `store` adds slot `slot` to the words of `run`.
 */
function eachRun(code: {
  readonly cells: number;
  readonly declare: string;
  readonly load: string;
  readonly take: string;
  readonly give: string;
  readonly store: string;
}): string {
  return /* wgsl */ `
var<workgroup> cells: array<atomic<u32>, ${SLOTS * code.cells}>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let tile = 256u * parameters.each;
  let start = group.x * tile;
  let end = min(start + tile, parameters.length);
  let first_run = (parameters.first + start) / parameters.runLength;
  let runs = (parameters.first + end - 1u) / parameters.runLength - first_run + 1u;
  for (var cell = lane; cell < runs * ${code.cells}u; cell += 256u) {
    atomicStore(&cells[cell], 0u);
  }
  workgroupBarrier();
  let begin = start + parameters.each * lane;
  let stop = min(begin + parameters.each, end);
  if begin < stop {
    var run = (parameters.first + begin) / parameters.runLength;
    var until = (run + 1u) * parameters.runLength - parameters.first;
    ${code.declare}
    ${code.load}
    for (var i = begin; i < stop; i++) {
      if i == until {
        let slot = (run - first_run) * ${code.cells}u;
        ${code.give}
        run += 1u;
        until += parameters.runLength;
        ${code.load}
      }
      let bits = x[parameters.xAt + i];
      ${code.take}
    }
    let slot = (run - first_run) * ${code.cells}u;
    ${code.give}
  }
  workgroupBarrier();
  for (var index = lane; index < runs; index += 256u) {
    let slot = index * ${code.cells}u;
    let run = first_run + index;
    ${code.store}
  }
}
`;
}

/** `add_words(at, low, middle, high)`: to three words at `at` of an array, with carries. */
const addWithCarry = (array: string): string => /* wgsl */ `
fn add_words(at: u32, low: u32, middle: u32, high: u32) {
  let carry = select(0u, 1u, atomicAdd(&${array}[at], low) + low < low);
  let more = middle + carry;
  let next = select(0u, 1u, more < carry);
  let after = next + select(0u, 1u, atomicAdd(&${array}[at + 1u], more) + more < more);
  if high + after > 0u { atomicAdd(&${array}[at + 2u], high + after); }
}
`;

type RunParameters = 'length' | 'first' | 'runLength' | 'each';
const RUN_PARAMETERS = ['length', 'first', 'runLength', 'each'] as const;

/** Σ units² of each run of a window, to words that begin as zeros. */
export const runSquares: KernelSource<RunParameters, 'x' | 'largest' | 'squares'> = {
  name: 'sums of squares of runs',
  parameters: RUN_PARAMETERS,
  bindings: { x: 'read', largest: 'read', squares: 'atomic' },
  code: () =>
    fixedUnits +
    addWithCarry('squares') +
    /* wgsl */ `
// The square of a number below 2^28.
fn square(q: u32) -> vec2<u32> {
  let low = q & 0x3fffu;
  let high = q >> 14u;
  let middle = low * high;
  let first = low * low;
  let second = first + (middle << 15u);
  let third = second + ((high * high) << 28u);
  let carries = select(0u, 1u, second < first) + select(0u, 1u, third < second);
  return vec2(third, (middle >> 17u) + ((high * high) >> 4u) + carries);
}
` +
    eachRun({
      cells: 3,
      declare: 'var part = vec2(0u); var exponent = 1u;',
      load: 'exponent = exponent_of(largest[parameters.largestAt + run]);',
      take: /* wgsl */ `
      let own = square(units_of(bits, exponent));
      let low = part.x + own.x;
      part = vec2(low, part.y + own.y + select(0u, 1u, low < own.x));`,
      give: /* wgsl */ `
        atomicAdd(&cells[slot], part.x & 0xfffffu);
        atomicAdd(&cells[slot + 1u], ((part.x >> 20u) | (part.y << 12u)) & 0xfffffu);
        atomicAdd(&cells[slot + 2u], part.y >> 8u);
        part = vec2(0u);`,
      store: /* wgsl */ `
    let a = atomicLoad(&cells[slot]);
    let b = atomicLoad(&cells[slot + 1u]);
    let c = atomicLoad(&cells[slot + 2u]);
    let low = a + (b << 20u);
    let above = (b >> 12u) + select(0u, 1u, low < a);
    let middle = (c << 8u) + above;
    let high = (c >> 24u) + select(0u, 1u, middle < above);
    add_words(parameters.squaresAt + ${SQUARE_WORDS}u * run, low, middle, high);`,
    }),
};

/** Scales of runs: the roots of their sums of squares, rounded; of `length` runs. */
export const runNorms: KernelSource<'length', 'largest' | 'squares' | 'scales'> = {
  name: 'norms of runs',
  parameters: ['length'],
  bindings: { largest: 'read', squares: 'read', scales: 'write' },
  code: () =>
    fixedUnits +
    roundedToFloat +
    /* wgsl */ `
// (high, low) >> count, count < 64.
fn down(high: u32, low: u32, count: u32) -> vec2<u32> {
  if count == 0u { return vec2(low, high); }
  if count >= 32u { return vec2(high >> (count - 32u), 0u); }
  return vec2((low >> count) | (high << (32u - count)), high >> count);
}

// The root of high·2^32 + low < 2^50, cut off.
fn root_of(high: u32, low: u32) -> u32 {
  var rest = vec2(low, high);
  var root = 0u;
  // Bit by bit: rest is what is left of the number after root^2.
  for (var i = 0u; i < 25u; i++) {
    let bit = 24u - i;
    // (root + 2^bit)^2 - root^2 = 2^(bit+1)·root + 2^(2·bit)
    let sum = (root << 1u) + (1u << bit);
    let step = vec2(sum << bit, select(0u, sum >> (32u - bit), bit > 0u));
    if rest.y > step.y || (rest.y == step.y && rest.x >= step.x) {
      rest = vec2(rest.x - step.x, rest.y - step.y - select(0u, 1u, rest.x < step.x));
      root |= 1u << bit;
    }
  }
  return root;
}
` +
    eachElement(/* wgsl */ `
      let at = parameters.squaresAt + ${SQUARE_WORDS}u * i;
      var low = squares[at];
      var middle = squares[at + 1u];
      let high = squares[at + 2u];
      // An even number of places, so that two words hold the rest.
      let beyond = (33u - countLeadingZeros(high)) & 0xfffffffeu;
      if beyond > 0u {
        low = down(middle, low, beyond).x;
        middle = select(high << (32u - beyond), high, beyond >= 32u)
          | select(middle >> beyond, 0u, beyond >= 32u);
      }
      let zeros = select(
        32u + countLeadingZeros(low), countLeadingZeros(middle), middle > 0u);
      let drop = u32(max(15 - i32(zeros), 0)) & 0xfffffffeu;
      let kept = down(middle, low, drop);
      let root = root_of(kept.y, kept.x);
      let exponent = i32(exponent_of(largest[parameters.largestAt + i])) - 154;
      scales[parameters.scalesAt + i] =
        rounded(root, i32((drop + beyond) / 2u) + exponent);`),
};

/**
 * The largest magnitude of the elements ≥ 0, and of those < 0, for each run of a window: two words
 * that begin as zeros.
 */
export const runClassMaxima: KernelSource<RunParameters, 'x' | 'largest'> = {
  name: 'largest magnitudes by sign',
  parameters: RUN_PARAMETERS,
  bindings: { x: 'read', largest: 'atomic' },
  code: () =>
    eachRun({
      cells: 2,
      declare: 'var most = vec2(0u);',
      load: '',
      take: /* wgsl */ `
      let size = bits & 0x7fffffffu;
      if bits > 0x80000000u { most.y = max(most.y, size); }
      else { most.x = max(most.x, size); }`,
      give: /* wgsl */ `
        atomicMax(&cells[slot], most.x);
        atomicMax(&cells[slot + 1u], most.y);
        most = vec2(0u);`,
      store: /* wgsl */ `
    let at = parameters.largestAt + 2u * run;
    atomicMax(&largest[at], atomicLoad(&cells[slot]));
    atomicMax(&largest[at + 1u], atomicLoad(&cells[slot + 1u]));`,
    }),
};

/**
 * Σ units of each run's elements ≥ 0 and < 0, and how many are < 0. `stride` words of
 * `largest` belong to a run: one for both classes, or one for each.
 */
export const runClassSums: KernelSource<
  RunParameters | 'stride',
  'x' | 'largest' | 'sums'
> = {
  name: 'sums of runs by sign',
  parameters: [...RUN_PARAMETERS, 'stride'],
  bindings: { x: 'read', largest: 'read', sums: 'atomic' },
  code: () =>
    fixedUnits +
    addWithCarry('sums') +
    eachRun({
      cells: 5,
      declare: 'var part = vec3(0u); var exponents = vec2(1u);',
      load: /* wgsl */ `{
        let at = parameters.largestAt + parameters.stride * run;
        exponents = vec2(
          exponent_of(largest[at]), exponent_of(largest[at + parameters.stride - 1u]));
      }`,
      take: /* wgsl */ `
      if bits > 0x80000000u {
        part.y += units_of(bits, exponents.y);
        part.z += 1u;
      } else {
        part.x += units_of(bits, exponents.x);
      }`,
      give: /* wgsl */ `
        atomicAdd(&cells[slot], part.x & 0xffffu);
        atomicAdd(&cells[slot + 1u], part.x >> 16u);
        atomicAdd(&cells[slot + 2u], part.y & 0xffffu);
        atomicAdd(&cells[slot + 3u], part.y >> 16u);
        atomicAdd(&cells[slot + 4u], part.z);
        part = vec3(0u);`,
      store: /* wgsl */ `
    let at = parameters.sumsAt + ${CLASS_WORDS}u * run;
    for (var side = 0u; side < 2u; side++) {
      let a = atomicLoad(&cells[slot + 2u * side]);
      let b = atomicLoad(&cells[slot + 2u * side + 1u]);
      let low = a + (b << 16u);
      let high = (b >> 16u) + select(0u, 1u, low < a);
      let carry = select(0u, 1u, atomicAdd(&sums[at + 2u * side], low) + low < low);
      atomicAdd(&sums[at + 2u * side + 1u], high + carry);
    }
    atomicAdd(&sums[at + 4u], atomicLoad(&cells[slot + 4u]));`,
    }),
};

/** The two means of each of `length` runs of `total` elements, two words each. */
export const runMeans: KernelSource<
  'length' | 'runLength' | 'total',
  'largest' | 'sums' | 'means'
> = {
  name: 'means of runs by sign',
  parameters: ['length', 'runLength', 'total'],
  bindings: { largest: 'read', sums: 'read', means: 'write' },
  code: () =>
    fixedUnits +
    roundedToFloat +
    /* wgsl */ `
// (high·2^32 + low) / count · 2^exponent, rounded: 25 bits of the quotient decide.
fn mean_of(high: u32, low: u32, count: u32, exponent: i32) -> u32 {
  if (high | low) == 0u { return 0u; }
  var rest = 0u;
  var quotient = 0u;
  var place = 63;
  // Bits below the last of the number are zeros.
  while quotient < (1u << 24u) {
    var bit = 0u;
    if place >= 32 { bit = (high >> u32(place - 32)) & 1u; }
    else if place >= 0 { bit = (low >> u32(place)) & 1u; }
    rest = (rest << 1u) | bit;
    quotient <<= 1u;
    if rest >= count {
      rest -= count;
      quotient |= 1u;
    }
    place -= 1;
  }
  return rounded(quotient, place + 1 + exponent);
}
` +
    eachElement(/* wgsl */ `
      let at = parameters.sumsAt + ${CLASS_WORDS}u * i;
      let below = sums[at + 4u];
      let n = min(parameters.runLength, parameters.total - parameters.runLength * i);
      let sizes = parameters.largestAt + 2u * i;
      let out = parameters.meansAt + 2u * i;
      means[out] = mean_of(
        sums[at + 1u], sums[at], n - below, i32(exponent_of(largest[sizes])) - 154);
      let minus = mean_of(
        sums[at + 3u], sums[at + 2u], below, i32(exponent_of(largest[sizes + 1u])) - 154);
      means[out + 1u] = minus | select(0u, 0x80000000u, below > 0u);`),
};

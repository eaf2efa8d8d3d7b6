/**
 * Exact selection in WGSL. The bit pattern of |x| orders like |x|, so the k-th largest is
 * found by radix: a histogram of its upper 11 bits, then of the next 10 among those that
 * share them, then of the last 10. `choose` finds after each the digit in which the k-th
 * largest lies. Then what is selected is counted per tile, the counts are summed up to
 * places, and every tile writes its entries there, ascending: five passes of reading.
 *
 * `state` holds the digits found so far, how many entries are still to be found
 * under them, and then what `count`, `scan` and `compact` go by.
 *
 * Source: radix select, as in Alabi et al., "Fast k-selection algorithms for graphics
 * processing units", JEA 17 (2012).
 */
import type { KernelSource } from './kernel-source.ts';
import { totalOf } from './reduction.ts';

/** Elements that a workgroup counts or writes. */
export const SELECTION_TILE = 4096;
/** Bins of the first histogram; the others have half as many. */
export const BINS = 2048;

/** Words of `state`. */
export const STATE = {
  /** Digits of the k-th largest magnitude, as far as they are known. */
  prefix: 0,
  /** Entries to be found among those that share the digits. */
  remaining: 1,
  /** Least magnitude of which all are selected. */
  lower: 2,
  /** Least magnitude of those below `lower` of which `ties` are selected, lowest indices first. */
  tie: 3,
  ties: 4,
  /** Entries selected. */
  count: 5,
} as const;
export const STATE_WORDS = 6;

/**
 * Adds magnitudes' digits at `shift` to the histogram, of those whose bits from `above` on
 * are the prefix's. Workgroups take tiles in turn.
 */
export const histogram: KernelSource<
  'length' | 'shift' | 'above' | 'tiles' | 'groups',
  'x' | 'state' | 'bins'
> = {
  name: 'histogram of magnitudes',
  parameters: ['length', 'shift', 'above', 'tiles', 'groups'],
  bindings: { x: 'read', state: 'read', bins: 'atomic' },
  code: () => /* wgsl */ `
var<workgroup> own: array<atomic<u32>, ${BINS}>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  for (var bin = lane; bin < ${BINS}u; bin += 256u) { atomicStore(&own[bin], 0u); }
  workgroupBarrier();
  let prefix = state[parameters.stateAt + ${STATE.prefix}u];
  let mask = (1u << (parameters.above - parameters.shift)) - 1u;
  for (var tile = group.x; tile < parameters.tiles; tile += parameters.groups) {
    for (var row = 0u; row < ${SELECTION_TILE / 256}u; row++) {
      let i = tile * ${SELECTION_TILE}u + row * 256u + lane;
      if i < parameters.length {
        let size = x[parameters.xAt + i] & 0x7fffffffu;
        if parameters.above == 31u || (size ^ prefix) >> parameters.above == 0u {
          atomicAdd(&own[(size >> parameters.shift) & mask], 1u);
        }
      }
    }
  }
  workgroupBarrier();
  for (var bin = lane; bin < ${BINS}u; bin += 256u) {
    let found = atomicLoad(&own[bin]);
    if found > 0u { atomicAdd(&bins[parameters.binsAt + bin], found); }
  }
}
`,
};

/**
 * One workgroup: finds the digit from the top under which `remaining` entries are
 * reached, adds it to the prefix and empties the histogram. The last digit settles what
 * is selected. `width`: bits of a digit.
 */
export const choose: KernelSource<'shift' | 'width', 'state' | 'bins'> = {
  name: 'choose a digit',
  parameters: ['shift', 'width'],
  bindings: { state: 'write', bins: 'write' },
  code: () => /* wgsl */ `
var<workgroup> sums: array<u32, 256>;

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) lane: u32) {
  let size = 1u << parameters.width;
  let mask = size - 1u;
  let each = size / 256u;
  let remaining = state[parameters.stateAt + ${STATE.remaining}u];
  let prefix = state[parameters.stateAt + ${STATE.prefix}u];
  // Lane 0 has the highest digits.
  let top = size - 1u - lane * each;
  var own = 0u;
  for (var i = 0u; i < each; i++) {
    own += bins[parameters.binsAt + top - i];
  }
  sums[lane] = own;
  workgroupBarrier();
  for (var step = 1u; step < 256u; step <<= 1u) {
    var before = 0u;
    if lane >= step { before = sums[lane - step]; }
    workgroupBarrier();
    sums[lane] += before;
    workgroupBarrier();
  }
  var above = sums[lane] - own;
  if above < remaining && remaining <= above + own {
    for (var i = 0u; i < each; i++) {
      let digit = top - i;
      let found = bins[parameters.binsAt + digit];
      if remaining <= above + found {
        let chosen = prefix | (digit << parameters.shift);
        state[parameters.stateAt + ${STATE.prefix}u] = chosen;
        state[parameters.stateAt + ${STATE.remaining}u] = remaining - above;
        state[parameters.stateAt + ${STATE.lower}u] = chosen + 1u;
        state[parameters.stateAt + ${STATE.tie}u] = chosen;
        state[parameters.stateAt + ${STATE.ties}u] = remaining - above;
        break;
      }
      above += found;
    }
  }
  for (var i = 0u; i < each; i++) {
    bins[parameters.binsAt + top - i] = 0u;
  }
}
`,
};

/** Counts, for each tile, the entries that are selected for certain, and those that tie. */
export const count: KernelSource<'length' | 'tile', 'x' | 'state' | 'tiles'> = {
  name: 'count selected',
  parameters: ['length', 'tile'],
  bindings: { x: 'read', state: 'read', tiles: 'write' },
  code: (subgroups) =>
    totalOf(subgroups) +
    /* wgsl */ `
@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let lower = state[parameters.stateAt + ${STATE.lower}u];
  let tie = state[parameters.stateAt + ${STATE.tie}u];
  var found = vec4(0u);
  for (var row = 0u; row < ${SELECTION_TILE / 256}u; row++) {
    let i = group.x * ${SELECTION_TILE}u + row * 256u + lane;
    if i < parameters.length {
      let size = x[parameters.xAt + i] & 0x7fffffffu;
      let certain = size >= lower;
      found += vec4(
        select(0u, 1u, certain), select(0u, 1u, !certain && size >= tie), 0u, 0u);
    }
  }
  let all = total(lane, found);
  if lane == 0u {
    let at = parameters.tilesAt + 2u * (parameters.tile + group.x);
    tiles[at] = all.x;
    tiles[at + 1u] = all.y;
  }
}
`,
};

/** One workgroup: counts of tiles become counts before tiles; the sum is selected. */
export const scan: KernelSource<'count', 'state' | 'tiles'> = {
  name: 'scan counts',
  parameters: ['count'],
  bindings: { state: 'write', tiles: 'write' },
  code: () => /* wgsl */ `
var<workgroup> sums: array<vec2<u32>, 256>;

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) lane: u32) {
  let each = (parameters.count + 255u) / 256u;
  let begin = min(lane * each, parameters.count);
  let end = min(begin + each, parameters.count);
  var own = vec2(0u);
  for (var tile = begin; tile < end; tile++) {
    let at = parameters.tilesAt + 2u * tile;
    own += vec2(tiles[at], tiles[at + 1u]);
  }
  sums[lane] = own;
  workgroupBarrier();
  for (var step = 1u; step < 256u; step <<= 1u) {
    var before = vec2(0u);
    if lane >= step { before = sums[lane - step]; }
    workgroupBarrier();
    sums[lane] += before;
    workgroupBarrier();
  }
  var before = sums[lane] - own;
  if lane == 255u {
    let ties = min(sums[lane].y, state[parameters.stateAt + ${STATE.ties}u]);
    state[parameters.stateAt + ${STATE.count}u] = sums[lane].x + ties;
  }
  for (var tile = begin; tile < end; tile++) {
    let at = parameters.tilesAt + 2u * tile;
    let found = vec2(tiles[at], tiles[at + 1u]);
    tiles[at] = before.x;
    tiles[at + 1u] = before.y;
    before += found;
  }
}
`,
};

/**
 * Writes the entries of each tile to their places, `first` being the window's first element,
 * `limit` of them in all; and zeros in their stead to x, if `clear` is 1. Entries are marked in
 * bits, so that places come from counting bits, whatever the order in which they were found.
 */
export const compact: KernelSource<
  'length' | 'first' | 'tile' | 'clear' | 'limit',
  'x' | 'state' | 'tiles' | 'indices' | 'values'
> = {
  name: 'compact selected',
  parameters: ['length', 'first', 'tile', 'clear', 'limit'],
  bindings: {
    x: 'write',
    state: 'read',
    tiles: 'read',
    indices: 'write',
    values: 'write',
  },
  code: () => /* wgsl */ `
const WORDS = ${SELECTION_TILE / 32}u;
const ROWS = ${SELECTION_TILE / 256}u;
var<workgroup> certain: array<atomic<u32>, WORDS>;
var<workgroup> tied: array<atomic<u32>, WORDS>;
var<workgroup> sums: array<vec2<u32>, WORDS>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let lower = state[parameters.stateAt + ${STATE.lower}u];
  let tie = state[parameters.stateAt + ${STATE.tie}u];
  let ties = state[parameters.stateAt + ${STATE.ties}u];
  if lane < WORDS {
    atomicStore(&certain[lane], 0u);
    atomicStore(&tied[lane], 0u);
  }
  workgroupBarrier();
  let start = group.x * ${SELECTION_TILE}u;
  var kept: array<u32, ROWS>;
  for (var row = 0u; row < ROWS; row++) {
    let place = row * 256u + lane;
    if start + place < parameters.length {
      let bits = x[parameters.xAt + start + place];
      let size = bits & 0x7fffffffu;
      kept[row] = bits;
      if size >= lower {
        atomicOr(&certain[place / 32u], 1u << (place % 32u));
      } else if size >= tie {
        atomicOr(&tied[place / 32u], 1u << (place % 32u));
      }
    }
  }
  workgroupBarrier();
  var own = vec2(0u);
  if lane < WORDS {
    own = vec2(countOneBits(atomicLoad(&certain[lane])), countOneBits(atomicLoad(&tied[lane])));
    sums[lane] = own;
  }
  workgroupBarrier();
  for (var step = 1u; step < WORDS; step <<= 1u) {
    var before = vec2(0u);
    if lane >= step && lane < WORDS { before = sums[lane - step]; }
    workgroupBarrier();
    if lane < WORDS { sums[lane] += before; }
    workgroupBarrier();
  }
  if lane < WORDS { sums[lane] -= own; }
  workgroupBarrier();
  let at = parameters.tilesAt + 2u * (parameters.tile + group.x);
  let base = vec2(tiles[at], tiles[at + 1u]);
  for (var row = 0u; row < ROWS; row++) {
    let place = row * 256u + lane;
    let word = place / 32u;
    let bit = 1u << (place % 32u);
    let certain_bits = atomicLoad(&certain[word]);
    let tied_bits = atomicLoad(&tied[word]);
    if ((certain_bits | tied_bits) & bit) != 0u {
      let before = base + sums[word]
        + vec2(countOneBits(certain_bits & (bit - 1u)), countOneBits(tied_bits & (bit - 1u)));
      if (certain_bits & bit) != 0u || before.y < ties {
        let out = before.x + min(before.y, ties);
        if out < parameters.limit {
          indices[parameters.indicesAt + out] = parameters.first + start + place;
          values[parameters.valuesAt + out] = kept[row];
          if parameters.clear == 1u { x[parameters.xAt + start + place] = 0u; }
        }
      }
    }
  }
}
`,
};

/** Adds to `counts[slot]` how many magnitudes reach `threshold`, by bits. */
export const countReaching: KernelSource<
  'length' | 'threshold' | 'slot',
  'x' | 'counts'
> = {
  name: 'count magnitudes that reach a threshold',
  parameters: ['length', 'threshold', 'slot'],
  bindings: { x: 'read', counts: 'atomic' },
  code: (subgroups) =>
    totalOf(subgroups) +
    /* wgsl */ `
@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  var found = 0u;
  for (var row = 0u; row < ${SELECTION_TILE / 256}u; row++) {
    let i = group.x * ${SELECTION_TILE}u + row * 256u + lane;
    if i < parameters.length {
      let size = x[parameters.xAt + i] & 0x7fffffffu;
      found += select(0u, 1u, size >= parameters.threshold);
    }
  }
  let all = total(lane, vec4(found, 0u, 0u, 0u));
  if lane == 0u { atomicAdd(&counts[parameters.countsAt + parameters.slot], all.x); }
}
`,
};

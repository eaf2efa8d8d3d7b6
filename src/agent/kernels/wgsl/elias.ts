/**
 * Elias ω codes in WGSL, the streams that `kernels/quantization.ts` defines. The length
 * of a code depends on its level and on the distance to the previous non-zero; its
 * position, on the lengths of all codes before it. So there are three dispatches: every
 * block of elements counts its bits in both forms, one workgroup adds up the blocks and
 * chooses the form, and every block writes its codes to their positions. Two passes over
 * the packed codes.
 *
 * Places in the stream are counted in 32 bits.
 */
import type { KernelSource } from './kernel-source.ts';
import { totalOf } from './reduction.ts';

/** Elements of a workgroup: 32 for each invocation, whose packed codes are whole words. */
export const ELIAS_BLOCK = 8192;
/** Words of a block: bits of both forms, the first and the last non-zero, counted from 1. */
export const BLOCK_WORDS = 4;
/** Words that stay of a stream. */
const STREAM = {
  /** Length of the stream in bits. */
  bits: 0,
  /** 1 dense, 0 sparse. */
  dense: 1,
  /** The last non-zero, counted from 1; 0: none. */
  last: 2,
} as const;
export const STREAM_WORDS = 3;

const omegaLength = /* wgsl */ `
fn omega_length(k: u32) -> u32 {
  var length = 1u;
  var rest = k;
  while rest > 1u {
    let bits = 32u - countLeadingZeros(rest);
    length += bits;
    rest = bits - 1u;
  }
  return length;
}
`;

/**
 * Determines what `count` and `write` need of an invocation's elements before anything is written.
 */
const measured = /* wgsl */ `
const EACH = ${ELIAS_BLOCK / 256}u;

fn code_at(element: u32) -> u32 {
  let bit = (element % 32u) * parameters.bits;
  let word = parameters.codesAt + element / 32u * parameters.bits + bit / 32u;
  let shift = bit % 32u;
  var code = codes[word] >> shift;
  if shift + parameters.bits > 32u { code |= codes[word + 1u] << (32u - shift); }
  return code & ((1u << parameters.bits) - 1u);
}

fn level_of(code: u32) -> u32 { return code & ((1u << (parameters.bits - 1u)) - 1u); }

fn sign_of(code: u32) -> u32 { return code >> (parameters.bits - 1u); }

struct Measure {
  dense: u32,
  // Without the gap before the first non-zero.
  sparse: u32,
  // Counted from 1; 0: there is none.
  first: u32,
  last: u32,
}

fn measure(start: u32) -> Measure {
  var own = Measure(0u, 0u, 0u, 0u);
  for (var e = start; e < min(start + EACH, parameters.length); e++) {
    let level = level_of(code_at(e));
    if level == 0u {
      own.dense += 1u;
      continue;
    }
    own.dense += 1u + omega_length(level + 1u);
    own.sparse += 1u + omega_length(level);
    if own.last > 0u { own.sparse += omega_length(e + 1u - own.last); }
    else { own.first = e + 1u; }
    own.last = e + 1u;
  }
  return own;
}

var<workgroup> lasts: array<u32, 256>;

// The last non-zero of the lanes before, counted from 1.
fn last_before(lane: u32, last: u32) -> u32 {
  lasts[lane] = last;
  workgroupBarrier();
  for (var step = 1u; step < 256u; step <<= 1u) {
    var before = 0u;
    if lane >= step { before = lasts[lane - step]; }
    workgroupBarrier();
    lasts[lane] = max(lasts[lane], before);
    workgroupBarrier();
  }
  var result = 0u;
  if lane > 0u { result = lasts[lane - 1u]; }
  return result;
}
`;

/**
 * The words of each block of `length` elements whose packed codes have `bits` bits.
 * `firstGroup`: the block of the first workgroup.
 */
export const eliasCount: KernelSource<
  'length' | 'bits' | 'firstGroup',
  'codes' | 'blocks'
> = {
  name: 'bits of Elias codes',
  parameters: ['length', 'bits', 'firstGroup'],
  bindings: { codes: 'read', blocks: 'write' },
  code: (subgroups) =>
    totalOf(subgroups) +
    omegaLength +
    measured +
    /* wgsl */ `
var<workgroup> first_found: atomic<u32>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  if lane == 0u { atomicStore(&first_found, 0xffffffffu); }
  let block = parameters.firstGroup + group.x;
  let own = measure(block * ${ELIAS_BLOCK}u + lane * EACH);
  let before = last_before(lane, own.last);
  var sparse = own.sparse;
  if own.first > 0u {
    atomicMin(&first_found, own.first);
    if before > 0u { sparse += omega_length(own.first - before); }
  }
  let all = total(lane, vec4(own.dense, sparse, 0u, 0u));
  if lane == 255u {
    let at = parameters.blocksAt + ${BLOCK_WORDS}u * block;
    let last = max(before, own.last);
    blocks[at] = all.x;
    blocks[at + 1u] = all.y;
    blocks[at + 2u] = select(0u, atomicLoad(&first_found), last > 0u);
    blocks[at + 3u] = last;
  }
}
`,
};

/**
 * One workgroup: the words of each of `count` blocks become its first bit in the stream,
 * and the last non-zero before it. `form`: 0 the shorter, 1 sparse, 2 dense.
 */
export const eliasPlace: KernelSource<
  'count' | 'length' | 'form',
  'blocks' | 'streams'
> = {
  name: 'places of Elias codes',
  parameters: ['count', 'length', 'form'],
  bindings: { blocks: 'write', streams: 'write' },
  code: () =>
    omegaLength +
    /* wgsl */ `
// Bits in both forms; the last non-zero, counted from 1.
var<workgroup> cells: array<vec3<u32>, 256>;

fn block_at(index: u32) -> vec4<u32> {
  let at = parameters.blocksAt + ${BLOCK_WORDS}u * index;
  return vec4(blocks[at], blocks[at + 1u], blocks[at + 2u], blocks[at + 3u]);
}

// The block's bits, with the gap before its first non-zero.
fn bits_of(block: vec4<u32>, before: u32) -> vec2<u32> {
  var bits = block.xy;
  if block.z > 0u { bits.y += omega_length(block.z - before); }
  return bits;
}

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) lane: u32) {
  let each = (parameters.count + 255u) / 256u;
  let begin = min(lane * each, parameters.count);
  let end = min(begin + each, parameters.count);
  var last = 0u;
  for (var i = begin; i < end; i++) { last = max(last, block_at(i).w); }
  cells[lane] = vec3(0u, 0u, last);
  workgroupBarrier();
  for (var step = 1u; step < 256u; step <<= 1u) {
    var before = 0u;
    if lane >= step { before = cells[lane - step].z; }
    workgroupBarrier();
    cells[lane].z = max(cells[lane].z, before);
    workgroupBarrier();
  }
  var start = 0u;
  if lane > 0u { start = cells[lane - 1u].z; }
  var own = vec2(0u);
  var before = start;
  for (var i = begin; i < end; i++) {
    let block = block_at(i);
    own += bits_of(block, before);
    before = max(before, block.w);
  }
  cells[lane] = vec3(own, cells[lane].z);
  workgroupBarrier();
  for (var step = 1u; step < 256u; step <<= 1u) {
    var sums = vec2(0u);
    if lane >= step { sums = cells[lane - step].xy; }
    workgroupBarrier();
    cells[lane] = vec3(cells[lane].xy + sums, cells[lane].z);
    workgroupBarrier();
  }
  let all = cells[255];
  let whole = vec2(1u, 1u + omega_length(parameters.length + 1u - all.z)) + all.xy;
  let dense = parameters.form == 2u || (parameters.form == 0u && whole.x <= whole.y);
  // The first bit tells the form.
  var at = 1u + select(cells[lane].y - own.y, cells[lane].x - own.x, dense);
  before = start;
  for (var i = begin; i < end; i++) {
    let block = block_at(i);
    let bits = bits_of(block, before);
    let to = parameters.blocksAt + ${BLOCK_WORDS}u * i;
    blocks[to] = at;
    blocks[to + 1u] = before;
    at += select(bits.y, bits.x, dense);
    before = max(before, block.w);
  }
  if lane == 0u {
    let to = parameters.streamsAt;
    streams[to + ${STREAM.bits}u] = select(whole.y, whole.x, dense);
    streams[to + ${STREAM.dense}u] = select(0u, 1u, dense);
    streams[to + ${STREAM.last}u] = all.z;
  }
}
`,
};

/**
 * Writes the codes of each block to `out`, words that begin as zeros. `count`: blocks;
 * `firstGroup`: that of the first workgroup.
 */
export const eliasWrite: KernelSource<
  'length' | 'bits' | 'count' | 'firstGroup',
  'codes' | 'blocks' | 'streams' | 'out'
> = {
  name: 'write Elias codes',
  parameters: ['length', 'bits', 'count', 'firstGroup'],
  bindings: { codes: 'read', blocks: 'read', streams: 'read', out: 'atomic' },
  code: () =>
    omegaLength +
    measured +
    /* wgsl */ `
var<workgroup> sums: array<u32, 256>;

// The word that is being filled, from its highest bit; how many of its bits are.
var<private> word: u32;
var<private> held: u32;
var<private> filled: u32;

// Bits go from the highest of a byte to the lowest, bytes from the lowest of a word.
fn flush() {
  let bytes = (held << 24u) | ((held & 0xff00u) << 8u)
    | ((held >> 8u) & 0xff00u) | (held >> 24u);
  if bytes != 0u { atomicOr(&out[parameters.outAt + word], bytes); }
  word += 1u;
}

fn put(value: u32, count: u32) {
  let room = 32u - filled;
  if count < room {
    held |= value << (room - count);
    filled += count;
    return;
  }
  held |= value >> (count - room);
  flush();
  filled = count - room;
  held = 0u;
  if filled > 0u { held = value << (32u - filled); }
}

fn put_omega(k: u32) {
  // The groups, from the last; the outermost has 2 bits.
  var groups: array<u32, 6>;
  var found = 0u;
  var rest = k;
  while rest > 1u {
    groups[found] = rest;
    found += 1u;
    rest = 31u - countLeadingZeros(rest);
  }
  while found > 0u {
    found -= 1u;
    put(groups[found], 32u - countLeadingZeros(groups[found]));
  }
  put(0u, 1u);
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let dense = streams[parameters.streamsAt + ${STREAM.dense}u] == 1u;
  var at = 1u;
  var last = 0u;
  let block = parameters.firstGroup + group.x;
  if block < parameters.count {
    at = blocks[parameters.blocksAt + ${BLOCK_WORDS}u * block];
    last = blocks[parameters.blocksAt + ${BLOCK_WORDS}u * block + 1u];
  }
  let start = block * ${ELIAS_BLOCK}u + lane * EACH;
  let own = measure(start);
  last = max(last, last_before(lane, own.last));
  var bits = own.dense;
  if !dense {
    bits = own.sparse;
    if own.first > 0u { bits += omega_length(own.first - last); }
  }
  sums[lane] = bits;
  workgroupBarrier();
  for (var step = 1u; step < 256u; step <<= 1u) {
    var before = 0u;
    if lane >= step { before = sums[lane - step]; }
    workgroupBarrier();
    sums[lane] += before;
    workgroupBarrier();
  }
  at += sums[lane] - bits;
  if block == 0u && lane == 0u { at = 0u; }
  word = at / 32u;
  filled = at % 32u;
  held = 0u;
  if at == 0u { put(select(0u, 1u, dense), 1u); }
  for (var e = start; e < min(start + EACH, parameters.length); e++) {
    let code = code_at(e);
    let level = level_of(code);
    if dense {
      put_omega(level + 1u);
      if level > 0u { put(sign_of(code), 1u); }
    } else if level > 0u {
      put_omega(e + 1u - last);
      put(sign_of(code), 1u);
      put_omega(level);
      last = e + 1u;
    }
  }
  if !dense && lane == 255u && block + 1u >= parameters.count {
    put_omega(parameters.length + 1u - streams[parameters.streamsAt + ${STREAM.last}u]);
  }
  flush();
}
`,
};

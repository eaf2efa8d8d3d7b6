/**
 * f32 arithmetic in WGSL that gives the bits that the CPU gives. WebGPU allows a device
 * three liberties that would change payloads: results and operands below 2⁻¹²⁶ may be
 * taken as 0, a product may be fused with the sum that uses it, and a quotient may be off
 * by some units. So numbers are passed as their bits; for very small ones integers do the
 * work, or the sum is computed 2⁶⁴ times larger; products are combined with a zero that
 * no compiler recognises; and quotients are computed in integers. For ordinary numbers
 * this costs a comparison or two in addition to the operation.
 */

/** `sum(a, b)`, `product(a, b)`: bits of the correctly rounded results. */
export const exactSumAndProduct = /* wgsl */ `
const SIGN = 0x80000000u;
const FRACTION = 0x007fffffu;
const HIDDEN = 0x00800000u;

fn magnitude(bits: u32) -> u32 { return bits & 0x7fffffffu; }

fn is_negative(bits: u32) -> bool { return bits > SIGN; }

// bits · 2^64, of a magnitude below 2^-60.
fn lifted(bits: u32) -> f32 {
  let size = magnitude(bits);
  let up = select(
    size + (64u << 23u),
    bitcast<u32>(f32(size) * 0x1p-85f),
    size < HIDDEN,
  );
  return bitcast<f32>(up | (bits & SIGN));
}

// x · 2^-64, where that is exact.
fn lowered(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  if magnitude(bits) >= (65u << 23u) { return bits - (64u << 23u); }
  return (bits & SIGN) | u32(abs(x) * 0x1p85f);
}

fn sum(a: u32, b: u32) -> u32 {
  // From 2^-100 on, what is below 2^-126 does not reach the last place.
  if max(magnitude(a), magnitude(b)) >= (27u << 23u) {
    return bitcast<u32>(bitcast<f32>(a) + bitcast<f32>(b));
  }
  return lowered(lifted(a) + lifted(b));
}

fn product(a: u32, b: u32) -> u32 {
  let a_size = magnitude(a);
  let b_size = magnitude(b);
  let a_exponent = a_size >> 23u;
  let b_exponent = b_size >> 23u;
  if a_exponent > 0u && b_exponent > 0u && a_exponent + b_exponent >= 129u {
    return bitcast<u32>(bitcast<f32>(a) * bitcast<f32>(b)) ^ parameters.zero;
  }
  let sign = (a ^ b) & SIGN;
  if a_size == 0u || b_size == 0u { return sign; }
  return sign | small_product(a_size, b_size);
}

fn significand(size: u32) -> u32 {
  return (size & FRACTION) | select(0u, HIDDEN, size >= HIDDEN);
}

// The product of two magnitudes, of which one is or becomes small.
fn small_product(a: u32, b: u32) -> u32 {
  let m = significand(a);
  let n = significand(b);
  let middle = (m & 0xfffu) * (n >> 12u) + (m >> 12u) * (n & 0xfffu);
  let top = (m >> 12u) * (n >> 12u);
  let first = (m & 0xfffu) * (n & 0xfffu);
  let second = first + (middle << 12u);
  let low = second + (top << 24u);
  let carries = select(0u, 1u, second < first) + select(0u, 1u, low < second);
  let high = (middle >> 20u) + (top >> 8u) + carries;
  // high·2^32 + low, in units of 2^unit.
  let unit = i32(max(a >> 23u, 1u) + max(b >> 23u, 1u)) - 300;
  let leading = i32(select(
    firstLeadingBit(low), 32u + firstLeadingBit(high), high > 0u));
  let last = max(unit + leading - 23, -149);
  let drop = last - unit;
  if drop <= 0 { return (low << u32(-drop)) + (u32(last + 149) << 23u); }
  if drop > 48 { return 0u; }
  let kept = shifted(high, low, u32(drop));
  let half = shifted(high, low, u32(drop - 1));
  let rest = !dropped_is_zero(high, low, u32(drop - 1));
  let up = (half.x & 1u) & (select(0u, 1u, rest) | (kept.x & 1u));
  return kept.x + up + (u32(last + 149) << 23u);
}

// (high·2^32 + low) >> count: low word, high word.
fn shifted(high: u32, low: u32, count: u32) -> vec2<u32> {
  if count == 0u { return vec2(low, high); }
  if count >= 32u { return vec2(high >> (count - 32u), 0u); }
  return vec2((low >> count) | (high << (32u - count)), high >> count);
}

fn dropped_is_zero(high: u32, low: u32, count: u32) -> bool {
  if count >= 32u { return low == 0u && (high & ((1u << (count - 32u)) - 1u)) == 0u; }
  return (low & ((1u << count) - 1u)) == 0u;
}
`;

/** `quotient(a, b)`: bits of a / b, for an integer a in 1 … 2¹⁵ and b's bits, normal. */
export const exactQuotient = /* wgsl */ `
fn quotient(a: u32, b: u32) -> u32 {
  let divisor = (b & 0x007fffffu) | 0x00800000u;
  let places = 23u - firstLeadingBit(a);
  var rest = a << places;
  var below = 0u;
  if rest < divisor {
    rest <<= 1u;
    below = 1u;
  }
  var result = 1u;
  rest -= divisor;
  for (var bit = 0u; bit < 23u; bit++) {
    rest <<= 1u;
    result <<= 1u;
    if rest >= divisor {
      rest -= divisor;
      result |= 1u;
    }
  }
  let twice = rest << 1u;
  if twice > divisor || (twice == divisor && (result & 1u) == 1u) { result += 1u; }
  let exponent = 127u + 150u - (b >> 23u) - below - places;
  return (exponent << 23u) + (result - 0x00800000u);
}
`;

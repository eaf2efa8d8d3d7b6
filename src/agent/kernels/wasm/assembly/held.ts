/**
 * Constants that stay in a register. V8 builds a constant vector anew at each use, with three
 * instructions, inside loops too (seen in the machine code of V8 13.6): Philox took 1.7 times as
 * long, a scan for large elements up to twice.
 */

/**
 * A zero for ever. As the host could change an exported global, no compiler takes it for a
 * constant.
 */
export let zero: u32 = 0;

/** `value` in all four lanes. Call it before the loop that uses it. */
export function held(value: u32): v128 {
  return i32x4.splat(value | zero);
}

/** 1 in both lanes of f64, likewise. */
export function heldOne(): v128 {
  return f64x2.splat(<f64>(1 | zero));
}

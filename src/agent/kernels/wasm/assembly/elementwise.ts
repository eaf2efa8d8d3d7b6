/**
 * Elementwise f32 kernels: one pass, bound by memory. Counts, not end addresses, bound
 * the loops: a vector may end at 4 GiB, whose address is 0.
 */

export function fill(out: usize, n: u32, value: f32): void {
  const values = f32x4.splat(value);
  const vectors = n >>> 2;
  for (let i: u32 = 0; i < vectors; i++) {
    v128.store(out, values);
    out += 16;
  }
  for (let i: u32 = n & ~3; i < n; i++) {
    store<f32>(out, value);
    out += 4;
  }
}

export function copy(out: usize, x: usize, n: u32): void {
  memory.copy(out, x, (<usize>n) << 2);
}

export function add(out: usize, x: usize, n: u32): void {
  const vectors = n >>> 2;
  for (let i: u32 = 0; i < vectors; i++) {
    v128.store(out, f32x4.add(v128.load(out), v128.load(x)));
    out += 16;
    x += 16;
  }
  for (let i: u32 = n & ~3; i < n; i++) {
    store<f32>(out, load<f32>(out) + load<f32>(x));
    out += 4;
    x += 4;
  }
}

export function scale(x: usize, n: u32, factor: f32): void {
  const factors = f32x4.splat(factor);
  const vectors = n >>> 2;
  for (let i: u32 = 0; i < vectors; i++) {
    v128.store(x, f32x4.mul(v128.load(x), factors));
    x += 16;
  }
  for (let i: u32 = n & ~3; i < n; i++) {
    store<f32>(x, load<f32>(x) * factor);
    x += 4;
  }
}

/** out ← outFactor · out + xFactor · x */
export function blend(out: usize, outFactor: f32, x: usize, xFactor: f32, n: u32): void {
  const outFactors = f32x4.splat(outFactor);
  const xFactors = f32x4.splat(xFactor);
  const vectors = n >>> 2;
  for (let i: u32 = 0; i < vectors; i++) {
    const kept = f32x4.mul(v128.load(out), outFactors);
    v128.store(out, f32x4.add(kept, f32x4.mul(v128.load(x), xFactors)));
    out += 16;
    x += 16;
  }
  for (let i: u32 = n & ~3; i < n; i++) {
    store<f32>(out, load<f32>(out) * outFactor + load<f32>(x) * xFactor);
    out += 4;
    x += 4;
  }
}

export function shiftBySign(x: usize, n: u32, plus: f32, minus: f32): void {
  const up = f32x4.splat(plus);
  const down = f32x4.splat(-minus);
  const zero = f32x4.splat(0);
  const vectors = n >>> 2;
  for (let i: u32 = 0; i < vectors; i++) {
    const v = v128.load(x);
    v128.store(x, f32x4.add(v, v128.bitselect(up, down, f32x4.ge(v, zero))));
    x += 16;
  }
  for (let i: u32 = n & ~3; i < n; i++) {
    const v = load<f32>(x);
    store<f32>(x, v >= 0 ? v + plus : v - minus);
    x += 4;
  }
}

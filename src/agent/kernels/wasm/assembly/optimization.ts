/**
 * Steps of optimisers, one pass each: bound by memory, so it costs nothing to test
 * conditions that hold for all elements in every vector. `../../optimization.ts` has the
 * formulas.
 */
import { held } from './held';

/** The bits of 1. */
const ONE: u32 = 0x3f800000;

/** factor·gradient + decay·w */
@inline
function decayed(g: v128, w: v128, factor: f32, decay: f32): v128 {
  const scaled = f32x4.mul(g, f32x4.splat(factor));
  if (decay == 0) return scaled;
  return f32x4.add(scaled, f32x4.mul(w, f32x4.splat(decay)));
}

@inline
function decayedOne(g: f32, w: f32, factor: f32, decay: f32): f32 {
  const scaled = g * factor;
  return decay == 0 ? scaled : scaled + w * decay;
}

export function stepPlain(
  weights: usize,
  gradient: usize,
  n: u32,
  factor: f32,
  decay: f32,
  rate: f32,
): void {
  const rates = f32x4.splat(rate);
  const vectors = n >>> 2;
  for (let i: u32 = 0; i < vectors; i++) {
    const w = v128.load(weights);
    const g = decayed(v128.load(gradient), w, factor, decay);
    v128.store(weights, f32x4.sub(w, f32x4.mul(g, rates)));
    weights += 16;
    gradient += 16;
  }
  for (let i: u32 = n & ~3; i < n; i++) {
    const w = load<f32>(weights);
    const g = decayedOne(load<f32>(gradient), w, factor, decay);
    store<f32>(weights, w - g * rate);
    weights += 4;
    gradient += 4;
  }
}

export function stepMomentum(
  weights: usize,
  velocity: usize,
  gradient: usize,
  n: u32,
  factor: f32,
  decay: f32,
  momentum: f32,
  nesterov: u32,
  rate: f32,
): void {
  const rates = f32x4.splat(rate);
  const momenta = f32x4.splat(momentum);
  const vectors = n >>> 2;
  for (let i: u32 = 0; i < vectors; i++) {
    const w = v128.load(weights);
    const g = decayed(v128.load(gradient), w, factor, decay);
    const v = f32x4.add(f32x4.mul(v128.load(velocity), momenta), g);
    v128.store(velocity, v);
    const change = nesterov ? f32x4.add(g, f32x4.mul(v, momenta)) : v;
    v128.store(weights, f32x4.sub(w, f32x4.mul(change, rates)));
    weights += 16;
    velocity += 16;
    gradient += 16;
  }
  for (let i: u32 = n & ~3; i < n; i++) {
    const w = load<f32>(weights);
    const g = decayedOne(load<f32>(gradient), w, factor, decay);
    const v = load<f32>(velocity) * momentum + g;
    store<f32>(velocity, v);
    const change = nesterov ? g + v * momentum : v;
    store<f32>(weights, w - change * rate);
    weights += 4;
    velocity += 4;
    gradient += 4;
  }
}

export function stepAdagrad(
  weights: usize,
  squares: usize,
  gradient: usize,
  n: u32,
  factor: f32,
  decay: f32,
  epsilon: f32,
  rate: f32,
): void {
  const rates = f32x4.splat(rate);
  const epsilons = f32x4.splat(epsilon);
  const ones = held(ONE);
  const vectors = n >>> 2;
  for (let i: u32 = 0; i < vectors; i++) {
    const w = v128.load(weights);
    const g = decayed(v128.load(gradient), w, factor, decay);
    const s = f32x4.add(v128.load(squares), f32x4.mul(g, g));
    v128.store(squares, s);
    const root = f32x4.add(f32x4.sqrt(s), epsilons);
    const change = f32x4.mul(f32x4.mul(g, f32x4.div(ones, root)), rates);
    v128.store(weights, f32x4.sub(w, change));
    weights += 16;
    squares += 16;
    gradient += 16;
  }
  for (let i: u32 = n & ~3; i < n; i++) {
    const w = load<f32>(weights);
    const g = decayedOne(load<f32>(gradient), w, factor, decay);
    const s = load<f32>(squares) + g * g;
    store<f32>(squares, s);
    const root = sqrt<f32>(s) + epsilon;
    store<f32>(weights, w - g * (<f32>1 / root) * rate);
    weights += 4;
    squares += 4;
    gradient += 4;
  }
}

/** `decay` is added to the gradient, `shrink` subtracted from the weights. */
export function stepAdam(
  weights: usize,
  mean: usize,
  square: usize,
  gradient: usize,
  n: u32,
  factor: f32,
  decay: f32,
  shrink: f32,
  beta1: f32,
  rest1: f32,
  beta2: f32,
  rest2: f32,
  epsilon: f32,
  ofMean: f32,
  ofRoot: f32,
  rate: f32,
): void {
  const ones = held(ONE);
  const vectors = n >>> 2;
  for (let i: u32 = 0; i < vectors; i++) {
    let w = v128.load(weights);
    const g = decayed(v128.load(gradient), w, factor, decay);
    if (shrink != 0) {
      const shrunk = f32x4.mul(f32x4.mul(w, f32x4.splat(rate)), f32x4.splat(shrink));
      w = f32x4.sub(w, shrunk);
    }
    const m = f32x4.add(
      f32x4.mul(v128.load(mean), f32x4.splat(beta1)),
      f32x4.mul(g, f32x4.splat(rest1)),
    );
    const v = f32x4.add(
      f32x4.mul(v128.load(square), f32x4.splat(beta2)),
      f32x4.mul(f32x4.mul(g, g), f32x4.splat(rest2)),
    );
    v128.store(mean, m);
    v128.store(square, v);
    const root = f32x4.add(
      f32x4.mul(f32x4.sqrt(v), f32x4.splat(ofRoot)),
      f32x4.splat(epsilon),
    );
    const scaled = f32x4.mul(f32x4.mul(m, f32x4.splat(ofMean)), f32x4.div(ones, root));
    v128.store(weights, f32x4.sub(w, f32x4.mul(scaled, f32x4.splat(rate))));
    weights += 16;
    mean += 16;
    square += 16;
    gradient += 16;
  }
  for (let i: u32 = n & ~3; i < n; i++) {
    let w = load<f32>(weights);
    const g = decayedOne(load<f32>(gradient), w, factor, decay);
    if (shrink != 0) w -= w * rate * shrink;
    const m = load<f32>(mean) * beta1 + g * rest1;
    const v = load<f32>(square) * beta2 + g * g * rest2;
    store<f32>(mean, m);
    store<f32>(square, v);
    const root = sqrt<f32>(v) * ofRoot + epsilon;
    store<f32>(weights, w - m * ofMean * (<f32>1 / root) * rate);
    weights += 4;
    mean += 4;
    square += 4;
    gradient += 4;
  }
}

/** Functions whose results are finite, and whose derivatives are, where exp() overflows. */
import { beforeAll, describe, expect, it } from 'vitest';
import {
  openJaxRuntime,
  type Jax,
} from '../../../src/agent/training/runtime/jax-runtime.ts';

const POINTS = [
  ...[-3e38, -1e6, -1000, -200, -104, -89, -88, -87.5, -86, -50, -17, -1, -1e-30],
  ...[0, 1e-30, 1, 17, 50, 87.5, 88, 89, 104, 200, 1000, 1e6, 3e38],
];

/** Values and derivatives in 64 bits, with exp() of negative numbers alone. */
const positive = (x: number): number => {
  const power = Math.exp(-Math.abs(x));
  return x >= 0 ? 1 / (1 + power) : power / (1 + power);
};
const steep = (x: number): number => positive(x) * positive(-x);

const FUNCTIONS = {
  sigmoid: { value: positive, slope: steep },
  softplus: {
    value: (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x))),
    slope: positive,
  },
  logSigmoid: {
    value: (x) => -(Math.max(-x, 0) + Math.log1p(Math.exp(-Math.abs(x)))),
    slope: (x) => positive(-x),
  },
  silu: {
    value: (x) => x * positive(x),
    slope: (x) => positive(x) + (Math.abs(x) > 1e4 ? 0 : x * steep(x)),
  },
} satisfies Readonly<
  Record<string, Readonly<Record<'value' | 'slope', (x: number) => number>>>
>;

describe('activation functions of jax-js', () => {
  let jax: Jax;
  beforeAll(async () => {
    ({ jax } = await openJaxRuntime({ backend: 'wasm', threads: 1 }));
  });

  it.each(Object.keys(FUNCTIONS) as (keyof typeof FUNCTIONS)[])(
    'are right where exp() overflows: %s',
    async (name) => {
      const { value, slope } = FUNCTIONS[name];
      const of = jax.nn[name];
      const at = jax.numpy.array(POINTS);
      const values = await of(at.ref).data();
      const slopes = await jax
        .grad((x: typeof at) => of(x).sum())(at)
        .data();
      for (const [index, x] of POINTS.entries()) {
        const rounded = Math.fround(x);
        // Of 32 bits: some steps relative to the value, or what no normal number holds.
        const near = (wanted: number): number => 2e-6 * Math.abs(wanted) + 1e-36;
        const [got, wanted] = [values[index]!, value(rounded)];
        expect(Math.abs(got - wanted), `${name}(${x}) = ${got}`).toBeLessThanOrEqual(
          name === 'sigmoid' ? near(wanted) : near(wanted) + 2e-7,
        );
        const [gotSlope, wantedSlope] = [slopes[index]!, slope(rounded)];
        expect(
          Math.abs(gotSlope - wantedSlope),
          `slope of ${name} at ${x} = ${gotSlope}`,
        ).toBeLessThanOrEqual(near(wantedSlope) + 2e-7);
      }
    },
  );

  it('keep what is not a number', async () => {
    const at = jax.numpy.array([Number.NaN]);
    expect([...(await jax.nn.sigmoid(at.ref).data())]).toEqual([Number.NaN]);
    expect([...(await jax.nn.softplus(at).data())]).toEqual([Number.NaN]);
  });
});

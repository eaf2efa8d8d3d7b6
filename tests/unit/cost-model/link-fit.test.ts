import { describe, expect, test } from 'vitest';
import { CounterRandom } from '../../../src/agent/kernels/random.ts';
import { fitLink } from '../../../src/shared/cost-model/link-fit.ts';

const SIZES = [8, 1024, 16_384, 131_072, 1_048_576];

describe('the fit of a link', () => {
  test('is exact where the timings are', () => {
    const messages = SIZES.map((bytes) => ({ bytes, seconds: [2e-5 + bytes * 1e-9] }));
    const { alpha, beta } = fitLink(messages);
    expect(alpha).toBeCloseTo(2e-5, 12);
    expect(beta).toBeCloseTo(1e-9, 15);
  });

  test.each([
    ['a local network', 50e-6, 1 / 125e6],
    ['loopback', 12e-6, 1 / 3e9],
    ['a wide area', 20e-3, 1 / 12.5e6],
  ])('recovers α and β of %s within 5 % through noise and outliers', (_, α, β) => {
    const random = new CounterRandom({ seed: 7 });
    let draws = 0;
    const messages = SIZES.map((bytes) => ({
      bytes,
      seconds: Array.from({ length: 41 }, (_, repetition) => {
        const noise = 1 + 0.1 * (random.uniform(draws++) - 0.5);
        // A time slice lost, in one message of eight.
        const lost = repetition % 8 === 0 ? 5e-3 : 0;
        return (α + bytes * β) * noise + lost;
      }),
    }));
    const { alpha, beta } = fitLink(messages);
    expect(Math.abs(alpha / α - 1)).toBeLessThan(0.05);
    expect(Math.abs(beta / β - 1)).toBeLessThan(0.05);
  });

  test('is never negative', () => {
    const falling = fitLink([
      { bytes: 8, seconds: [3e-5] },
      { bytes: 1000, seconds: [2e-5] },
    ]);
    expect(falling.beta).toBe(0);
    expect(falling.alpha).toBeGreaterThan(2e-5);
    expect(falling.alpha).toBeLessThan(3e-5);
    const steep = fitLink([
      { bytes: 100, seconds: [1e-6] },
      { bytes: 1000, seconds: [1e-4] },
    ]);
    expect(steep.alpha).toBe(0);
    expect(steep.beta).toBeGreaterThan(1e-8);
  });

  test('asks for two sizes', () => {
    expect(() => fitLink([{ bytes: 8, seconds: [1, 2, 3] }])).toThrow(/^internal: /);
    expect(() =>
      fitLink([
        { bytes: 8, seconds: [1] },
        { bytes: 16, seconds: [] },
      ]),
    ).toThrow(/^internal: /);
  });
});

/** The pure parts of the collectives benchmark: its data sets, and its verdict on `auto`. */
import { describe, expect, it } from 'vitest';
import { autoLines, autoSummary } from '../../../bench/collectives/auto-verdict.ts';
import { sparseData } from '../../../bench/collectives/data-set.ts';
import type { CollectiveLine } from '../../../bench/collectives/outcome-lines.ts';

describe('sparse data sets', () => {
  it.each([
    [1, 0],
    [1, 1],
    [1000, 8],
    [1000, 700],
    [1000, 1000],
    [65_537, 655],
  ])('of %i elements: %i ascending indices, none twice', (length, count) => {
    const { indices, values } = sparseData({ rank: 1, length, count, dataSet: 2 });
    expect(indices).toHaveLength(count);
    expect(values).toHaveLength(count);
    for (let entry = 1; entry < count; entry++) {
      expect(indices[entry]).toBeGreaterThan(indices[entry - 1]!);
    }
    expect(indices.at(-1) ?? 0).toBeLessThan(length);
    expect([...values].every((value) => Number.isInteger(value) && value >= 1)).toBe(
      true,
    );
  });

  it('differ by rank and by number, and are the same in every run', () => {
    const key = { rank: 0, length: 10_000, count: 100, dataSet: 0 };
    const { indices } = sparseData(key);
    expect(sparseData(key).indices).toEqual(indices);
    expect(sparseData({ ...key, rank: 1 }).indices).not.toEqual(indices);
    expect(sparseData({ ...key, dataSet: 1 }).indices).not.toEqual(indices);
  });

  it('are uniform: every tenth of the range has its share, within five standard errors', () => {
    const length = 100_000;
    const count = 10_000;
    const { indices } = sparseData({ rank: 3, length, count, dataSet: 0 });
    const tenths = Array<number>(10).fill(0);
    for (const index of indices) tenths[Math.floor((10 * index) / length)]!++;
    // Drawn without replacement: a hypergeometric number in each tenth.
    const deviation = Math.sqrt(count * 0.1 * 0.9 * (1 - count / length));
    for (const found of tenths) {
      expect(Math.abs(found - count / 10)).toBeLessThan(5 * deviation);
    }
  });
});

describe('the verdict on auto', () => {
  const line = (
    collective: string,
    ms: number,
    more: Partial<CollectiveLine> = {},
  ): CollectiveLine => ({
    type: 'collective',
    section: 'sweep',
    ranks: 4,
    links: 'loopback',
    n: 256,
    bytes: 1024,
    transport: 'tcp',
    payload: 'dense',
    entries: 256,
    p25: ms,
    p75: ms,
    algbw: 1,
    busbw: 1.5,
    auto: false,
    wire: { payload: 1024, framing: 32 },
    predicted: { ms: 2, payload: 1024 },
    collective,
    ms,
    ...more,
  });

  it('compares what auto takes with the best of the same cell alone', () => {
    const choices = autoLines([
      line('ring', 3, { auto: true }),
      line('rabenseifner', 2),
      line('ring', 5, { ranks: 2, auto: true }),
      line('rabenseifner', 10, { ranks: 2 }),
    ]);
    expect(choices).toMatchObject([
      { ranks: 4, chosen: 'ring', best: 'rabenseifner', ratio: 1.5, predictedMs: 2 },
      { ranks: 2, chosen: 'ring', best: 'ring', ratio: 1 },
    ]);
  });

  it('has none where one algorithm ran alone, however often', () => {
    const beside = line('ring', 3, { auto: true });
    expect(autoLines([beside, { ...beside, ms: 9 }])).toEqual([]);
    expect(autoSummary([beside], [])).toBeUndefined();
  });

  it('counts the cells within a tenth of the best, and the error of all predictions', () => {
    const lines = [
      line('ring', 2.2, { auto: true }),
      line('rabenseifner', 2),
      line('ring', 2.3, { n: 512, auto: true }),
      line('rabenseifner', 2, { n: 512 }),
    ];
    const summary = autoSummary(lines, autoLines(lines))!;
    expect(summary).toMatchObject({ cells: 2, within10: 0.5 });
    // 0.2 / 2.2, 0, 0.3 / 2.3, 0: of an even number the upper one in the middle.
    expect(summary.medianPredictionError).toBeCloseTo(0.2 / 2.2, 12);
  });
});

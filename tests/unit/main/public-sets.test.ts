import { describe, expect, it } from 'vitest';
import { publicSet } from '../../../src/main/data-sets/fetch-set.ts';
import { publicSets } from '../../../src/main/data-sets/public-sets.ts';

describe('the list of public data sets', () => {
  it('names each once, with distinct files', () => {
    const ids = publicSets.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const set of publicSets) {
      expect(publicSet(set.id)).toBe(set);
      for (const mirror of set.mirrors) expect(mirror).toMatch(/^https?:\/\/.*\/$/);
      for (const { sha256 } of set.files) expect(sha256).toMatch(/^[0-9a-f]{64}$/);
      const sums = set.files.map(({ sha256 }) => sha256);
      expect(new Set(sums).size).toBe(sums.length);
    }
  });

  it('reports an unknown name', () => {
    expect(() => publicSet('minst')).toThrow(
      expect.objectContaining({
        code: 'DATA_SET_UNKNOWN',
        next: expect.stringContaining('mnist') as string,
      }),
    );
  });
});

/** Which specs local steps take. */
import { describe, expect, it } from 'vitest';
import { checkedLaunch } from '../../harness/checked-launch.ts';
import { refusalOf } from '../../harness/refusal.ts';

const LOCAL = { kind: 'local-steps' };

describe('a spec of local steps', () => {
  it('is taken with an optimiser of what all moved', () => {
    const parallelism = { ...LOCAL, every: 4, outer: { lr: 0.7, momentum: 0.9 } };
    expect(checkedLaunch(specOf({ parallelism })).spec).toMatchObject({ parallelism });
  });

  it.each<[Record<string, unknown>, string, string]>([
    [{ parallelism: { every: 4 } }, 'PARALLELISM_MISFIT', 'parallelism.every'],
    [{ parallelism: { outer: { lr: 1 } } }, 'PARALLELISM_MISFIT', 'parallelism.outer'],
    [
      { parallelism: { ...LOCAL, outer: { momentum: 0, nesterov: true } } },
      ...(['PARALLELISM_MISFIT', 'parallelism.outer.nesterov'] as const),
    ],
    [{ parallelism: LOCAL, overlap: true }, 'PARALLELISM_MISFIT', 'overlap'],
    [{ parallelism: LOCAL, doubleBuffer: true }, 'PARALLELISM_MISFIT', 'doubleBuffer'],
    [
      {
        parallelism: LOCAL,
        workload: { model: 'synthetic-gradient', dataset: 'none' },
      },
      ...(['PARALLELISM_MISFIT', 'workload.model'] as const),
    ],
    [
      { parallelism: LOCAL, exchange: { method: 'dgc' } },
      ...(['METHOD_OPTIMIZER_MISFIT', 'exchange.method'] as const),
    ],
    [{ parallelism: { ...LOCAL, every: 0 } }, 'SPEC_INVALID', 'parallelism.every'],
    [{ parallelism: { kind: 'lokal-steps' } }, 'SPEC_INVALID', 'parallelism.kind'],
    [{ parallelism: { evry: 3 } }, 'SPEC_UNKNOWN_KEY', 'parallelism.every'],
  ])('%j is refused: %s', (given, code, place) => {
    const { text, input } = refusalOf(() => checkedLaunch(specOf(given)));
    expect(input).toBe(true);
    expect(text).toContain(`${code}: `);
    expect(text).toContain(place);
  });
});

function specOf(given: Record<string, unknown>): Record<string, unknown> {
  return {
    ...{ name: 'x', workload: { model: 'fnn3', dataset: 'digits' } },
    ...{ world: { ranks: 2 }, ...given },
  };
}

/** What collectives take where ranks are on several nodes, and what `auto` makes of it. */
import { describe, expect, test } from 'vitest';
import {
  crossingSwaps,
  placedSeconds,
} from '../../../src/agent/collectives/node-links.ts';
import { predict } from '../../../src/agent/collectives/prediction.ts';
import {
  chooseCollective,
  collectives,
  findCollective,
} from '../../../src/agent/collectives/registry.ts';
import type { ExchangeShape } from '../../../src/agent/collectives/collective.ts';
import { totalSeconds } from '../../../src/shared/cost-model/cost-terms.ts';
import { networkProfileSchema } from '../../../src/shared/cost-model/network-profile.ts';
import {
  BETWEEN_NODES,
  LOOPBACK,
  type NetworkCost,
} from '../../../src/shared/cost-model/network-cost.ts';

const TWO_BY_FOUR = [0, 0, 0, 0, 1, 1, 1, 1];
const N = 8 * 5040;

const dense = (places: readonly number[], length = N): ExchangeShape => ({
  ranks: places.length,
  places,
  length,
  payloadBytes: 4 * length,
});
const sparse = (places: readonly number[], nnz: number): ExchangeShape => ({
  ranks: places.length,
  places,
  length: 100 * N,
  payloadBytes: 8 * nnz,
  nnz,
});

/** Only the bytes between nodes cost anything. */
const onlyLinks: NetworkCost = {
  alpha: 0,
  beta: 0,
  gamma: 0,
  between: { alpha: 0, beta: 1 },
};

/** What passes the busiest link, as the model has it. */
const passing = (id: string, shape: ExchangeShape): number =>
  placedSeconds(findCollective(id), shape, onlyLinks);

describe('bytes over the link of a node', () => {
  test('of a ring, once around if neighbours are together, else of every rank', () => {
    const ring = ((2 * 7) / 8) * 4 * N;
    expect(passing('ring', dense(TWO_BY_FOUR))).toBe(ring);
    expect(passing('ring', dense([0, 1, 0, 1, 0, 1, 0, 1]))).toBe(4 * ring);
  });

  test('of doubling, every rank of the rounds that leave the node', () => {
    expect(passing('recursive-doubling', dense(TWO_BY_FOUR))).toBe(4 * 4 * N);
    // Halves of the whole vector, out and back.
    expect(passing('rabenseifner', dense(TWO_BY_FOUR))).toBe(4 * 4 * N);
    const around = dense([0, 1, 0, 1, 0, 1, 0, 1]);
    expect(passing('recursive-doubling', around)).toBe(4 * 4 * N);
    expect(passing('rabenseifner', around)).toBe((4 * 4 * N) / 4);
  });

  test('of pairs that fold over the link', () => {
    const folds = { before: 5, after: 7 };
    const swaps = [{ distance: 1, bytes: 100 }];
    // 0 folds into 1, which swaps with 2.
    expect(crossingSwaps(swaps, folds, [0, 1, 1])).toBe(7);
    expect(crossingSwaps(swaps, folds, [0, 0, 1])).toBe(100);
  });

  test('of what goes to everybody, as many as are elsewhere', () => {
    expect(passing('sparse-allgather', sparse(TWO_BY_FOUR, 1000))).toBe(4 * 4 * 8000);
  });

  test('of servers, what is pushed to them from elsewhere, and as much back', () => {
    const served = (servers: number, places = TWO_BY_FOUR): number =>
      passing('parameter-server', { ...dense(places), servers });
    expect(served(1)).toBe(2 * 4 * (4 * N));
    // One on each node: four ranks push half of the vector each way.
    expect(served(2)).toBe(2 * 4 * (4 * N) * 0.5);
    expect(served(8)).toBe(2 * 4 * 4 * ((4 * N) / 8));
    // The server is alone on its node; then the others' node has one more.
    expect(served(1, [0, 1, 1, 1])).toBe(2 * 3 * (4 * N));
    expect(served(2, [0, 1, 1, 1])).toBe(2 * 3 * 0.5 * (4 * N));
  });

  test('of the hierarchical one, the vector for two nodes, less than twice it for more', () => {
    expect(passing('hierarchical', dense(TWO_BY_FOUR))).toBe(4 * N);
    expect(passing('hierarchical', dense([0, 1, 2, 0, 1, 2]))).toBeCloseTo(
      (2 * 2 * 4 * N) / 3,
    );
    expect(passing('hierarchical', dense([0, 0, 0]))).toBe(0);
  });
});

describe('auto', () => {
  const places = { several: TWO_BY_FOUR, one: TWO_BY_FOUR.map(() => 3) };

  test('sums within nodes first where that spares the link', () => {
    expect(chooseCollective('dense', dense(TWO_BY_FOUR)).id).toBe('hierarchical');
    expect(chooseCollective('sparse', sparse(TWO_BY_FOUR, 100_000)).id).toBe(
      'ssar-hierarchical',
    );
  });

  test('never does on one node, or with one rank on each', () => {
    for (const flat of [undefined, places.one, [0, 1, 2, 3, 4, 5, 6, 7]]) {
      for (const length of [2, 1000, N]) {
        const shape = { ...dense(TWO_BY_FOUR, length), places: flat };
        expect(chooseCollective('dense', shape).forNodes).toBeUndefined();
      }
      const shape = { ...sparse(TWO_BY_FOUR, 1000), places: flat };
      expect(chooseCollective('sparse', shape).forNodes).toBeUndefined();
    }
  });

  test('does not where links between nodes are as fast as within, and latency counts', () => {
    const { alpha, beta } = LOOPBACK;
    const fast = { ...LOOPBACK, between: { alpha, beta: beta / 100 } };
    expect(chooseCollective('dense', dense(TWO_BY_FOUR, 2), fast).id).toBe(
      'recursive-doubling',
    );
  });

  test('costs the same as ever where all are on one node', () => {
    for (const collective of collectives.values()) {
      const shape = collective.takes.includes('sparse')
        ? sparse(places.one, 1000)
        : dense(places.one);
      const seconds = placedSeconds(collective, shape, LOOPBACK);
      const flat = { ...shape, places: undefined };
      expect(seconds).toBe(collective.cost(flat, LOOPBACK));
    }
  });

  test.each([...collectives.keys()])('%s: the terms add up to the cost', (id) => {
    const collective = findCollective(id);
    const shape = collective.takes.includes('sparse')
      ? sparse(TWO_BY_FOUR, 1000)
      : dense(TWO_BY_FOUR);
    for (const between of [undefined, { alpha: 3e-5, beta: 2e-9 }]) {
      const network = { ...LOOPBACK, between };
      const prediction = predict(collective, shape, network);
      const seconds = placedSeconds(collective, shape, network);
      expect(totalSeconds(prediction) / seconds).toBeCloseTo(1, 9);
    }
  });
});

test('an unmeasured link between nodes is assumed to be Gigabit Ethernet', () => {
  const shape = dense(TWO_BY_FOUR);
  const named = { ...LOOPBACK, between: BETWEEN_NODES };
  for (const id of ['ring', 'hierarchical']) {
    const collective = findCollective(id);
    expect(placedSeconds(collective, shape, LOOPBACK)).toBe(
      placedSeconds(collective, shape, named),
    );
  }
  // Profiles know one node alone, and stay as they were.
  expect(Object.keys(networkProfileSchema.shape)).not.toContain('between');
});

/** `gradwire bench network` by real processes, and what it leaves in the home. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { measureNetwork } from '../../../src/agent/engine.ts';
import {
  collectives as known,
  findCollective,
} from '../../../src/agent/collectives/registry.ts';
import { chooseTransport } from '../../../src/agent/transport/transport-choice.ts';
import {
  loadNetworkProfile,
  saveNetworkProfile,
} from '../../../src/main/home/network-profile-file.ts';
import {
  networkCostOf,
  parseNetworkProfile,
  type NetworkProfile,
} from '../../../src/shared/cost-model/network-profile.ts';
import { effort } from '../../harness/effort.ts';
import { GradwireHome } from '../../harness/gradwire.ts';

// What is measured are figures of this machine; here, that they are measured and kept.
const thoroughness = effort({ quick: 'quick', soak: 'full' } as const);

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gradwire-network-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

test(
  'three ranks: every pair alone, loads, kernels; kept as it was measured',
  { tags: 'soak' },
  async () => {
    const profile = await measureNetwork({
      ranks: 3,
      transport: 'tcp',
      effort: thoroughness,
    });
    expect(profile.transport).toBe('tcp');
    expect(profile.pairs.map(({ ranks }) => ranks)).toEqual([
      [0, 1],
      [0, 2],
      [1, 2],
    ]);
    expect(profile.loaded.map(({ ranks }) => ranks)).toEqual([2, 3]);
    expect(profile.nodes).toHaveLength(3);
    for (const { alpha, beta } of [...profile.pairs, ...profile.loaded]) {
      expect(alpha).toBeGreaterThanOrEqual(0);
      expect(beta).toBeGreaterThanOrEqual(0);
      // A message takes more than 0.1 µs, whatever the machine: no wrong unit.
      expect(alpha + 8 * beta).toBeGreaterThan(1e-7);
      expect(alpha + 1e6 * beta).toBeGreaterThan(1e-6);
    }
    for (const seconds of Object.values(profile.kernels)) {
      // No core adds 100 elements in a nanosecond: no wrong unit.
      expect(seconds).toBeGreaterThan(1e-11);
    }

    expectEveryCollective(profile);

    const file = path.join(directory, 'network.json');
    await saveNetworkProfile(file, profile);
    expect(await loadNetworkProfile(file)).toEqual(profile);
    expect(parseNetworkProfile(JSON.parse(await readFile(file, 'utf8')), file)).toEqual(
      profile,
    );
    expect(networkCostOf(profile, 3).gamma).toBe(profile.kernels.add);
  },
);

/** Each that is for one machine was timed with shapes that it takes. */
function expectEveryCollective({ collectives = [] }: NetworkProfile): void {
  const timed = Map.groupBy(collectives, ({ collective }) => collective);
  expect([...timed.keys()].toSorted()).toEqual(
    [...known.values()]
      .filter(({ forNodes }) => forNodes !== true)
      .map(({ id }) => id)
      .toSorted(),
  );
  for (const [id, times] of timed) {
    const { takes } = findCollective(id);
    for (const { ranks, nnz, seconds, predicted } of times) {
      expect(ranks).toBe(3);
      expect(takes).toContain(nnz === undefined ? 'dense' : 'sparse');
      expect(seconds).toBeGreaterThan(1e-6);
      expect(predicted).toBeGreaterThan(1e-7);
    }
    expect(times.length).toBeGreaterThan(1);
  }
}

test(
  'the command takes the transport of runs, and keeps what it measures in the home',
  { tags: 'soak' },
  async () => {
    await using home = new GradwireHome();
    const rough = effort({ quick: ['--quick'], soak: [] });
    const { code, stdout, stderr } = await home.run([
      ...['bench', 'network', '--ranks', '2', '--json', ...rough],
    ]);
    expect(stderr).toMatch(/^measuring 2 ranks: some \d+ seconds\n$/);
    expect(code).toBe(0);
    const profile = JSON.parse(stdout) as NetworkProfile;
    expect(profile.transport).toBe((await chooseTransport('auto')).kind);
    expect(profile.loaded).toHaveLength(1);
    const kept = path.join(home.directory, 'network.json');
    expect(await loadNetworkProfile(kept)).toEqual(profile);
  },
);

test('a profile that is not there, or is none, or has no place to go', async () => {
  const file = path.join(directory, 'network.json');
  expect(await loadNetworkProfile(file)).toBeUndefined();
  await expect(loadNetworkProfile(directory)).rejects.toMatchObject({
    code: 'NETWORK_PROFILE_UNREADABLE',
    kind: 'input',
  });
  const profile = {
    version: 1 as const,
    measuredAt: 0,
    transport: 'tcp',
    nodes: ['a', 'b'],
    pairs: [],
    loaded: [{ ranks: 2, alpha: 1e-5, beta: 1e-9 }],
    kernels: { add: 0, merge: 0, scatter: 0, select: 0, quantize: 0, dequantize: 0 },
  };
  await expect(
    saveNetworkProfile(path.join(directory, 'absent', 'network.json'), profile),
  ).rejects.toMatchObject({ code: 'OUTPUT_NOT_WRITABLE', kind: 'input' });
});

/**
 * The planted cause is named in 95 % of simulated worlds, with 2, 8 and 24 ranks on one machine and on two; and no
 * remedy is promised that the same world with that remedy does not show. Real runs: tests/soak/planted-causes.test.ts.
 */
import { describe, expect, it, test } from 'vitest';
import { coreTime } from '../../../src/shared/verdict/core-crowding.ts';
import { COMMUNICATION_PHASES } from '../../../src/shared/records/phases.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { effort } from '../../harness/effort.ts';
import { brokenPromise, verdictOn } from '../../harness/planted-causes.ts';
import { ofType } from '../../harness/records.ts';
import {
  gainOf,
  PLANTED_WORLDS,
  withChanges,
  type PlantedWorld,
  type WorldSize,
} from './planted-worlds.ts';
import { machineNames, simulate, type SimulatedWorld } from './simulated-cluster.ts';

/** One of 24 ranks has 100,000 events. */
const worldsOf = (ranks: number): number =>
  effort({ quick: ranks === 24 ? 1 : 6, soak: 40 });

const sizes = [1, 2].flatMap((machines) =>
  [2, 8, 24].map((ranks): WorldSize => ({ machines, ranks })),
);
const cases = PLANTED_WORLDS.flatMap((world) =>
  sizes
    .filter((size) => world.onlyWith?.(size) ?? true)
    .map((size) => ({ ...world, ...size })),
);

/** The exchange of the mean iteration, as its engine sees it: of the rank that waits least. */
function exchangeOf(records: readonly RunRecord[]): number {
  const iterations = Map.groupBy(
    ofType(records, 'iteration'),
    ({ iteration }) => iteration,
  );
  const times = [...iterations.values()].map((ranks) =>
    Math.min(
      ...ranks.map(({ phases }) =>
        COMMUNICATION_PHASES.reduce((sum, phase) => sum + (phases[phase] ?? 0), 0),
      ),
    ),
  );
  return times.reduce((sum, time) => sum + time, 0) / times.length;
}

/** Complaints about the verdict on one world. */
function complaints(world: PlantedWorld, size: WorldSize, seed: number): string[] {
  const { doesNotPay = false, planted, remedied } = world;
  const own = { seed, isLinkKnown: (seed + size.machines) % 2 === 0 };
  const run = (changes: Partial<SimulatedWorld>, later: number): readonly RunRecord[] =>
    simulate({ ...withChanges(size, changes), ...own, seed: seed + later });
  const before = run(planted(size), 0);
  const notices = doesNotPay
    ? [notPaying(exchangeOf(before), exchangeOf(run(remedied(size), 2000)))]
    : [];
  const names = machineNames(size.machines);
  const verdict = verdictOn([...before, ...notices], size.ranks, names);
  const said = verdict.statements.map(({ text }) => text).join('; ');
  const gain = gainOf(verdict, world.remedy);
  if (gain === undefined) return [`world ${seed}: nothing promised: ${said}`];
  const after = verdictOn(run(remedied(size), 1000), size.ranks, names);
  const broken = brokenPromise(gain, after);
  return [
    ...((world.isNamed?.(verdict, size) ?? true) ? [] : [`world ${seed}: ${said}`]),
    ...(broken === undefined ? [] : [`world ${seed}: ${broken}`]),
  ];
}

const notPaying = (compressed: number, uncompressed: number): RunRecord => ({
  type: 'notice',
  at: 1,
  level: 'info',
  code: 'COMPRESSION_DOES_NOT_PAY',
  message: 'do not compress',
  exchange: { compressed, uncompressed, measured: true },
});

test.each(cases)(
  '$name, with $ranks ranks on $machines machines, is named, and its remedy keeps the promise',
  ({ machines, ranks, ...world }) => {
    const worlds = worldsOf(ranks);
    const heard: string[][] = [];
    for (let seed = 0; seed < worlds; seed++)
      heard.push(complaints(world, { machines, ranks }, seed));
    const failed = heard.filter(({ length }) => length > 0);
    expect(failed.length, failed.flat().join('\n')).toBeLessThanOrEqual(0.05 * worlds);
  },
);

describe('the time that ranks had a core', () => {
  const crowd = { machine: 'box', ranks: 4, cores: 2 };

  it.each([
    { scheduler: 'takes turns', own: [20, 20, 20, 20], mean: 10 },
    { scheduler: 'runs one after the other', own: [20, 10, 10, 20], mean: 10 },
    { scheduler: 'favours three', own: [30, 15, 15, 15], mean: (2 * 15 + 15) / 4 },
  ])('is exact where the scheduler $scheduler', ({ mean, own }) => {
    expect(coreTime(Float64Array.from(own), crowd)).toBeCloseTo(mean, 12);
  });

  it('takes other machines for as crowded', () => {
    const own = Float64Array.from([20, 20, 20, 20, 10, 10, 10, 10]);
    // Eight ranks want the four cores for 10 ms, then four ranks have them for 10.
    expect(coreTime(own, crowd)).toBeCloseTo(10, 12);
  });
});

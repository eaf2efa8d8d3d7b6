/**
 * The exchange of one iteration of FNN-3's gradients, each rank its own, by the engine of
 * a run: top-k 1 % beside the dense ring, with what the time goes to. Both worlds stand at
 * once and take turns.
 */
import { resolvePlan } from '../../src/agent/plan/resolve-plan.ts';
import { textTable } from '../../src/cli/text/text-table.ts';
import { PHASES, type Phase } from '../../src/shared/records/phases.ts';
import { formatBytes, formatDuration } from '../../src/shared/words/units.ts';
import {
  recordGradients,
  type RecordedGradients,
} from '../compress/recorded-gradient.ts';
import { median } from '../quantiles.ts';
import { Links, type LinkName } from './links.ts';
import type { IterationProfile } from './rank-protocol.ts';
import { BenchWorld } from './bench-world.ts';
import type { Session } from './stage.ts';

interface Schedule {
  readonly ranks: number;
  readonly blocks: number;
  /** Iterations of each block, those of the warm-up included. */
  readonly iterations: number;
  /** Iterations until V8 has compiled what runs most, and the exchange has settled. */
  readonly warmUp: number;
}

const FULL: Schedule = { ranks: 4, blocks: 5, iterations: 400, warmUp: 300 };
const QUICK: Schedule = { ranks: 2, blocks: 1, iterations: 12, warmUp: 6 };

const EXCHANGES = [
  { name: 'dense ring', exchange: { method: 'none', collective: 'ring' } },
  { name: 'dense auto', exchange: { method: 'none' } },
  { name: 'top-k 1 %', exchange: { method: 'topk', ratio: 0.01 } },
] as const;

export interface ExchangeLine {
  readonly type: 'exchange';
  readonly links: string;
  readonly transport: string;
  readonly ranks: number;
  readonly name: string;
  readonly collective: string;
  /** The slowest rank's, median over iterations. */
  readonly ms: number;
  /** Medians over iterations and ranks; those that never ran are left out. */
  readonly phases: Readonly<Partial<Record<Phase, number>>>;
  readonly overlapped: number;
  /** Bytes of one rank's payload in an iteration. */
  readonly payload: number;
  readonly wireSent: number;
  readonly note: string;
}

export async function measureExchange(
  session: Session,
  report: (lines: readonly ExchangeLine[]) => void,
): Promise<void> {
  const schedule = session.quick ? QUICK : FULL;
  const recorded = await recordGradients(schedule.ranks);
  for (const links of session.links) {
    report(await measureOn(session, links, schedule, recorded));
  }
}

async function measureOn(
  { transport }: Session,
  name: LinkName,
  { ranks, blocks, iterations, warmUp }: Schedule,
  { gradients, tensors, note }: RecordedGradients,
): Promise<readonly ExchangeLine[]> {
  using links = new Links(name, ranks);
  await using stack = new AsyncDisposableStack();
  const contestants = [];
  for (const { name, exchange } of EXCHANGES) {
    const world = await BenchWorld.start({
      ranks,
      links,
      transport,
      profiled: true,
    });
    stack.use(world);
    contestants.push({ name, world, plan: resolvePlan(exchange), seen: newlySeen() });
  }
  for (let block = 0; block < blocks; block++) {
    for (const { world, plan, seen } of contestants) {
      const profiles = await world.iterate((rank) => ({
        plan,
        tensors,
        gradient: bytesOf(gradients[rank]!),
        iterations,
      }));
      // By iteration, of all ranks.
      for (let iteration = warmUp; iteration < iterations; iteration++) {
        seen.push(profiles.map((ofRank) => ofRank[iteration]!));
      }
    }
  }
  return contestants.map(({ name, world, seen }) =>
    lineOf(name, world, seen, `${note}; ${gradients[0]!.length} elements`),
  );
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

const newlySeen = (): (readonly IterationProfile[])[] => [];

function lineOf(
  name: string,
  world: BenchWorld,
  seen: readonly (readonly IterationProfile[])[],
  note: string,
): ExchangeLine {
  const all = seen.flat();
  const middle = (of: (profile: IterationProfile) => number): number =>
    median(all.map(of));
  const phases = PHASES.map((phase) => [phase, middle((one) => one.phases[phase])]);
  return {
    type: 'exchange',
    links: world.links.name,
    transport: world.transport,
    ranks: world.size,
    name,
    collective: all[0]!.collective,
    ms: median(seen.map((ranks) => Math.max(...ranks.map(({ wall }) => wall)))),
    phases: Object.fromEntries(
      phases.filter(([, ms]) => ms !== 0),
    ) as ExchangeLine['phases'],
    overlapped: middle((one) => one.overlapped),
    payload: middle((one) => one.payloadBytes),
    wireSent: middle((one) => one.wireSent),
    note,
  };
}

export function exchangeTable(lines: readonly ExchangeLine[]): string {
  const shown = PHASES.filter((phase) =>
    lines.some((line) => line.phases[phase] !== undefined),
  );
  const header = ['exchange', 'by', 'time', ...shown, 'overlapped', 'payload', 'sent'];
  const rows = lines.map((line) => [
    line.name,
    line.collective,
    formatDuration(line.ms),
    ...shown.map((phase) => formatDuration(line.phases[phase])),
    formatDuration(line.overlapped),
    formatBytes(line.payload),
    formatBytes(line.wireSent),
  ]);
  return textTable(
    [header, ...rows],
    header.map((_, column) => (column < 2 ? 'left' : 'right')),
  );
}

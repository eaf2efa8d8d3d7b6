/**
 * Emulated links beside links that the system shapes: the same collectives on the same
 * vectors, the two worlds in turns, each first every other time. Linux, root.
 */
import { collectivesFor } from '../../src/agent/collectives/registry.ts';
import { textTable } from '../../src/cli/text/text-table.ts';
import { formatDuration } from '../../src/shared/words/units.ts';
import { median } from '../quantiles.ts';
import { BenchWorld } from './bench-world.ts';
import { Links, type LinkName } from './links.ts';
import { formatSize } from './outcome-lines.ts';
import type { Session } from './stage.ts';

const RANKS = [2, 4];
const SIZES = [2 ** 20, 4 * 2 ** 20, 16 * 2 ** 20];
const PAIRS = [
  ['1gbit', 'emulated-1gbit'],
  ['10gbit', 'emulated-10gbit'],
] as const satisfies readonly (readonly [LinkName, LinkName])[];
const ROUNDS = 6;
const REPETITIONS = 5;
const WARM_UP = 2;

export interface EmulationLine {
  readonly type: 'emulation';
  readonly links: string;
  readonly ranks: number;
  readonly bytes: number;
  readonly collective: string;
  /** Milliseconds, medians. */
  readonly shaped: number;
  readonly emulated: number;
  /** Emulated over shaped: the median over rounds of the rounds' own. */
  readonly ratio: number;
}

/** @throws GradwireError of a rank, `BENCH_LINKS_UNAVAILABLE` */
export async function measureEmulation(
  { ranks = RANKS, sizes = SIZES, transport, links, quick }: Session,
  report: (lines: readonly EmulationLine[]) => void,
): Promise<void> {
  // Loopback is what is meant where no links were named: of 1 Gbit/s then.
  const pairs = PAIRS.filter(([name]) => links.includes(name));
  for (const [shapedName, emulatedName] of pairs.length > 0 ? pairs : [PAIRS[0]]) {
    for (const size of ranks) {
      using shapedLinks = new Links(shapedName, size);
      using emulatedLinks = new Links(emulatedName, size);
      await using shaped = await BenchWorld.start({
        ranks: size,
        links: shapedLinks,
        transport,
      });
      await using emulated = await BenchWorld.start({
        ranks: size,
        links: emulatedLinks,
        transport,
      });
      const lines: EmulationLine[] = [];
      for (const bytes of sizes) {
        for (const { id, forNodes } of collectivesFor('dense')) {
          if (forNodes === true) continue;
          const times = await compare(
            [shaped, emulated],
            id,
            bytes,
            quick ? 2 : ROUNDS,
          );
          lines.push({
            type: 'emulation',
            links: shapedName,
            ranks: size,
            bytes,
            collective: id,
            ...times,
          });
        }
      }
      report(lines);
    }
  }
}

async function compare(
  worlds: readonly [shaped: BenchWorld, emulated: BenchWorld],
  collective: string,
  bytes: number,
  rounds: number,
): Promise<Pick<EmulationLine, 'shaped' | 'emulated' | 'ratio'>> {
  const times: [number[], number[]] = [[], []];
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const medians = [0, 0];
    const order = round % 2 === 0 ? [0, 1] : [1, 0];
    for (const which of order) {
      const result = await worlds[which as 0 | 1].measure({
        collective,
        length: bytes / 4,
        dataSet: 0,
        checked: round === 0,
        warmUp: WARM_UP,
        repetitions: REPETITIONS,
        batch: 1,
      });
      times[which as 0 | 1].push(...result.times);
      medians[which] = median(result.times);
    }
    ratios.push(medians[1]! / medians[0]!);
  }
  const [shaped, emulated] = times;
  return {
    shaped: median(shaped),
    emulated: median(emulated),
    ratio: median(ratios),
  };
}

export function emulationTable(lines: readonly EmulationLine[]): string {
  const [first] = lines;
  const rows = lines.map(({ bytes, collective, shaped, emulated, ratio }) => [
    formatSize(bytes),
    collective,
    formatDuration(shaped),
    formatDuration(emulated),
    ratio.toFixed(3),
  ]);
  return (
    `P = ${first!.ranks}, ${first!.links}\n` +
    textTable(
      [['size', 'algorithm', 'shaped', 'emulated', 'ratio'], ...rows],
      ['right', 'left', 'right', 'right', 'right'],
    )
  );
}

/**
 * Peak memory of one allreduce in a rank's arena, vector included: each algorithm
 * in processes of its own, for an arena does not shrink. The limit is 6·4·N bytes + 64 MB.
 */
import type { CollectiveDefinition } from '../../src/agent/collectives/collective.ts';
import { collectives, collectivesFor } from '../../src/agent/collectives/registry.ts';
import { textTable } from '../../src/cli/text/text-table.ts';
import { formatBytes } from '../../src/shared/words/units.ts';
import { Links } from './links.ts';
import { BenchWorld } from './bench-world.ts';
import type { Session } from './stage.ts';

export interface MemoryLine {
  readonly type: 'memory';
  readonly ranks: number;
  readonly n: number;
  readonly k?: number | undefined;
  readonly collective: string;
  /** Bytes of the rank that took most. */
  readonly arenaBytes: number;
  readonly limit: number;
}

const LENGTH = 2 ** 24;
const RANKS = [4, 8];
/** SparCML's, and one at which results become dense. */
const DENSITIES = [0.0078125, 0.1];

export async function measureMemory(
  session: Session,
  report: (line: MemoryLine) => void,
): Promise<void> {
  const { quick, transport } = session;
  const n = quick ? 2 ** 16 : LENGTH;
  const densities = quick ? DENSITIES.slice(0, 1) : DENSITIES;
  const limit = 6 * 4 * n + 64e6;
  using links = new Links('loopback', 0);
  for (const ranks of session.ranks ?? (quick ? [2] : RANKS)) {
    for (const { id, takes } of quick ? oneOfEachKind() : collectives.values()) {
      const counts = [
        ...(takes.includes('dense') ? [undefined] : []),
        ...(takes.includes('sparse') ? densities : []).map((density) =>
          Math.ceil(density * n),
        ),
      ];
      for (const k of counts) {
        await using world = await BenchWorld.start({ ranks, links, transport });
        const { arenaBytes } = await world.measure({
          collective: id,
          length: n,
          count: k,
          dataSet: 0,
          checked: true,
          warmUp: 0,
          repetitions: 1,
          batch: 1,
        });
        report({ type: 'memory', ranks, n, k, collective: id, arenaBytes, limit });
      }
    }
  }
}

function oneOfEachKind(): readonly CollectiveDefinition[] {
  return (['dense', 'sparse'] as const).flatMap((kind) =>
    collectivesFor(kind).slice(0, 1),
  );
}

export function memoryTable(lines: readonly MemoryLine[]): string {
  const header = ['P', 'N', 'k', 'algorithm', 'arena', 'limit', ''];
  const rows = lines.map(({ ranks, n, k, collective, arenaBytes, limit }) => [
    String(ranks),
    String(n),
    k === undefined ? '' : String(k),
    collective,
    formatBytes(arenaBytes),
    formatBytes(limit),
    arenaBytes <= limit ? 'within' : 'BEYOND',
  ]);
  return textTable(
    [header, ...rows],
    ['right', 'right', 'right', 'left', 'right', 'right', 'left'],
  );
}

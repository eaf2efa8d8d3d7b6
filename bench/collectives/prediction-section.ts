/**
 * Predictions beside measurements: dense vectors of 64 KB to 256 MB between 2 to 16 ranks, in minutes.
 * Few exchanges of what takes long, and none of what is predicted to take longer than a bound: the
 * servers' link at the largest sizes.
 */
import { formatBytes } from '../../src/shared/words/units.ts';
import { contest, entrants, predictedSeconds, type Stage } from './contest.ts';
import { formatSize } from './outcome-lines.ts';
import { onStage, type Session } from './stage.ts';
import type { Reports } from './vector-sections.ts';

const K = 2 ** 10;
const M = 2 ** 20;
const SIZES = [64 * K, M, 16 * M, 256 * M];
const RANKS = [2, 4, 8, 16];

/** Seconds of an exchange: what is predicted to take longer is left out. */
const LONGEST = 10;
/** Seconds that all algorithms of a cell take together, if two turns of each allow it. */
const CELL = 10;
const MOST_ROUNDS = 24;
/** Vectors that a rank has at once, in memory of its own. */
const VECTORS = 4;
/** Exchanges in a row of what is so short: seconds. */
const SHORT = 2e-3;
const IN_A_ROW = 10;

/** Exchanges of a turn and their number of turns. @param seconds that all algorithms take, one exchange each */
export function turnsWithin(seconds: number): {
  readonly rounds: number;
  readonly batch: number;
} {
  const batch = seconds < SHORT * IN_A_ROW ? IN_A_ROW : 1;
  const most = Math.floor(CELL / (2 * batch * seconds));
  return { rounds: Math.min(MOST_ROUNDS, Math.max(2, most)), batch };
}

/** The section's cells, each as it is done. */
export async function measurePredictions(
  session: Session,
  { staged, measured }: Reports,
): Promise<void> {
  const { quick } = session;
  for (const links of session.links) {
    for (const ranks of session.ranks ?? (quick ? [2] : RANKS)) {
      await onStage(session, { ranks, links }, async (stage) => {
        staged(stage);
        for (const bytes of session.sizes ?? (quick ? [64 * K] : SIZES)) {
          const outcome = await measureCell(stage, bytes, quick);
          if (outcome !== undefined) measured('predictions', stage, outcome);
        }
      });
    }
  }
}

async function measureCell(
  stage: Stage,
  bytes: number,
  quick: boolean,
): Promise<Awaited<ReturnType<typeof contest>> | undefined> {
  const ranks = stage.world.size;
  const leftOut = (what: string, why: string): void => {
    process.stderr.write(
      `left out: ${what}${formatSize(bytes)} between ${ranks} ranks: ${why}\n`,
    );
  };
  const needed = VECTORS * ranks * bytes;
  const available = process.availableMemory();
  if (needed > available) {
    const has = formatBytes(available);
    leftOut('', `needs ${formatBytes(needed)} of memory, ${has} are available`);
    return undefined;
  }
  const shape = { length: bytes / 4 };
  let seconds = 0;
  const taken: string[] = [];
  for (const id of entrants(shape, stage)) {
    const expected = predictedSeconds(stage, shape, id);
    if (expected > LONGEST) {
      leftOut(`${id}, `, `predicted to take ${expected.toFixed(0)} s`);
      continue;
    }
    seconds += expected;
    taken.push(id);
  }
  const turns = quick ? { rounds: 1, batch: 1 } : turnsWithin(seconds);
  const schedule = { ...turns, repetitions: 1, dataSets: 1, firstWarmUps: 1 };
  return taken.length === 0 ? undefined : await contest(stage, shape, schedule, taken);
}

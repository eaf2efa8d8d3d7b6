/**
 * The costs of the history: bytes on the disk for a record of a real run of four ranks, and how
 * long main is busy to open a run of 262,144 records, which are that run's.
 */
import { rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { temporaryDirectory } from '../../src/disk/temporary-directory.ts';
import { openHome, resolveHome } from '../../src/main/home/home.ts';
import { RunStore } from '../../src/main/store/run-store.ts';
import type { IterationRecord } from '../../src/shared/records/iteration.ts';
import type { JournalEntry } from '../../src/shared/records/journal-entry.ts';
import type { IterationPlace } from '../../src/shared/rpc/run-pieces.ts';
import { GradwireHome, succeeded } from '../../tests/harness/gradwire.ts';
import { sampleSpec } from '../../tests/unit/main/sample-records.ts';
import { median } from '../quantiles.ts';
import type { Measurement } from '../report.ts';

const RANKS = 4;
const ITERATIONS = 3000;
const LONG = 65_536;
const BATCH = 4096;
/** Reads a run as the page does: the newest iterations, and all of it in bins. */
const NEWEST = 512;
const WIDTH = 64;
const PIECE = 2048;
const REPETITIONS = 5;

export async function measureHistory(): Promise<readonly Measurement[]> {
  await using home = new GradwireHome();
  const { database } = await openHome(resolveHome({ GRADWIRE_HOME: home.directory }));
  RunStore.open(database).close();
  const empty = statSync(database).size;
  const settings = [`iterations=${ITERATIONS}`, 'exchange.method=topk', 'backend=wasm'];
  succeeded(
    await home.run([
      ...['run', 'quickstart', '--json', '--set', `world.ranks=${RANKS}`],
      ...settings.flatMap((setting) => ['--set', setting]),
    ]),
  );
  const store = RunStore.open(database);
  const { id } = store.runs.list()[0]!;
  const records = [...store.reads.allIterations(id)];
  while (store.space.compact()) continue;
  store.close();
  const bytes = statSync(database).size - empty;
  return [
    {
      name: 'history, bytes of a record',
      value: bytes / records.length,
      unit: 'B',
      goal: 100,
      note: `the database's growth by a run of P = ${RANKS} with ${records.length} records, top-k`,
    },
    openingALongRun(records),
  ];
}

function openingALongRun(records: readonly IterationRecord[]): Measurement {
  const directory = temporaryDirectory('gradwire-bench-');
  const store = RunStore.open(path.join(directory, 'gradwire.db'));
  try {
    const spec = sampleSpec({ world: { ranks: RANKS }, iterations: LONG });
    store.create({ id: 'long', spec, switches: [], createdAt: 1 });
    let sequence = 0;
    let entries: JournalEntry[] = [];
    for (let iteration = 0; iteration < LONG; iteration++) {
      for (let rank = 0; rank < RANKS; rank++) {
        const like = records[(iteration * RANKS + rank) % records.length]!;
        entries.push({ sequence: ++sequence, record: { ...like, iteration, rank } });
      }
      if (entries.length < BATCH) continue;
      store.records.append('long', entries);
      entries = [];
    }
    const times = Array.from({ length: REPETITIONS }, () => {
      const start = performance.now();
      readRecords(store, LONG - NEWEST);
      readBins(store);
      return performance.now() - start;
    });
    return {
      name: 'history, opening a long run',
      value: median(times),
      unit: 'ms',
      note: `main busy, in pieces, for ${LONG * RANKS} records; median of ${REPETITIONS}`,
    };
  } finally {
    store.close();
    rmSync(directory, { recursive: true });
  }
}

function readRecords(store: RunStore, from: number): void {
  let next: IterationPlace | undefined = { from };
  while (next !== undefined) {
    ({ next } = store.reads.iterations('long', { ...next, to: LONG }, PIECE));
  }
}

function readBins(store: RunStore): void {
  let next: number | undefined = 0;
  while (next !== undefined) {
    ({ next } = store.reads.bins('long', { from: next, to: LONG, width: WIDTH }));
  }
}

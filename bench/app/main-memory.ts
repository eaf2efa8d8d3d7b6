/**
 * Memory of main while it follows a run of many ranks: the real `gradwire serve`, which
 * stores what a supervisor sends as fast as such a run would record. The supervisor is
 * scripted, as 64 ranks would not run side by side on a small machine.
 */
import { readFileSync } from 'node:fs';
import type { JournalEntry } from '../../src/shared/records/journal-entry.ts';
import { GradwireHome } from '../../tests/harness/gradwire.ts';
import { until } from '../../tests/harness/processes.ts';
import { openServer } from '../../tests/harness/server.ts';
import {
  ScriptedSupervisor,
  type ScriptedClient,
} from '../../tests/integration/main/scripted-supervisor.ts';
import { iterationRecord, sampleSpec } from '../../tests/unit/main/sample-records.ts';
import type { Measurement } from '../report.ts';

const ITERATIONS_PER_SECOND = 10;
const SECONDS = 20;

export async function measureMain(): Promise<readonly Measurement[]> {
  const measured: Measurement[] = [];
  for (const ranks of [4, 64]) {
    measured.push({
      name: `memory of main, P = ${ranks}`,
      value: await peakWith(ranks),
      unit: 'MB',
      note: `peak resident set of serve, ${ITERATIONS_PER_SECOND} iterations/s over ${SECONDS} s, all stored`,
    });
  }
  return measured;
}

async function peakWith(ranks: number): Promise<number> {
  await using home = new GradwireHome();
  const spec = sampleSpec({ world: { ranks }, iterations: 1_000_000 });
  const run = 'a-run-of-many-ranks';
  const state = { run, phase: 'running' as const, spec, lastSequence: 0, createdAt: 1 };
  const acknowledged = { sequence: 0 };
  let follower: ScriptedClient | undefined;
  const supervisor = await ScriptedSupervisor.listen(home.socket, {
    runs: [state],
    answer: ({ method, body }, client) => {
      if (method === 'subscribe') {
        follower = client;
        return { lastSequence: 0 };
      }
      if (method === 'acknowledge') {
        acknowledged.sequence = (body as { sequence: number }).sequence;
      }
      return undefined;
    },
  });
  try {
    await using server = await openServer(home);
    await until(
      () => follower,
      (found) => found !== undefined,
      'main to follow the run',
    );
    let sequence = 0;
    for (let iteration = 0; iteration < ITERATIONS_PER_SECOND * SECONDS; iteration++) {
      const entries: JournalEntry[] = Array.from({ length: ranks }, (_, rank) => ({
        sequence: ++sequence,
        record: iterationRecord(iteration, rank),
      }));
      follower!.records(run, entries);
      await new Promise((resolve) => setTimeout(resolve, 1000 / ITERATIONS_PER_SECOND));
    }
    await until(
      () => acknowledged.sequence,
      (stored) => stored === sequence,
      'everything to be stored',
    );
    const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)![1]) / 1000;
  } finally {
    await supervisor.close();
  }
}

/**
 * An emulated network between nodes: two supervisors, each with its own ranks, and a clock of
 * its own where the system can give it one.
 */
import { spawn } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Home } from '../../../src/main/home/home.ts';
import type { ErrorData } from '../../../src/shared/errors/errors.ts';
import { sumPhases } from '../../../src/shared/records/phases.ts';
import { clockAhead, clocksMissing } from '../../harness/clocks.ts';
import { until } from '../../harness/processes.ts';
import { isListening } from '../../harness/sockets.ts';
import { ofType } from '../../harness/records.ts';
import { NODES, TwoHomes } from './two-homes.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';

const LINK = { bandwidth: '1 Gbit/s', latency: '0 µs' };
const SLOW = { bandwidth: 50e6, latency: 5 };

const spec = (between: readonly string[]): Record<string, unknown> => ({
  name: 'slow between nodes',
  workload: { model: 'fnn3', dataset: 'digits' },
  world: { ranks: 3, nodes: NODES },
  exchange: { collective: 'ring' },
  network: {
    ...LINK,
    pairs: [{ between, bandwidth: '50 Mbit/s', latency: '5 ms' }],
  },
  iterations: 4,
  evaluateEvery: 0,
});

const SUPERVISOR = path.resolve(
  import.meta.dirname,
  '../../../dist/agent/supervisor.js',
);

/** The supervisor of a home, by a clock of its own; the app finds it there. */
async function superviseLater({ directory, socket }: Home): Promise<void> {
  const [command, ...args] = clockAhead(100_000);
  const supervisor = [SUPERVISOR, '--home', directory, '--socket', socket];
  const child = spawn(command!, [...args, process.execPath, ...supervisor], {
    stdio: 'ignore',
  });
  // Should the test fail before the app has found it.
  process.once('exit', () => child.kill('SIGKILL'));
  // Not by a connection: a supervisor without runs ends when it is left.
  await until(
    () => isListening(socket),
    (listens) => listens,
    'the supervisor to listen',
  );
}

const clockOf = (pid: number): string => readlinkSync(`/proc/${pid}/ns/time`);

const clocks = clocksMissing() === undefined ? 'clocks a day apart' : 'one clock';

test(`by ${clocks} a run takes the time of the link between its nodes, says so, and ends consistent`, async () => {
  await using world = await TwoHomes.open();
  if (clocksMissing() === undefined) await superviseLater(world.homes.box);
  const { coordinator } = world;
  const { id } = await coordinator.launches.launch(
    parseExperimentSpec(spec(['box', 'this-computer'])),
  );
  expect(await coordinator.following.ended(id)).toMatchObject({ state: 'completed' });
  if (clocksMissing() === undefined) {
    expect(clockOf(world.supervisors.box.at(-1)!)).not.toBe(clockOf(process.pid));
  }
  const { records } = world;
  expect(records.at(-1)).toMatchObject({ type: 'done', consistent: true });
  for (const { emulated } of ofType(records, 'started')) {
    expect(emulated).toEqual({
      bandwidth: 1e9,
      latency: 0,
      pairs: [{ between: ['box', 'this-computer'], ...SLOW }],
    });
  }
  const iterations = ofType(records, 'iteration');
  expect(iterations).toHaveLength(3 * 4);
  for (const { phases, wall } of iterations) {
    const sum = sumPhases(phases);
    expect(sum / wall).toBeCloseTo(1, 6);
  }
  // All that the last rank receives comes from the other node, and of a ring's messages only
  // the first may be there when it begins to wait; `/ 2` leaves out more than that.
  const last = iterations.filter(({ rank }) => rank === 2);
  const received = last
    .filter(({ iteration }) => iteration < 3)
    .reduce((total, { bytes }) => total + bytes.wireReceived!, 0);
  const exchanging = last.reduce(
    (total, { wall, phases }) => total + wall - phases.compute,
    0,
  );
  expect(exchanging).toBeGreaterThan((8000 * received) / SLOW.bandwidth / 2);
});

test('a pair of nodes of which one has no part in the run is refused by its name', async () => {
  await using world = await TwoHomes.open();
  const error = await world.coordinator.launches
    .launch(parseExperimentSpec(spec(['this-computer', 'bax'])))
    .catch((thrown: unknown) => thrown as ErrorData);
  expect(error).toMatchObject({
    code: 'NETWORK_NODE_UNKNOWN',
    kind: 'input',
    place: 'network.pairs[0].between',
    next: 'Did you mean "box"?',
  });
  expect(world.records).toEqual([]);
});

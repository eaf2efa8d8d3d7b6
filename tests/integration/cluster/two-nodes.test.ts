/** Runs whose ranks are on two nodes: each supervisor has the journal of its own ranks. */
import { afterEach, expect, test, vi } from 'vitest';
import { ownAddresses } from '../../../src/agent/transport/own-addresses.ts';
import { LIFE_MS, PATIENT_LOOKS } from '../../../src/main/cluster/life-watch.ts';
import { hasEnded } from '../../../src/shared/records/run-state.ts';
import { LASTING_SPEC } from '../../harness/lasting-runs.ts';
import { until } from '../../harness/processes.ts';
import { ofType } from '../../harness/records.ts';
import { ITERATIONS, NODES, spec, TwoHomes } from './two-homes.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';

test('train together, are switched in the middle, and every record comes once', async () => {
  await using world = await TwoHomes.open();
  const { coordinator, store } = world;
  const { id } = await coordinator.launches.launch(parseExperimentSpec(spec()));
  const answer = await coordinator.orders.give(id, {
    type: 'switch',
    change: { method: 'topk', ratio: 0.05 },
  });
  expect(answer.switch.epoch).toBe(1);
  const summary = await coordinator.following.ended(id);
  expect(summary).toMatchObject({ state: 'completed', iterations: ITERATIONS });

  const { records } = world;
  const iterations = ofType(records, 'iteration');
  const seen = new Set(iterations.map(({ rank, iteration }) => `${rank}/${iteration}`));
  expect(seen.size).toBe(3 * ITERATIONS);
  expect(iterations).toHaveLength(3 * ITERATIONS);
  expect(ofType(records, 'switch')).toMatchObject([
    { epoch: 1, to: { method: 'topk' } },
  ]);
  const fence = ofType(records, 'switch')[0]!.fence;
  for (const { iteration, method } of iterations) {
    expect([iteration, method]).toEqual([
      iteration,
      iteration < fence ? 'none' : 'topk',
    ]);
  }
  expect(ofType(records, 'finished')).toMatchObject([{ node: 'box' }]);
  // What ends the run comes last, and once.
  expect(ofType(records, 'done')).toHaveLength(1);
  expect(records.at(-1)).toMatchObject({ type: 'done', consistent: true });

  const places = ofType(records, 'started').flatMap(({ processes }) => processes);
  expect(places.toSorted((a, b) => a.rank - b.rank).map(({ node }) => node)).toEqual([
    expect.not.stringMatching(/^box$/),
    expect.not.stringMatching(/^box$/),
    'box',
  ]);
  // One sequence over all journals, without a gap: what was told is what is stored.
  expect(world.heard.map(({ sequence }) => sequence)).toEqual(
    world.heard.map((_, index) => index + 1),
  );
  // Sums of buckets and the use of machines are read by themselves, as traces are.
  const heard = world.heard.filter(
    ({ record: { type } }) => type !== 'bucket-sums' && type !== 'utilisation',
  );
  expect(store.reads.entriesAfter(id, 0).slice(0, 1000)).toEqual(heard.slice(0, 1000));
  const sums = ofType(records, 'bucket-sums');
  expect(store.buckets.after(id)).toEqual(
    sums.toSorted((a, b) => a.from - b.from || a.rank - b.rank),
  );
});

test(
  'a run of another process is followed on each node, whichever is found first',
  { tags: 'soak' },
  async () => {
    await using world = await TwoHomes.open();
    const { coordinator } = world;
    const other = world.another();
    const { id } = await other.launches.launch(parseExperimentSpec(spec(LASTING_SPEC)));
    await other.close();
    // Not connected to yet, box is passed over.
    await coordinator.discover(true);
    await coordinator.machines.node('box').connect();
    await coordinator.discover(true);
    await until(
      () => new Set(ofType(world.records, 'iteration').map(({ rank }) => rank)),
      (ranks) => ranks.size === 3,
      'records of all ranks',
    );
    await coordinator.orders.give(id, { type: 'stop' });
    expect(await coordinator.following.ended(id)).toMatchObject({ state: 'stopped' });
    expect(world.notices).toEqual([]);
  },
);

test('a rank that dies on one node ends the run on both, by the name of its node', async () => {
  await using world = await TwoHomes.open();
  const { coordinator, store } = world;
  const { id } = await coordinator.launches.launch(
    parseExperimentSpec(spec(LASTING_SPEC)),
  );
  const [worker] = world.workers(id, 'box');
  process.kill(worker!.pid, 'SIGKILL');
  const { state, error } = await coordinator.following.ended(id);
  expect({ state, error }).toMatchObject({
    state: 'failed',
    error: { code: 'WORKER_DIED', rank: 2, place: 'box' },
  });
  // The others were told, and did not have to miss it: their journal says the same.
  await until(
    () => store.journals.endings(id).open,
    (open) => open.length === 0,
    'both journals to end',
  );
  for (const node of NODES) {
    await until(
      () => world.workers(id, node),
      (left) => left.length === 0,
      `the workers on ${node} to end`,
    );
  }
  expect(ofType(world.records, 'failed')).toHaveLength(1);
});

test(
  'a run goes on without the app, which finds all it missed',
  { tags: 'soak' },
  async () => {
    await using world = await TwoHomes.open();
    const { id } = await world.coordinator.launches.launch(parseExperimentSpec(spec()));
    await world.leave();
    await world.coordinator.following.follow(id);
    const summary = await world.coordinator.following.ended(id);
    expect(summary).toMatchObject({ state: 'completed', iterations: ITERATIONS });
    const stored = [...world.store.reads.allIterations(id)];
    expect(stored).toHaveLength(3 * ITERATIONS);
  },
);

test(
  'a run is followed on the nodes that can be reached, and ends by what they have',
  { tags: 'soak' },
  async () => {
    await using world = await TwoHomes.open();
    const { id } = await world.coordinator.launches.launch(parseExperimentSpec(spec()));
    await world.leave();
    world.outOfReach.add('box');
    await world.coordinator.following.follow(id);
    expect(world.notices).toMatchObject([{ code: 'SSH_UNREACHABLE', place: 'box' }]);
    const summary = await world.coordinator.following.ended(id);
    expect(summary.state).toBe('completed');
    const ranks = (): Set<number> =>
      new Set([...world.store.reads.allIterations(id)].map(({ rank }) => rank));
    expect(ranks()).toEqual(new Set([0, 1]));
    expect(world.store.journals.missing()).toEqual([{ run: id, node: 'box' }]);
    // While it stays away, what is stored can be shown all the same.
    await world.leave();
    await world.coordinator.following.follow(id);
    expect(world.notices.at(-1)).toMatchObject({
      code: 'SSH_UNREACHABLE',
      place: 'box',
    });
    // What the other one has is read when somebody asks for the run again.
    await world.leave();
    world.outOfReach.clear();
    await world.coordinator.following.follow(id);
    expect(ranks()).toEqual(new Set([0, 1, 2]));
    expect([...world.store.reads.allIterations(id)]).toHaveLength(3 * ITERATIONS);
    expect(world.store.journals.missing()).toEqual([]);
  },
);

test('a supervisor that dies takes its ranks along, and the run ends', async () => {
  await using world = await TwoHomes.open();
  const { coordinator } = world;
  const { id } = await coordinator.launches.launch(
    parseExperimentSpec(spec(LASTING_SPEC)),
  );
  process.kill(world.supervisors.box.at(-1)!, 'SIGKILL');
  const { state, error } = await coordinator.following.ended(id);
  expect(state).toBe('failed');
  expect(error?.code).toMatch(/^(SUPERVISOR_LOST|PEER_LOST)$/);
});

afterEach(() => {
  vi.useRealTimers();
});

test(
  'a supervisor that hangs is reported until it answers again; the run goes on',
  { tags: 'soak' },
  async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    await using world = await TwoHomes.open();
    const { coordinator } = world;
    const { id } = await coordinator.launches.launch(
      parseExperimentSpec(spec(LASTING_SPEC)),
    );
    const box = world.supervisors.box.at(-1)!;
    const silences = (): readonly (string | undefined)[] =>
      world.silences.filter(([node]) => node === 'box').map(([, code]) => code);
    const looked = (): readonly unknown[] => {
      vi.advanceTimersByTime(LIFE_MS);
      return silences();
    };
    process.kill(box, 'SIGSTOP');
    try {
      // What it had sent before counts for one look.
      for (let look = 0; look <= PATIENT_LOOKS; look++) vi.advanceTimersByTime(LIFE_MS);
      expect(silences()).toEqual([]);
      await until(looked, ({ length }) => length > 0, 'the silence to be noticed');
      expect(coordinator.machines.nodeConnection('box')).toMatchObject({
        connection: 'connected',
        silence: {
          error: {
            code: 'SUPERVISOR_TIMEOUT',
            message: `its supervisor (process ${box}) has given no sign of life for 20 s`,
            place: 'box',
          },
        },
      });
      expect(hasEnded(world.store.summary(id).state)).toBe(false);
    } finally {
      process.kill(box, 'SIGCONT');
    }
    await until(looked, ({ length }) => length > 1, 'the answer to be noticed');
    expect(silences()).toEqual(['SUPERVISOR_TIMEOUT', undefined]);
    expect(coordinator.machines.nodeConnection('box').silence).toBeUndefined();
    await coordinator.orders.give(id, { type: 'stop' });
    expect(await coordinator.following.ended(id)).toMatchObject({ state: 'stopped' });
  },
);

test(
  'a machine that is out of reach when its run is to be followed is followed once it is back',
  { tags: 'soak' },
  async () => {
    await using world = await TwoHomes.open();
    const { id } = await world.coordinator.launches.launch(
      parseExperimentSpec(spec(LASTING_SPEC)),
    );
    await world.leave();
    world.outOfReach.add('box');
    await world.coordinator.following.follow(id);
    expect(world.notices).toMatchObject([{ code: 'SSH_UNREACHABLE', place: 'box' }]);
    expect(world.coordinator.machines.nodeConnection('box').connection).toBe(
      'reconnecting',
    );
    world.heard.length = 0;
    world.outOfReach.delete('box');
    await until(
      () => ofType(world.records, 'iteration').filter(({ rank }) => rank === 2),
      ({ length }) => length > 0,
      'records of its rank',
    );
    await world.coordinator.orders.give(id, { type: 'stop' });
    const summary = await world.coordinator.following.ended(id);
    expect(summary.state).toBe('stopped');
    expect(summary.missing).toBeUndefined();
  },
);

const own = ownAddresses();

test.skipIf(own.length === 0)(
  'that are not where they are believed to be find one another all the same, and say where',
  { tags: 'soak' },
  async () => {
    // Of documentation (RFC 5737): nobody's.
    const addresses = { there: '203.0.113.7', here: '203.0.113.8' };
    await using world = await TwoHomes.open(addresses);
    const { id } = await world.coordinator.launches.launch(
      parseExperimentSpec(spec({ iterations: 5 })),
    );
    expect(await world.coordinator.following.ended(id)).toMatchObject({
      state: 'completed',
    });
    const told = ofType(world.records, 'notice')
      .filter(({ code }) => code === 'PEER_ADDRESS')
      .map(({ message }) => message);
    // Those of one node call one another on their Unix sockets.
    expect(told).toHaveLength(2);
    for (const message of told) {
      expect(message).toMatch(
        /^rank [01] on this computer is reached at \S+ because it cannot be reached at 203\.0\.113\.8$/,
      );
      expect(own.some((address) => message.includes(` at ${address} because`))).toBe(
        true,
      );
    }
  },
);

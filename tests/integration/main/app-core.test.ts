/** The app's core with a real supervisor and real workers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { createAppCore, type AppCore } from '../../../src/main/app/app-core.ts';
import { HistoryWatch } from '../../../src/main/app/history-watch.ts';
import { resolveHome } from '../../../src/main/home/home.ts';
import { ownName } from '../../../src/main/home/process-name.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import type { ErrorData } from '../../../src/shared/errors/errors.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import type { ExportPiece, ExportPlace } from '../../../src/shared/rpc/run-pieces.ts';
import type { RunSummary } from '../../../src/shared/rpc/run-summary.ts';
import { documented } from '../../harness/documented.ts';
import { GradwireHome } from '../../harness/gradwire.ts';
import { LASTING_SPEC } from '../../harness/lasting-runs.ts';
import { ScriptedSupervisor, type Script } from './scripted-supervisor.ts';

interface Exported {
  readonly buckets: unknown[];
  readonly utilisation: unknown[];
  readonly iterations: unknown[];
}

/** A run as its export in JSON says it. */
async function exported({ api }: AppCore, id: string): Promise<Exported> {
  let text = '';
  let place: ExportPlace | undefined;
  do {
    const piece: ExportPiece = await api.exportRun(id, 'json', place);
    text += piece.text;
    place = piece.next;
  } while (place !== undefined);
  return JSON.parse(text) as Exported;
}

function openCore(home: GradwireHome): Promise<AppCore> {
  return createAppCore({
    home: resolveHome({ GRADWIRE_HOME: home.directory }),
    host: 'browser',
  });
}

/** Resolves with the first summary of a run for which the condition holds. */
function summaryWhere(
  core: AppCore,
  holds: (summary: RunSummary) => boolean,
): Promise<RunSummary> {
  return new Promise((resolve) => {
    const stop = core.onEvent((event, ...args) => {
      if (event !== 'runChanged') return;
      const summary = args[0] as RunSummary;
      if (!holds(summary)) return;
      stop();
      resolve(summary);
    });
  });
}

const hasEnded = ({ endedAt }: RunSummary): boolean => endedAt !== undefined;

const spec = {
  name: 'core',
  workload: { model: 'fnn3', dataset: 'digits', batchPerRank: 8 },
  world: { ranks: 2 },
  ...LASTING_SPEC,
};

test('launches, watches, switches, stops, and lets another in only when closed', async () => {
  await using home = new GradwireHome();
  const core = await openCore(home);
  const { api } = core;
  await expect(openCore(home)).rejects.toMatchObject({ code: 'APP_ALREADY_RUNNING' });

  const { methods } = await api.catalogue();
  expect(methods.map(({ id }) => id)).toEqual(expect.arrayContaining(['none', 'topk']));
  expect(
    await api.checkSpec('workload: { model: fnn3, dataset: digitz }'),
  ).toMatchObject({ ok: false, error: { kind: 'input' } });
  const check = await api.checkSpec('workload: { model: fnn3, dataset: digits }');
  expect(check).toMatchObject({ ok: true, spec: { iterations: 400 } });
  if (check.ok) expect(await api.checkSpec(check.yaml)).toEqual(check);
  // What the form shows at its field, of a model from a file as of ours.
  const modelSource = documented('models.md', 'ts', '// three-layer.ts');
  for (const workload of [{ model: 'fnn3' }, { model: './own.ts', modelSource }]) {
    const parallelism = { pipeline: { splitAfter: ['layer3'] } };
    expect(
      await api.checkSpec(
        JSON.stringify({
          workload: { dataset: 'digits', ...workload },
          world: { ranks: 2 },
          parallelism,
        }),
      ),
    ).toMatchObject({
      ok: false,
      error: {
        code: 'PIPELINE_MISFIT',
        place: 'parallelism.pipeline.splitAfter',
        next: 'Split after one of: layer1, layer2.',
      },
    });
  }

  const { id } = await api.launch(spec);
  const watched: JournalEntry[] = [];
  const { lastSequence, events } = await api.watch(id);
  core.onEvent((event, ...args) => {
    if (event === 'records') watched.push(...(args[1] as readonly JournalEntry[]));
  });
  expect(events.length).toBeLessThanOrEqual(lastSequence);
  await summaryWhere(core, ({ iterations }) => iterations > 5);

  await expect(
    api.order(id, { type: 'switch', change: { method: 'topk', ratio: 5 } }),
  ).rejects.toMatchObject({ kind: 'input' });
  const switched = summaryWhere(core, ({ methods: used }) => used.length === 2);
  const change = { method: 'topk', ratio: 0.05 };
  expect(await api.order(id, { type: 'switch', change })).toMatchObject({
    switch: { epoch: 1, plan: { method: 'topk', parameters: { ratio: 0.05 } } },
  });
  await switched;

  const ended = summaryWhere(core, hasEnded);
  await api.order(id, { type: 'stop' });
  await api.order(id, { type: 'stop' }); // it has ended: nothing to do
  const summary = await ended;
  expect(summary).toMatchObject({ state: 'stopped', methods: ['none', 'topk'] });

  const fresh = watched.filter(({ sequence }) => sequence > lastSequence);
  const detail = await api.run(id);
  expect(fresh.map(({ sequence }) => sequence)).toEqual(
    Array.from(
      { length: detail.lastSequence - lastSequence },
      (_, index) => lastSequence + index + 1,
    ),
  );
  const some = await api.iterations(id, { from: 2, fromRank: 1, to: 4, most: 100 });
  expect(some.entries.map(({ record }) => [record].flat()[0])).toMatchObject(
    [2, 3, 3].map((iteration) => ({ iteration })),
  );
  const bins = await api.bins(id, { from: 0, to: 8, width: 4 });
  expect(bins.starts).toEqual([0, 4]);
  expect(bins.lastSequence).toBe(detail.lastSequence);
  expect((await exported(core, id)).iterations).toHaveLength(summary.iterations * 2);

  await core.close();
  await (await openCore(home)).close();
});

test('an app killed in mid-run loses nothing: the run goes on and is found again', async () => {
  await using home = new GradwireHome();
  const iterations = 40;
  const script = path.join(import.meta.dirname, 'app-process.ts');
  const app = spawn(process.execPath, [script, home.directory, String(iterations)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(app.stdout, 'data')) as [Buffer];
  const id = line.toString().trim();
  app.kill('SIGKILL');
  await once(app, 'close');

  const core = await openCore(home);
  const found = await core.api.run(id);
  const summary = hasEnded(found) ? found : await summaryWhere(core, hasEnded);
  expect(summary).toMatchObject({ state: 'completed', iterations });
  const range = { from: 0, to: iterations, most: iterations * 2 };
  const { entries: records } = await core.api.iterations(id, range);
  expect(records).toHaveLength(iterations * 2);
  const { events, lastSequence } = await core.api.run(id);
  const { buckets, utilisation } = await exported(core, id);
  expect(buckets.length).toBeGreaterThan(0);
  const others = events.length + buckets.length + utilisation.length;
  expect(records.length + others).toBe(lastSequence);
  await core.close();
});

test('a run that a command launches shows up in the app', async () => {
  await using home = new GradwireHome();
  const core = await openCore(home);
  const seen = summaryWhere(core, hasEnded);
  const { code } = await home.run([
    'run',
    'digits-topk',
    '--set',
    'world.ranks=2',
    '--set',
    'iterations=1',
  ]);
  expect(code).toBe(0);
  expect(await seen).toMatchObject({ state: 'completed', iterations: 1 });
  await core.close();
});

test(
  'a run is found although its launcher writes nothing once it has begun',
  { tags: 'soak' },
  async () => {
    await using home = new GradwireHome();
    const { socket, database } = resolveHome({ GRADWIRE_HOME: home.directory });
    let asked = Promise.withResolvers<null>();
    const subscribed = Promise.withResolvers<unknown>();
    const script: Script = {
      runs: [],
      answer: ({ method, body }) => {
        if (method === 'runs') asked.resolve(null);
        if (method !== 'subscribe') return undefined;
        subscribed.resolve(body);
        return { lastSequence: 0 };
      },
    };
    const supervisor = await ScriptedSupervisor.listen(socket, script);
    const core = await openCore(home);
    await asked.promise; // what goes on already
    asked = Promise.withResolvers();
    const launcher = RunStore.open(database);
    const launched = parseExperimentSpec(spec);
    launcher.create({
      id: 'r',
      spec: launched,
      switches: [],
      createdAt: 1,
      launcher: ownName(),
    });
    await asked.promise;
    expect((await core.api.run('r')).state).toBe('starting');
    script.runs = [
      { run: 'r', phase: 'running', spec: launched, lastSequence: 0, createdAt: 1 },
    ];
    expect(await subscribed.promise).toMatchObject({ run: 'r', after: 0 });
    launcher.close();
    await core.close();
    await supervisor.close();
  },
);

test('a run whose launcher ended before it began has failed', async () => {
  await using home = new GradwireHome();
  const { socket, database } = resolveHome({ GRADWIRE_HOME: home.directory });
  const supervisor = await ScriptedSupervisor.listen(socket, { runs: [] });
  const core = await openCore(home);
  const lost = summaryWhere(core, hasEnded);
  const store = RunStore.open(database);
  const ended = spawn(process.execPath, ['-e', '']);
  await once(ended, 'close');
  store.create({
    id: 'r',
    spec: parseExperimentSpec(spec),
    switches: [],
    createdAt: 1,
    launcher: String(ended.pid),
  });
  expect(await lost).toMatchObject({ state: 'failed', error: { code: 'RUN_LOST' } });
  store.close();
  await core.close();
  await supervisor.close();
});

test('what another process has changed is told, though one of the looks at it fails', async () => {
  await using home = new GradwireHome();
  const core = await openCore(home);
  const other = RunStore.open(resolveHome({ GRADWIRE_HOME: home.directory }).database);
  const told = new Set<string>();
  const notices: string[] = [];
  core.onEvent((event, ...args) => {
    told.add(event);
    if (event === 'notice') notices.push((args[0] as ErrorData).message);
  });
  const look = vi.spyOn(HistoryWatch.prototype, 'look').mockImplementationOnce(() => {
    throw new Error('the disk is away');
  });
  try {
    other.settings.set('units.bytes', 'binary');
    await vi.waitFor(() => {
      expect(told).toContain('settingsChanged');
    }, 5000);
    expect(look).toHaveBeenCalled();
    expect(notices).toContainEqual(expect.stringContaining('the disk is away'));
  } finally {
    look.mockRestore();
    other.close();
    await core.close();
  }
});

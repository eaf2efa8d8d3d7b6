import { expect, test } from 'vitest';
import { EventOutbox } from '../../../src/main/app/event-outbox.ts';
import { failure } from '../../../src/shared/errors/errors.ts';
import type { ToldAlert } from '../../../src/shared/alerts/told-alert.ts';
import type { CatchUp } from '../../../src/shared/records/catch-up.ts';
import type { RunSummary } from '../../../src/shared/rpc/run-summary.ts';
import { entries, iterationRecord } from './sample-records.ts';

const summary = (iterations: number): RunSummary => ({
  id: 'r',
  name: 'r',
  state: 'running',
  createdAt: 0,
  iterations,
  iterationsPlanned: 10,
  ranks: 1,
  nodes: ['this-computer'],
  model: 'm',
  dataset: 'd',
  methods: ['none'],
  deleted: false,
});

const quiet = {
  alerts: (): readonly ToldAlert[] => [],
  nodes: () => [],
  nodeChanged: () => undefined,
};

function listening(nodes = quiet.nodes) {
  const outbox = new EventOutbox({ ...quiet, nodes });
  const heard: unknown[][] = [];
  outbox.listen((event, ...args) => {
    heard.push([event, ...args]);
  });
  return { outbox, heard };
}

test('gathers records of a watched run, then says how the run is', () => {
  const { outbox, heard } = listening();
  const all = entries([iterationRecord(0, 0), iterationRecord(1, 0)]);
  outbox.watch('r');
  outbox.changed(summary(1));
  outbox.records('r', all.slice(0, 1));
  outbox.changed(summary(2));
  outbox.records('r', all.slice(1));
  expect(heard).toEqual([]);
  outbox.close();
  expect(heard).toEqual([
    ['records', 'r', all],
    ['runChanged', summary(2)],
    // The run is live, which machines show.
    ['nodesChanged', []],
  ]);
});

test('says nothing of runs that are not watched, and nothing after its end', () => {
  const { outbox, heard } = listening();
  const some = entries([iterationRecord(0, 0)]);
  outbox.records('r', some);
  outbox.watch('r');
  outbox.records('r', some);
  outbox.unwatch('r');
  outbox.close();
  outbox.changed(summary(1));
  outbox.close();
  expect(heard.filter(([event]) => event === 'records')).toEqual([]);
});

test('alerts are told at once', () => {
  const alert: ToldAlert = {
    run: 'r',
    name: 'r',
    rule: 'long-wait',
    title: 'Long wait',
    message: 'rank 1 waits',
    at: '',
  };
  const outbox = new EventOutbox({
    ...quiet,
    alerts: ({ iterations }) => (iterations === 1 ? [alert] : []),
  });
  const heard: unknown[] = [];
  outbox.listen((event, ...args) => {
    heard.push([event, ...args]);
  });
  outbox.changed(summary(0));
  outbox.changed(summary(1));
  expect(heard).toEqual([['alert', alert]]);
  outbox.close();
});

test('a burst is pushed soon, as one', async () => {
  const outbox = new EventOutbox(quiet);
  const told = Promise.withResolvers<unknown[]>();
  outbox.listen((event, ...args) => {
    told.resolve([event, ...args]);
  });
  for (let n = 0; n < 100; n++) outbox.changed(summary(n));
  expect(await told.promise).toEqual(['runChanged', summary(99)]);
});

test('machines that cannot be read are a notice', () => {
  const { outbox, heard } = listening(() => {
    throw failure('DATABASE_CORRUPT', 'the run history is damaged');
  });
  outbox.nodesChanged();
  outbox.changed(summary(1));
  outbox.close();
  expect(heard).toEqual([
    ['runChanged', summary(1)],
    ['notice', expect.objectContaining({ code: 'DATABASE_CORRUPT' })],
  ]);
});

test('keeps the newest notices until a page is open', () => {
  const outbox = new EventOutbox(quiet);
  const notice = (code: string) => ({ code, kind: 'failure' as const, message: code });
  for (let i = 0; i < 60; i++) outbox.notice(notice(`N${i}`));
  const heard: unknown[] = [];
  outbox.listen((event, ...args) => heard.push([event, ...args]));
  expect(outbox.takeNotices().map(({ code }) => code)).toEqual(
    Array.from({ length: 50 }, (_, i) => `N${i + 10}`),
  );
  expect(outbox.takeNotices()).toEqual([]);
  outbox.notice(notice('now'));
  expect(heard).toEqual([['notice', notice('now')]]);
  expect(outbox.takeNotices()).toEqual([]);
});

test('keeps what a page must see although the app itself listens', () => {
  const outbox = new EventOutbox(quiet);
  const observed: unknown[][] = [];
  const stop = outbox.observe((event, ...args) => {
    observed.push([event, ...args]);
  });
  const notice = { code: 'X', kind: 'failure' as const, message: 'm' };
  const catchUp = { run: 'r' } as CatchUp;
  outbox.notice(notice);
  outbox.caughtUp(catchUp);
  expect(observed).toEqual([
    ['notice', notice],
    ['caughtUp', catchUp],
  ]);
  stop();
  expect(outbox.takeNotices()).toEqual([notice]);
  expect(outbox.takeCatchUps()).toEqual([catchUp]);
});

/** Settings and alerts as pages are told of them. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { EventOutbox } from '../../../src/main/app/event-outbox.ts';
import { SettingsDesk } from '../../../src/main/app/settings-desk.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import type { AlertRecord } from '../../../src/shared/records/alert.ts';
import { entries, iterationRecord, sampleSpec } from './sample-records.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-settings-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

function openDesk() {
  const store = RunStore.open(path.join(directory, 'gradwire.db'));
  const outbox = new EventOutbox({
    summary: (run) => store.summary(run),
    nodes: () => [],
    nodeChanged: () => undefined,
  });
  const heard: (readonly [string, ...unknown[]])[] = [];
  outbox.listen((event, ...args) => {
    heard.push([event, ...args]);
  });
  return { store, outbox, heard, desk: new SettingsDesk(store, outbox) };
}

test('pages hear of a change once, whoever made it', async () => {
  const { desk, heard, store } = openDesk();
  await desk.api.changeSetting('alerts.long-wait.percent', 35);
  desk.look();
  // As a command does, in another process.
  store.settings.set('alerts.long-wait.percent', undefined);
  desk.look();
  expect(heard).toMatchObject([
    [
      'settingsChanged',
      {
        values: { 'alerts.long-wait.percent': 35 },
        changed: ['alerts.long-wait.percent'],
      },
    ],
    ['settingsChanged', { values: { 'alerts.long-wait.percent': 50 }, changed: [] }],
  ]);
  await expect(
    desk.api.changeSetting('alerts.long-wait.percent', 101),
  ).rejects.toMatchObject({ code: 'SETTING_INVALID' });
  desk.close();
  store.close();
});

test('pages hear of raised alerts alone, and of a run that failed without a record', () => {
  const { desk, heard, outbox, store } = openDesk();
  store.create({ id: 'r', spec: sampleSpec(), switches: [], createdAt: 1 });
  const alert = (phase: AlertRecord['phase']): AlertRecord => ({
    type: 'alert',
    at: 0,
    rule: 'long-wait',
    title: 'Long wait',
    phase,
    message: 'rank 1 waits',
  });
  outbox.records('r', entries([iterationRecord(0, 0), alert('raised'), alert('over')]));
  store.fail('r', { code: 'X', kind: 'failure', message: 'gone' }, 5);
  desk.close();
  store.fail('r', { code: 'X', kind: 'failure', message: 'again' }, 6);
  const at = new Date(0).toISOString();
  expect(heard).toMatchObject([
    ['alert', { run: 'r', name: 'sample', rule: 'long-wait', at }],
    ['alert', { run: 'r', rule: 'run-failed', message: 'gone' }],
  ]);
  store.close();
});

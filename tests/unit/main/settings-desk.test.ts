/** Settings as pages are told of them. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { EventOutbox } from '../../../src/main/app/event-outbox.ts';
import { SettingsDesk } from '../../../src/main/app/settings-desk.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';

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
    alerts: () => [],
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

test('a change that a page has read and that is taken back is told', async () => {
  const { desk, heard, store } = openDesk();
  const key = 'alerts.long-wait.percent';
  await desk.api.settings();
  // As a command does, in another process.
  store.settings.set(key, 35);
  expect((await desk.api.settings()).values[key]).toBe(35);
  heard.length = 0;
  store.settings.set(key, undefined);
  desk.look();
  expect(heard).toMatchObject([['settingsChanged', { values: { [key]: 50 } }]]);
  desk.close();
  store.close();
});

/** Alerts told to real commands and a real webhook on this computer. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AlertDelivery } from '../../../src/main/alerts/alert-delivery.ts';
import type { AlertListener } from '../../../src/main/store/run-alerts.ts';
import type { ErrorData } from '../../../src/shared/errors/errors.ts';
import type { AlertRecord } from '../../../src/shared/records/alert.ts';
import type { RunSummary } from '../../../src/shared/rpc/run-summary.ts';
import { DEFAULT_SETTINGS } from '../../../src/shared/settings/settings.ts';

let directory: string;
let server: Server;
let address: string;
let status = 200;
const bodies: string[] = [];
const errors: ErrorData[] = [];

beforeEach(async () => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-alerts-'));
  bodies.length = 0;
  errors.length = 0;
  status = 200;
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      bodies.push(body);
      response.writeHead(status, { location: `${address}elsewhere` }).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterEach(() => {
  server.close();
  rmSync(directory, { recursive: true });
});

const alert = (phase: AlertRecord['phase'], message = 'rank 1 waits'): AlertRecord => ({
  type: 'alert',
  at: 0,
  rule: 'long-wait',
  title: 'Long wait',
  phase,
  message,
});
const summary = { id: 'r1', name: '"; touch harm; $(id)' } as RunSummary;

type Given = Readonly<Record<string, string>>;

/** @param later settings from the second alert on; default: the same */
async function deliver(
  settings: Given,
  alerts: readonly AlertRecord[],
  later: Given = settings,
): Promise<void> {
  let told = 0;
  let listener: AlertListener = () => undefined;
  const delivery = new AlertDelivery({
    alerts: {
      listen: (added) => {
        listener = added;
        return () => undefined;
      },
    },
    settings: () => ({ ...DEFAULT_SETTINGS, ...(told++ === 0 ? settings : later) }),
    failed: (error) => errors.push(error),
  });
  for (const one of alerts) listener(summary, [{ alert: one, isRecorded: false }]);
  await delivery.close();
}

describe.skipIf(process.platform === 'win32')('a command', () => {
  test('reads each raised alert from its standard input, whatever a run is called', async () => {
    const file = path.join(directory, 'told');
    await deliver({ 'notify.command': `cd '${directory}'; cat >> '${file}'` }, [
      alert('raised', '$(touch harm)'),
      alert('over'),
      alert('raised'),
    ]);
    const told = readFileSync(file, 'utf8').trim().split('\n');
    expect(told.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      {
        run: 'r1',
        name: summary.name,
        message: '$(touch harm)',
        at: '1970-01-01T00:00:00.000Z',
      },
      { message: 'rank 1 waits' },
    ]);
    expect(() => readFileSync(path.join(directory, 'harm'))).toThrow('ENOENT');
    expect(errors).toEqual([]);
  });

  test('that fails is told of once, with the end of what it said', async () => {
    const command = 'echo it is broken >&2; exit 4';
    await deliver({ 'notify.command': command }, [alert('raised'), alert('raised')]);
    expect(errors).toMatchObject([
      {
        code: 'ALERT_NOT_DELIVERED',
        message: 'the command for alerts ended with 4: it is broken',
        place: 'notify.command',
      },
    ]);
  });

  test('in place of one that failed is told of as well', async () => {
    const alerts = [alert('raised'), alert('raised'), alert('raised')];
    const later = { 'notify.command': 'exit 5' };
    await deliver({ 'notify.command': 'exit 4' }, alerts, later);
    expect(errors.map(({ message }) => message)).toEqual([
      'the command for alerts ended with 4',
      'the command for alerts ended with 5',
    ]);
  });

  test('may read nothing, and leave something behind', async () => {
    await deliver({ 'notify.command': 'sleep 5 >/dev/null & exec true' }, [
      alert('raised'),
    ]);
    expect(errors).toEqual([]);
  });
});

describe('a webhook', () => {
  test('gets the alert as the body of a POST', async () => {
    await deliver({ 'notify.webhook': address }, [alert('raised')]);
    expect(bodies.map((body) => JSON.parse(body) as unknown)).toMatchObject([
      { run: 'r1', rule: 'long-wait', title: 'Long wait' },
    ]);
  });

  test.each([404, 302])(
    'that answers with %i has failed, and its path is not told',
    async (code) => {
      status = code;
      await deliver({ 'notify.webhook': `${address}secret` }, [alert('raised')]);
      expect(bodies).toHaveLength(1);
      expect(errors).toMatchObject([
        { code: 'ALERT_NOT_DELIVERED', place: 'notify.webhook' },
      ]);
      expect(errors[0]!.message).not.toContain('secret');
    },
  );

  test('that nobody answers has failed', async () => {
    const gone = address;
    server.close();
    await deliver({ 'notify.webhook': gone }, [alert('raised')]);
    expect(errors).toMatchObject([
      { message: expect.stringContaining('ECONNREFUSED') as string },
    ]);
  });
});

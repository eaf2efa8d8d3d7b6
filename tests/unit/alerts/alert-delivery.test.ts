/** Alerts told to real commands and a real webhook on this computer. */
import { once } from 'node:events';
import { createServer, request as httpRequest, type Server } from 'node:http';
import {
  connect,
  createServer as createTcpServer,
  type AddressInfo,
  type Socket,
} from 'node:net';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AlertDelivery } from '../../../src/main/alerts/alert-delivery.ts';
import { postAlert } from '../../../src/main/alerts/post-alert.ts';
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
  // A proxy of this computer is none of the tests'.
  vi.stubEnv('no_proxy', '*');
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
  vi.unstubAllEnvs();
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

  describe('behind a proxy', () => {
    /** The addresses that the proxy was asked for; whatever that is, it leads to the server. */
    const asked: string[] = [];
    const proxy = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      const { headers, method } = request;
      const forward = httpRequest(address, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      });
      request.pipe(forward);
    });
    proxy.on('connect', ({ url }, socket) => {
      asked.push(`CONNECT ${url}`);
      const onward = connect(Number(new URL(address).port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        onward.pipe(socket).pipe(onward);
      });
      for (const end of [onward, socket]) {
        end.on('error', () => {
          onward.destroy();
          socket.destroy();
        });
      }
    });
    beforeEach(async () => {
      asked.length = 0;
      proxy.listen(0, '127.0.0.1');
      await once(proxy, 'listening');
      const { port } = proxy.address() as AddressInfo;
      vi.stubEnv('no_proxy', 'direct.invalid');
      vi.stubEnv('http_proxy', `http://127.0.0.1:${port}`);
    });
    afterEach(() => {
      proxy.close();
    });

    test('is reached through it', async () => {
      await deliver({ 'notify.webhook': 'http://hook.invalid/' }, [alert('raised')]);
      expect(errors).toEqual([]);
      expect(bodies).toHaveLength(1);
      expect(asked).toEqual([expect.stringContaining('hook.invalid')]);
    });

    test('is not redirected by it', async () => {
      status = 302;
      await deliver({ 'notify.webhook': 'http://hook.invalid/' }, [alert('raised')]);
      expect(bodies).toHaveLength(1);
      expect(errors).toMatchObject([{ code: 'ALERT_NOT_DELIVERED' }]);
    });

    test('is not asked for through it where NO_PROXY has its host', async () => {
      const hook = 'http://direct.invalid/';
      await deliver({ 'notify.webhook': hook }, [alert('raised')]);
      expect(asked).toEqual([]);
      expect(errors).toMatchObject([{ code: 'ALERT_NOT_DELIVERED' }]);
    });

    test('is given up when the proxy says nothing for too long', async () => {
      await using silent = createTcpServer().listen(0, '127.0.0.1');
      const taken: Socket[] = [];
      silent.on('connection', (socket) => taken.push(socket));
      await once(silent, 'listening');
      const { port } = silent.address() as AddressInfo;
      vi.stubEnv('http_proxy', `http://127.0.0.1:${port}`);
      const limit = AbortSignal.timeout(300);
      await expect(postAlert('http://hook.invalid/', '{}', limit)).rejects.toThrow(
        'the webhook at hook.invalid took longer than 10 s',
      );
      for (const socket of taken) socket.destroy();
    });

    test('is not reached where the proxy is no URL', async () => {
      vi.stubEnv('http_proxy', 'http://');
      await deliver({ 'notify.webhook': address }, [alert('raised')]);
      expect(errors).toMatchObject([{ code: 'PROXY_INVALID' }]);
    });
  });

  test('that nobody answers has failed', async () => {
    const gone = address;
    server.close();
    await deliver({ 'notify.webhook': gone }, [alert('raised')]);
    expect(errors).toMatchObject([
      { message: expect.stringContaining('ECONNREFUSED') as string },
    ]);
  });
});

/** Public data sets in the form: fetched from a mirror of one's own, cancelled, taken. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AppPage } from '../harness/app-page.ts';
import { realDataWith } from '../harness/real-data.ts';

const real = realDataWith('tinyshakespeare.txt');
/** What the mirror sends at first of a file; then it waits. */
const FIRST = 300_000;

describe.skipIf(real === undefined)('public data sets', () => {
  let app: AppPage;
  let mirror: Server;
  const asked: string[] = [];
  beforeAll(async () => {
    const text = readFileSync(path.join(real!, 'tinyshakespeare.txt'));
    mirror = createServer((request, response) => {
      const { range = '' } = request.headers;
      asked.push(`${request.url} ${range}`);
      if (request.url !== '/tiny-shakespeare/input.txt') {
        response.writeHead(404).end();
        return;
      }
      if (range === '') {
        response.writeHead(200, { 'content-length': text.length });
        response.write(text.subarray(0, FIRST));
        return;
      }
      const from = Number(/\d+/.exec(range)![0]);
      response.writeHead(206, {
        'content-range': `bytes ${from}-${text.length - 1}/${text.length}`,
      });
      response.end(text.subarray(from));
    });
    mirror.listen(0, '127.0.0.1');
    await once(mirror, 'listening');
    const { port } = mirror.address() as AddressInfo;
    app = await AppPage.open({
      environment: { GRADWIRE_DATA_MIRROR: `http://127.0.0.1:${port}` },
    });
    await app.go('New experiment');
    await app.part('field-workload.dataset').waitFor();
  });
  afterAll(async () => {
    await app?.[Symbol.asyncDispose]();
    mirror.closeAllConnections();
    mirror.close();
    await once(mirror, 'close');
  });

  const choose = async (dataset: string): Promise<void> => {
    await app.part('field-workload.dataset').selectOption(dataset);
  };

  test('are offered for the data set that can be trained on them', async () => {
    expect(await app.part('data-offers').count()).toBe(0);
    await choose('mnist');
    await app.part('data-mnist').filter({ hasText: '11.6 MB' }).waitFor();
    await app.part('data-fashion-mnist').waitFor();
    expect(await app.part('data-cifar-10').count()).toBe(0);
    expect(await app.obstacles()).toEqual([]);
  });

  test('say why they cannot be had, and what to put where', async () => {
    await app.part('fetch-mnist').click();
    const error = app.part('error-mnist');
    await error.filter({ hasText: 'HTTP 404' }).waitFor();
    expect(await error.innerText()).toContain('yourself into');
    expect(await app.obstacles()).toEqual([]);
  });

  test('are fetched with a bar, cancelled, gone on with, and taken', async () => {
    await choose('text-characters');
    await app.part('fetch-tiny-shakespeare').click();
    await app.part('data-tiny-shakespeare').filter({ hasText: '27 %' }).waitFor();
    expect(await app.obstacles()).toEqual([]);
    await app.part('cancel-tiny-shakespeare').click();
    await app.part('fetch-tiny-shakespeare').click();
    await app.part('use-tiny-shakespeare').click();
    await app.part('data-tiny-shakespeare').filter({ hasText: 'in use' }).waitFor();
    const place = path.join(app.home.directory, 'data/tiny-shakespeare/input.txt');
    expect(await app.part('field-workload.data').inputValue()).toBe(place);
    expect(asked.filter((one) => one.includes('input.txt'))).toEqual([
      '/tiny-shakespeare/input.txt ',
      `/tiny-shakespeare/input.txt bytes=${FIRST}-`,
    ]);
    expect(app.errors).toEqual([]);
  });
});

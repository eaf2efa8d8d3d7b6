/** The window's protocol: the same files and headers as the server gives, no others. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { answerAppRequests } from '../../../src/main/electron/app-protocol.ts';

let directory: string;
let answer: ReturnType<typeof answerAppRequests>;

beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'gradwire-app-'));
  const renderer = path.join(directory, 'renderer');
  await mkdir(renderer);
  await writeFile(path.join(renderer, 'index.html'), '<p>page</p>');
  await writeFile(path.join(directory, 'secret.html'), 'secret');
  answer = answerAppRequests(renderer);
});
afterAll(() => rm(directory, { recursive: true }));

it.each(['app://gradwire/', 'app://gradwire/index.html', 'app://gradwire/?x#/runs'])(
  'gives the page at %s',
  async (url) => {
    const response = await answer(new Request(url));
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('<p>page</p>');
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; .*connect-src 'self';/,
    );
  },
);

it.each([
  ['app://gradwire/gone.js', 'GET'],
  ['app://gradwire/../secret.html', 'GET'],
  ['app://gradwire/%2e%2e/secret.html', 'GET'],
  ['app://gradwire/..%2fsecret.html', 'GET'],
  ['app://elsewhere/', 'GET'],
  ['app://user@gradwire/', 'GET'],
  ['app://gradwire/', 'POST'],
])('has nothing at %s for %s', async (url, method) => {
  // A Request refuses credentials in its URL; Electron would hand it over.
  const request = url.includes('@')
    ? ({ url, method } as Request)
    : new Request(url, { method });
  const response = await answer(request);
  expect(response.status).toBe(404);
  expect(await response.text()).not.toContain('secret');
  expect(response.headers.get('content-security-policy')).toContain('default-src');
});

/** `gradwire data`: what is there, what is fetched, and what somebody offline is told. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { realDataWith } from '../../harness/real-data.ts';

const home = new GradwireHome();
afterAll(() => home[Symbol.asyncDispose]());

interface Listed {
  readonly id: string;
  readonly bytes: number;
  readonly data?: string;
}

async function listed(): Promise<readonly Listed[]> {
  const { stdout } = succeeded(await home.run(['data', 'list', '--json']));
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Listed);
}

test('data sets are listed with their sizes', async () => {
  const sets = await listed();
  expect(sets.find(({ id }) => id === 'mnist')).toMatchObject({ bytes: 11_594_722 });
  expect(sets.every(({ data }) => data === undefined)).toBe(true);
  const { stdout } = succeeded(await home.run(['data', 'list']));
  expect(stdout).toMatch(/^tiny-shakespeare +1\.12 MB +Tiny Shakespeare/m);
});

test('an offline user is told which files to put where', async () => {
  const nowhere = createServer();
  nowhere.listen(0, '127.0.0.1');
  await once(nowhere, 'listening');
  const { port } = nowhere.address() as AddressInfo;
  nowhere.close();
  await once(nowhere, 'close');
  const { code, stderr, stdout } = await home.run([
    ...['data', 'fetch', 'cifar-10', '--from', `http://127.0.0.1:${port}`],
  ]);
  expect(code).toBe(1);
  expect(stdout).toBe('');
  const where = path.join(home.directory, 'data', 'cifar-10');
  expect(stderr).toContain('FETCH_FAILED');
  expect(stderr).toContain(`http://127.0.0.1:${port}/cifar-10-binary.tar.gz: connect`);
  expect(stderr).toContain(`download cifar-10-binary.tar.gz yourself into ${where}`);
});

test.each([
  [['data', 'fetch', 'minst'], /DATA_SET_UNKNOWN.*mnist, fashion-mnist/],
  [['data', 'fetch', 'mnist', '--from', 'ftp://a/'], /USAGE.*http or https URL/],
  [
    ['data', 'fetch', 'mnist', '--from', 'ftp://me:secret@a/'],
    /^(?!.*secret).*USAGE.*http or https URL/,
  ],
  [['data', 'fetch'], /USAGE.*missing required argument/],
])('%j is wrong', async (args, expected) => {
  const { code, stderr } = await home.run(args);
  expect(code).toBe(2);
  expect(stderr).toMatch(expected);
});

const real = realDataWith('tinyshakespeare.txt');

describe.skipIf(real === undefined)('a real text', () => {
  let server: Server;
  let asked = 0;
  beforeAll(async () => {
    server = createServer((_request, response) => {
      asked++;
      response.end(readFileSync(path.join(real!, 'tinyshakespeare.txt')));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(async () => {
    server.close();
    await once(server, 'close');
  });

  it(
    'is fetched, checked and trained on as the command says',
    { tags: 'soak' },
    async () => {
      const from = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mirror`;
      const fetch = ['data', 'fetch', 'tiny-shakespeare', '--from', from];
      const { stderr, stdout } = succeeded(await home.run(fetch));
      expect(stderr).toContain('input.txt: 0 B of 1.12 MB downloaded');
      expect(stdout).toContain('1.12 MB fetched, all checksums match');
      const place = path.join(home.directory, 'data', 'tiny-shakespeare', 'input.txt');
      const said = /^train on it: gradwire (.*)$/m.exec(stdout)![1]!;
      expect(said).toContain(`workload.data=${place}`);
      const short = [
        ...['iterations=1', 'evaluateEvery=0', 'world.ranks=1'],
        'workload.batchPerRank=2',
      ];
      succeeded(
        await home.run([
          ...said.split(' '),
          ...short.flatMap((setting) => ['--set', setting]),
        ]),
      );

      expect((await listed()).find(({ data }) => data === place)).toBeDefined();
      const again = succeeded(await home.run([...fetch, '--json']));
      expect(JSON.parse(again.stdout)).toEqual({
        id: 'tiny-shakespeare',
        data: place,
        fetched: 0,
      });
      expect(asked).toBe(1);
    },
  );
});

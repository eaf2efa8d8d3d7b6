/** The process that computes with PyTorch, where it cannot: it says so, and leaves nothing behind. */
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { TorchProcess } from '../../../src/agent/torch/torch-process.ts';
import { until } from '../../harness/processes.ts';
import { pytorch } from '../../harness/python.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'gradwire-test-python-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const start = (python: string): Promise<TorchProcess> =>
  TorchProcess.start({
    python,
    rank: 3,
    threads: 1,
    rankOnMachine: { place: 0, ranks: 1, share: false },
  });

/** Sockets of ranks, by the name of their directory. */
const bridges = (): readonly string[] =>
  readdirSync(tmpdir()).filter((name) => /^gradwire-[0-9a-f]{16}$/.test(name));

test('where there is no such Python', async () => {
  const before = bridges();
  await expect(start('/no/such/python')).rejects.toMatchObject({
    code: 'BACKEND_UNAVAILABLE',
    message: expect.stringMatching(/^\/no\/such\/python cannot .* not found/),
    rank: 3,
  });
  expect(bridges().filter((name) => !before.includes(name))).toEqual([]);
});

describe.skipIf(pytorch === undefined)('a Python', () => {
  test('without PyTorch', async () => {
    const bare = path.join(folder, 'bare-python');
    // Without `site` it does not find what is installed.
    writeFileSync(bare, `#!/bin/sh\nexec ${pytorch!} -S "$@"\n`);
    chmodSync(bare, 0o700);
    await expect(start(bare)).rejects.toMatchObject({
      code: 'BACKEND_UNAVAILABLE',
      message: expect.stringContaining("No module named 'torch'"),
    });
  });

  test('that says something else, which is no message', async () => {
    const other = path.join(folder, 'other-python');
    const said = 'import os, socket; s = socket.socket(socket.AF_UNIX); ';
    const sends =
      's.connect(os.environ["GRADWIRE_BRIDGE"]); s.sendall(b"\\x02\\0\\0\\0{}"); s.recv(1)';
    writeFileSync(other, `#!/bin/sh\nexec ${pytorch!} -S -c '${said}${sends}'\n`);
    chmodSync(other, 0o700);
    const before = bridges();
    await expect(start(other)).rejects.toMatchObject({ code: 'BRIDGE_INVALID' });
    await until(
      () => bridges().filter((name) => !before.includes(name)),
      (left) => left.length === 0,
      'the socket to be removed',
    );
  });
});

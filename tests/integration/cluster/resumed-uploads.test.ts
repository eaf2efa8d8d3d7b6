/** Uploads that were cut or cancelled go on from there, whoever else is uploading. */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../../harness/processes.ts';
import { homeOfFile, Machine } from './machine.ts';

const home = homeOfFile();

const incoming = (machine: Machine): string => path.join(machine.base, 'incoming');
const remainsAt = (machine: Machine): readonly string[] =>
  readdirSync(incoming(machine)).map((name) => path.join(incoming(machine), name));

const STOPS_AT = 1_000_000;

/** Where `cat` is this: it takes the first bytes, and the rest once there is a file. */
async function slowCat(machine: Machine): Promise<{ readonly go: string }> {
  const go = path.join(machine.server.home, 'go');
  const lines = [
    ...['#!/bin/sh', `head -c ${STOPS_AT}`],
    // A shell whose connection was cut goes on waiting: it ends with the machine's home.
    ...[`while [ -d "$HOME" ] && [ ! -e ${go} ]; do sleep 0.1; done`, 'exec /bin/cat'],
  ];
  mkdirSync(path.dirname(catOf(machine)), { recursive: true });
  await writeFile(catOf(machine), lines.join('\n'), { mode: 0o755 });
  return { go };
}

const catOf = (machine: Machine): string =>
  path.join(machine.server.home, 'bin', 'cat');

const started = (): Promise<Machine> =>
  Machine.start(home(), { shellStart: 'PATH=$HOME/bin:$PATH' });

/** Resolves when a file there has `bytes` bytes. */
const standsStill = (machine: Machine, bytes: number): Promise<readonly string[]> =>
  until(
    () => (existsSync(incoming(machine)) ? remainsAt(machine) : []),
    (files) => files.some((file) => statSync(file).size === bytes),
    'the upload to stand still',
  );

/** Deploys until some of the agent is there, cuts the connection. @returns what is left */
async function cut(machine: Machine): Promise<string> {
  await slowCat(machine);
  const deployed = expect(machine.node.deploy()).rejects.toMatchObject({
    code: 'SSH_CONNECTION_LOST',
  });
  await standsStill(machine, STOPS_AT);
  await machine.server.cutSessions();
  await deployed;
  rmSync(catOf(machine));
  const [file, ...others] = remainsAt(machine);
  expect(others).toEqual([]);
  return file!;
}

/** Deploys. @returns the steps of the agent's upload, and what was sent */
async function deploy(machine: Machine) {
  const done: number[] = [];
  let total = 0;
  const watched = machine.another((_, progress) => {
    if (progress?.step !== 'upload') return;
    done.push(progress.doneBytes!);
    total = progress.totalBytes!;
  });
  const { uploaded } = await watched.deploy();
  return { done, total, uploaded };
}

const whole = async (machine: Machine): Promise<boolean> => {
  const { uploaded } = await machine.node.deploy();
  return uploaded === 0;
};

test('what is there already is not sent again, and nothing is left', async () => {
  await using machine = await started();
  await cut(machine);
  const { done, total, uploaded } = await deploy(machine);
  expect(uploaded).toBe(total - STOPS_AT);
  expect(Math.min(...done.filter((count) => count > 0))).toBeGreaterThan(STOPS_AT);
  expect(remainsAt(machine)).toEqual([]);
  expect(await whole(machine)).toBe(true);
});

test('what a cancelled upload sent is not sent again; cancellations leave one file', async () => {
  await using machine = await started();
  await slowCat(machine);
  for (let attempt = 1; attempt <= 2; attempt++) {
    const controller = new AbortController();
    const deployed = machine.node.deploy({ signal: controller.signal });
    const cancelled = expect(deployed).rejects.toMatchObject({ code: 'ABORTED' });
    await standsStill(machine, attempt * STOPS_AT);
    controller.abort();
    await cancelled;
    expect(remainsAt(machine)).toHaveLength(1);
  }
  rmSync(catOf(machine));
  const { total, uploaded } = await deploy(machine);
  expect(uploaded).toBe(total - 2 * STOPS_AT);
  expect(remainsAt(machine)).toEqual([]);
  expect(await whole(machine)).toBe(true);
});

test(
  'a cancellation while remains are being copied leaves one file',
  { tags: 'soak' },
  async () => {
    await using machine = await started();
    const file = await cut(machine);
    const cp = path.join(path.dirname(catOf(machine)), 'cp');
    const lines = ['#!/bin/sh', 'head -c 1000 "$1" > "$2"'];
    lines.push('while [ -d "$HOME" ]; do sleep 0.1; done');
    await writeFile(cp, lines.join('\n'), { mode: 0o755 });
    const controller = new AbortController();
    const deployed = machine.node.deploy({ signal: controller.signal });
    const cancelled = expect(deployed).rejects.toMatchObject({ code: 'ABORTED' });
    await standsStill(machine, 1000);
    controller.abort();
    await cancelled;
    expect(remainsAt(machine)).toEqual([file]);
    rmSync(cp);
    const { total, uploaded } = await deploy(machine);
    expect(uploaded).toBe(total - STOPS_AT);
    expect(remainsAt(machine)).toEqual([]);
  },
);

test(
  'the longest remains are taken, of the same bytes only',
  { tags: 'soak' },
  async () => {
    await using machine = await started();
    const file = await cut(machine);
    const name = path.basename(file);
    const sha256 = /^agent-([0-9a-f]{64})\./.exec(name)![1]!;
    const other = name.replace(sha256, 'f'.repeat(64));
    const shorter = name.replace(/\.[0-9a-f]{12}\./, '.000000000000.');
    const content = await readFile(file);
    await writeFile(path.join(incoming(machine), other), 'other'.repeat(2 ** 22));
    await writeFile(path.join(incoming(machine), shorter), content.subarray(0, 1000));
    const { total, uploaded } = await deploy(machine);
    expect(uploaded).toBe(total - STOPS_AT);
    expect(readdirSync(incoming(machine)).toSorted()).toEqual(
      [shorter, other].toSorted(),
    );
    expect(await whole(machine)).toBe(true);
  },
);

test(
  'damaged remains are told once, then all is sent anew',
  { tags: 'soak' },
  async () => {
    await using machine = await started();
    const file = await cut(machine);
    await truncate(file, 0);
    await truncate(file, STOPS_AT);
    await expect(machine.node.deploy()).rejects.toMatchObject({
      code: 'UPLOAD_DAMAGED',
      next: 'Try again.',
    });
    expect(remainsAt(machine)).toEqual([]);
    const { total, uploaded } = await deploy(machine);
    expect(uploaded).toBe(total);
    expect(await whole(machine)).toBe(true);
  },
);

test(
  'an upload that stands still is overtaken by another, and succeeds too',
  { tags: 'soak' },
  async () => {
    await using machine = await started();
    const { go } = await slowCat(machine);
    const first = machine.node.deploy();
    await standsStill(machine, STOPS_AT);
    rmSync(catOf(machine));
    const { total, uploaded } = await deploy(machine);
    expect(uploaded).toBe(total - STOPS_AT);
    await writeFile(go, '');
    await first;
    expect(remainsAt(machine)).toEqual([]);
    expect(await whole(machine)).toBe(true);
  },
);

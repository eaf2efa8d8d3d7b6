/**
 * Ranks on x86_64 and on aarch64: the whole way to a machine of the other processor, and
 * the same weights wherever ranks compute.
 */
import { closeSync, existsSync, openSync, readdirSync, readSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DoneRecord } from '../../src/shared/records/done.ts';
import { Aarch64Machine, aarch64Missing } from '../harness/aarch64.ts';
import { GradwireHome, succeeded } from '../harness/gradwire.ts';
import { until } from '../harness/processes.ts';

const missing = aarch64Missing();

describe.skipIf(missing !== undefined)(
  `a machine with aarch64${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let machine: Aarch64Machine;
    let home: GradwireHome;
    let base: string;
    beforeAll(async () => {
      machine = await Aarch64Machine.start();
      home = new GradwireHome();
      base = path.join(machine.home, '.gradwire');
    }, 3_600_000);
    afterAll(async () => {
      await home[Symbol.asyncDispose]();
      await machine[Symbol.asyncDispose]();
    });

    const nodes = async (...args: string[]): Promise<string> =>
      succeeded(await home.run(['nodes', ...args])).stdout;

    test('is checked', async () => {
      const host = ['--host', '127.0.0.1', '--port', String(machine.port)];
      await nodes('add', 'box', ...host, '--user', 'root', '--identity', machine.key);
      const accept = ['--accept-host-key', machine.fingerprint];
      expect(
        JSON.parse(await nodes('check', 'box', '--json', ...accept)),
      ).toMatchObject({
        machine: 'aarch64',
        libc: 'glibc',
        bringsNode: true,
        missing: [],
        findings: [],
      });
    });

    test('gets Node, koffi and Dawn for its processor', async () => {
      expect(await nodes('deploy', 'box')).toMatch(/uploaded in/);
      const files = readdirSync(base, { recursive: true, encoding: 'utf8' });
      const native = files
        .map((name) => path.join(base, name))
        .filter((file) => elfMachine(file) !== undefined);
      expect(native.map((file) => path.basename(file)).toSorted()).toEqual([
        ...['dawn.node', 'koffi.node', 'node'],
      ]);
      for (const file of native)
        expect([file, elfMachine(file)]).toEqual([file, AARCH64]);
    });

    // With this rate and this length `Math.cos` gives a rate at iteration 155 whose f32 is
    // another one on aarch64 than on x86_64: replicas would differ from there on.
    test('trains to the same weights as this computer, alone and beside it', async () => {
      const settings = [
        ...['world.ranks=2', 'iterations=200', 'transport=native'],
        ...['exchange.collective=ring', 'timeoutSeconds=300'],
        ...['optimizer.schedule=cosine', 'optimizer.lr=0.08347453447401157'],
      ];
      const ends: DoneRecord[] = [];
      for (const places of ['this-computer', 'this-computer, box', 'box']) {
        const command = home.start([
          ...['run', 'quickstart', '--json', '--switch', '180:method=topk,ratio=0.01'],
          ...[...settings, `world.nodes=[${places}]`].flatMap((one) => ['--set', one]),
        ]);
        succeeded(await command.finished);
        const switched = command.records.find((record) => record.type === 'switch');
        expect(switched).toMatchObject({ fence: 180, to: { method: 'topk' } });
        ends.push(command.records.at(-1) as DoneRecord);
      }
      for (const end of ends) expect(end).toMatchObject({ consistent: true });
      expect(new Set(ends.map(({ weights }) => weights)).size).toBe(1);
    });

    test('is left as it was', async () => {
      expect(await nodes('uninstall', 'box')).toBe('box: everything was removed\n');
      await until(
        () => existsSync(base),
        (there) => !there,
        'the agent to be removed',
      );
    });
  },
);

/** EM_AARCH64 of elf.h. */
const AARCH64 = 183;

/** The processor that a file is for; undefined where it is no ELF file. */
function elfMachine(file: string): number | undefined {
  const head = Buffer.alloc(20);
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch {
    return undefined; // a socket
  }
  try {
    if (readSync(descriptor, head, 0, head.length, 0) < head.length) return undefined;
  } catch {
    return undefined; // a directory
  } finally {
    closeSync(descriptor);
  }
  return head.toString('latin1', 0, 4) === '\x7fELF'
    ? head.readUInt16LE(18)
    : undefined;
}

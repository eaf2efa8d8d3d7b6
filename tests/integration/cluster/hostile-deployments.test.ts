/** Deployments to machines that are not as one would wish: cut off, damaged, without room. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { effort } from '../../harness/effort.ts';
import { handlers, homeOfFile, isRoot, Machine, useAndLeave } from './machine.ts';

const home = homeOfFile();

describe('deploying', () => {
  test(
    'a cut in the middle of an upload leaves nothing whole; the next one succeeds',
    { tags: 'soak' },
    async () => {
      await using machine = await Machine.start(home());
      const { node, base, server } = machine;
      let cut: Promise<void> | undefined;
      const watched = machine.another((_, progress) => {
        if ((progress?.doneBytes ?? 0) > 2 ** 20) cut ??= server.cutSessions();
      });
      await expect(watched.deploy()).rejects.toMatchObject({
        code: 'SSH_CONNECTION_LOST',
      });
      await cut;
      const agents = path.join(base, 'agents');
      expect(existsSync(agents) ? readdirSync(agents) : []).toEqual([]);
      expect((await node.deploy()).uploaded).toBeGreaterThan(0);
      expect((await node.deploy()).uploaded).toBe(0);
    },
  );

  const damages: readonly [string, string, string | undefined][] = [
    ['has lost a file', 'attach.js', undefined],
    ['has an empty one', 'supervisor.js', ''],
  ];
  test.each(damages.slice(0, effort({ quick: 1, soak: 2 })))(
    'an agent that %s is replaced',
    async (_, name, content) => {
      await using machine = await Machine.start(home());
      const { agent } = await machine.node.deploy();
      const file = path.join(machine.base, 'agents', agent, name);
      if (content === undefined) rmSync(file);
      else await writeFile(file, content);
      expect((await machine.node.deploy()).uploaded).toBeGreaterThan(0);
      expect(statSync(file).size).toBeGreaterThan(0);
      expect(readdirSync(path.join(machine.base, 'incoming'))).toEqual([]);
      expect((await machine.node.deploy()).uploaded).toBe(0);
      await useAndLeave(machine);
    },
  );

  test('an app’s own home in the same directory stays, and so does a link to it', async () => {
    await using machine = await Machine.start(home());
    const target = path.join(machine.server.directory, 'elsewhere');
    mkdirSync(target);
    symlinkSync(target, machine.base);
    await machine.node.deploy();
    await writeFile(path.join(target, 'gradwire.db'), 'runs');
    expect(await machine.node.uninstall()).toEqual([]);
    expect(readdirSync(machine.base)).toEqual(['gradwire.db']);
  });

  test(
    'an agent whose Node is missing is not sent again',
    { tags: 'soak' },
    async () => {
      await using machine = await Machine.start(home(), {
        shellStart: 'PATH=/nowhere:/usr/bin:/bin',
      });
      const { node, uploaded } = await machine.node.deploy();
      expect(node).toContain('runtimes/');
      rmSync(path.join(machine.base, 'runtimes'), { recursive: true });
      const sent = new Set<string | undefined>();
      const watched = machine.another((_, progress) => {
        if (progress?.step === 'upload') sent.add(progress.package);
      });
      const again = await watched.deploy();
      expect([...sent]).toEqual(['runtime']);
      expect(again.uploaded).toBeLessThan(uploaded);
      expect((await machine.node.deploy()).uploaded).toBe(0);
    },
  );

  test(
    'what no action of the user needs brings no agent: another version’s is used',
    { tags: 'soak' },
    async () => {
      await using machine = await Machine.start(home());
      const agents = path.join(machine.base, 'agents');
      const { agent } = await machine.node.deploy();
      const older = '0'.repeat(agent.length);
      renameSync(path.join(agents, agent), path.join(agents, older));
      const control = await machine.node.ensure(handlers, { interactive: false });
      expect(readdirSync(agents)).toEqual([older]);
      await control.close();
      await machine.node.uninstall();
      await expect(
        machine.node.ensure(handlers, { interactive: false }),
      ).rejects.toMatchObject({ code: 'AGENT_MISSING' });
    },
  );

  test(
    'what somebody is connected to is not uninstalled',
    { tags: 'soak' },
    async () => {
      await using machine = await Machine.start(home());
      const control = await machine.another().ensure(handlers);
      await expect(machine.node.uninstall()).rejects.toMatchObject({
        code: 'NODE_BUSY',
      });
      expect(existsSync(machine.base)).toBe(true);
      await control.close();
      expect(await machine.node.uninstall()).toEqual([]);
    },
  );

  test('two at once both succeed', async () => {
    await using machine = await Machine.start(home());
    const { node, base } = machine;
    const [a, b] = await Promise.all([node.deploy(), machine.another().deploy()]);
    expect(a.agent).toBe(b.agent);
    expect(readdirSync(path.join(base, 'agents'))).toEqual([a.agent]);
    expect(readdirSync(path.join(base, 'incoming'))).toEqual([]);
  });

  test(
    'old packages go, the newest two stay, and one that a supervisor runs',
    { tags: 'soak' },
    async () => {
      await using machine = await Machine.start(home());
      const agents = path.join(machine.base, 'agents');
      const runtimes = path.join(machine.base, 'runtimes');
      const names = ['1', '2', '3', '4'].map((digit) => digit.repeat(32));
      for (const kind of [agents, runtimes]) {
        for (const [index, name] of names.entries()) {
          const folder = path.join(kind, name);
          mkdirSync(folder, { recursive: true });
          // Set: clocks of file systems stand still for moments.
          const at = new Date(Date.now() - (names.length - index) * 60_000);
          utimesSync(folder, at, at);
        }
      }
      const other = path.join(machine.base, 'nodes', 'other');
      mkdirSync(other, { recursive: true });
      await writeFile(path.join(other, 'agent'), `${names[0]}\n`);
      const { agent } = await machine.node.deploy();
      expect(readdirSync(agents).toSorted()).toEqual(
        [names[0], names[3], agent].toSorted(),
      );
      // A supervisor of an older version may run any of them.
      expect(readdirSync(runtimes).toSorted()).toEqual(names);
      const node = path.join(runtimes, names[0]!, 'bin', 'node');
      await writeFile(path.join(other, 'runtime'), `${node}\n`);
      rmSync(path.join(agents, agent), { recursive: true });
      await machine.node.deploy();
      expect(readdirSync(runtimes).toSorted()).toEqual([names[0], names[2], names[3]]);
      // A home that other machines share keeps what they have.
      expect(await machine.node.uninstall()).toEqual(['other']);
      expect(await readFile(path.join(other, 'agent'), 'utf8')).toContain(names[0]);
    },
  );

  test(
    'remains of uploads go with the next deployment, also where nothing is missing',
    { tags: 'soak' },
    async () => {
      await using machine = await Machine.start(home());
      await machine.node.deploy();
      const incoming = path.join(machine.base, 'incoming');
      const yesterday = new Date(Date.now() - 25 * 3_600_000);
      for (const name of ['agent-old.tar.gz', 'agent-new.tar.gz'])
        await writeFile(path.join(incoming, name), 'part');
      utimesSync(path.join(incoming, 'agent-old.tar.gz'), yesterday, yesterday);
      expect((await machine.node.deploy()).uploaded).toBe(0);
      // Somebody may still be sending the other.
      expect(readdirSync(incoming)).toEqual(['agent-new.tar.gz']);
    },
  );

  test(
    'an upload that was damaged on the way is refused, and leaves nothing',
    { tags: 'soak' },
    async () => {
      await using machine = await Machine.start(home(), {
        shellStart: 'PATH=$HOME/bin:$PATH',
      });
      const cat = path.join(machine.server.home, 'bin', 'cat');
      mkdirSync(path.dirname(cat));
      // As many bytes, some of them other ones.
      await writeFile(cat, '#!/bin/sh\nexec tr a b\n', { mode: 0o755 });
      await expect(machine.node.deploy()).rejects.toMatchObject({
        code: 'UPLOAD_DAMAGED',
        place: expect.stringContaining('127.0.0.1') as string,
      });
      expect(readdirSync(path.join(machine.base, 'incoming'))).toEqual([]);
      expect(existsSync(path.join(machine.base, 'agents'))).toBe(false);
      rmSync(cat);
      expect((await machine.node.deploy()).uploaded).toBeGreaterThan(0);
    },
  );

  test('an account without its home is told so, not that it cannot write there', async () => {
    await using machine = await Machine.start(home());
    rmSync(machine.server.home, { recursive: true });
    const { findings } = await machine.node.check();
    expect(findings).toContainEqual({
      level: 'error',
      code: 'HOME_MISSING',
      message: `the account’s home ${machine.server.home} does not exist there`,
      next: expect.stringContaining('Log in once with ssh') as string,
    });
    expect(findings.map(({ code }) => code)).not.toContain('HOME_READ_ONLY');
    await expect(machine.node.deploy()).rejects.toMatchObject({ code: 'HOME_MISSING' });
  });

  const LACKS = [
    ['without room', 'size=16m', 'DISK_FULL', 'Free some space'],
    ['out of inodes', 'nr_inodes=100', 'INODES_EXHAUSTED', undefined],
    ['whose home runs no programs', 'noexec', 'HOME_NOEXEC', undefined],
    ['whose home is read-only', 'ro', 'HOME_READ_ONLY', 'a writable home'],
  ] as const;
  test.skipIf(!isRoot).each(LACKS)(
    'a machine %s (%s) is told before anything is written: %s',
    async (_, option, code, next) => {
      await using machine = await Machine.start(home());
      using disk = new Disk(machine.server.home);
      disk.remount(option);
      await expect(machine.node.deploy()).rejects.toMatchObject({
        code,
        ...(next === undefined
          ? {}
          : { next: expect.stringContaining(next) as string }),
      });
      expect(existsSync(machine.base)).toBe(false);
      const { findings } = await machine.node.check();
      expect(findings).toContainEqual(
        expect.objectContaining({ code, level: 'error' }),
      );
    },
  );

  test.skipIf(!isRoot)(
    'a disk that fills during the upload is named',
    { tags: 'soak' },
    async () => {
      await using machine = await Machine.start(home());
      using disk = new Disk(machine.server.home);
      const watched = machine.another((_, progress) => {
        if (progress?.step === 'upload' && progress.doneBytes === 0)
          disk.remount('size=1m');
      });
      await expect(watched.deploy()).rejects.toMatchObject({
        code: 'DEPLOY_FAILED',
        message: expect.stringMatching(/^uploading failed: .*No space left/) as string,
        next: 'Free some space there, then try again.',
      });
      expect(readdirSync(path.join(machine.base, 'incoming'))).toEqual([]);
      disk.remount('size=1g');
      expect((await machine.node.deploy()).uploaded).toBeGreaterThan(0);
    },
  );

  test.skipIf(!isRoot)(
    'files that cannot be made while unpacking are named',
    { tags: 'soak' },
    async () => {
      await using machine = await Machine.start(home());
      using disk = new Disk(machine.server.home);
      const watched = machine.another((_, progress) => {
        if (progress?.step === 'unpack') disk.remount('nr_inodes=10');
      });
      await expect(watched.deploy()).rejects.toMatchObject({
        code: 'DEPLOY_FAILED',
        message: expect.stringMatching(/^unpacking failed: .*No space left/) as string,
      });
      expect(readdirSync(path.join(machine.base, 'incoming'))).toEqual([]);
      expect(existsSync(path.join(machine.base, 'agents'))).toBe(false);
    },
  );
});

/** A file system in memory over a directory, with the files of that directory. */
class Disk implements Disposable {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
    const start = readFileSync(path.join(directory, '.bashrc'));
    // Another file system over it is deeper than the one that it is on.
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1g', 'tmpfs', directory]);
    writeFileSync(path.join(directory, '.bashrc'), start);
  }

  /** Changes an option of the mount: its size, or what is allowed there. */
  remount(option: string): void {
    execFileSync('mount', ['-o', `remount,${option}`, this.#directory]);
  }

  [Symbol.dispose](): void {
    execFileSync('umount', ['-l', this.#directory]);
  }
}

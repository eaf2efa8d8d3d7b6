/** The lowest Node that is accepted runs everything that ranks do: on other computers it may be the only one. */
import { spawn } from 'node:child_process';
import { readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { LOWEST_NODE } from '../../../src/shared/machines/lowest-node.ts';
import {
  builtCommand,
  GradwireHome,
  RunningCommand,
  succeeded,
  type Finished,
} from '../../harness/gradwire.ts';
import { findLowestNode, versionOf } from '../../harness/lowest-node.ts';
import { untilAsync } from '../../harness/processes.ts';
import { takesConnections } from '../../harness/sockets.ts';

const floatsIn = (file: string): Float32Array =>
  new Float32Array(Uint8Array.from(readFileSync(file)).buffer);

const node = findLowestNode();
const isRequired = process.env.CI === 'true';

describe.skipIf(process.platform !== 'linux' || (node === undefined && !isRequired))(
  'the lowest Node',
  () => {
    const start = (home: GradwireHome, args: readonly string[]): RunningCommand => {
      const env = { ...process.env, GRADWIRE_HOME: home.directory, NO_COLOR: '1' };
      const hasRecords = args.includes('run');
      return new RunningCommand(spawn(node!, [...args], { env }), hasRecords);
    };
    const gradwire = async (home: GradwireHome, ...args: string[]): Promise<Finished> =>
      succeeded(await start(home, [builtCommand, ...args]).finished);

    test('is the one that package.json names', () => {
      expect(versionOf(node!)).toBe(`v${LOWEST_NODE}`);
    });

    test('trains on both transports', async () => {
      await using home = new GradwireHome();
      // Its ranks run on its own Node; a command would start it on the one that npm brings.
      const supervisor = path.join(builtCommand, '../../agent/supervisor.js');
      const socket = ['--home', home.directory, '--socket', home.socket];
      start(home, [supervisor, ...socket]);
      await untilAsync(
        () => takesConnections(home.socket),
        (taken) => taken,
        'the supervisor to listen',
      );
      // It stays between runs as long as it has a client.
      const client = connect(home.socket);
      client.resume();
      for (const transport of ['native', 'tcp']) {
        const command = start(home, [
          ...[builtCommand, 'run', 'quickstart', '--json', '--set', 'iterations=6'],
          ...['--set', 'world.ranks=2', '--set', `transport=${transport}`],
        ]);
        const { processes } = await command.record('started');
        const programs = processes.map(({ pid }) => readlinkSync(`/proc/${pid}/exe`));
        expect(programs).toEqual([node, node]);
        const done = await command.record('done');
        expect(done).toMatchObject({ consistent: true, iterations: 6 });
        succeeded(await command.finished);
      }
      client.destroy();
    });

    test('compresses, decompresses and reduces', async () => {
      await using home = new GradwireHome();
      const file = (name: string): string => path.join(home.directory, name);
      const values = Float32Array.from({ length: 4096 }, (_, index) => Math.sin(index));
      for (const rank of [0, 1]) writeFileSync(file(`in${rank}.f32`), values);
      const reduced = await gradwire(
        home,
        ...['allreduce', '--ranks', '2', '--transport', 'native', '--json'],
        ...['--in', file('in{rank}.f32'), '--out', file('out{rank}.f32')],
      );
      expect(JSON.parse(reduced.stdout)).toMatchObject({ transport: 'native' });
      const sums = floatsIn(file('out1.f32'));
      expect(sums).toEqual(values.map((value) => value + value));
      const packed = ['--in', file('in0.f32'), '--out', file('packed')];
      await gradwire(
        home,
        'compress',
        '--method',
        'topk',
        '--param',
        'ratio=0.5',
        ...packed,
      );
      const back = ['--in', file('packed'), '--out', file('back.f32')];
      await gradwire(home, 'decompress', ...back);
      const kept = floatsIn(file('back.f32'));
      expect(kept.filter((value) => value !== 0)).toHaveLength(2048);
      expect(kept.every((value, at) => value === 0 || value === values[at])).toBe(true);
    });
  },
);

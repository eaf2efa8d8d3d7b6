/** The lowest Node that is accepted runs everything that ranks do: on other computers it may be the only one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOWEST_NODE } from '../../../src/shared/machines/lowest-node.ts';
import { encodeFrame, FrameDecoder } from '../../../src/shared/protocol/frame.ts';
import {
  builtCommand,
  GradwireHome,
  RunningCommand,
  succeeded,
  type Finished,
} from '../../harness/gradwire.ts';
import { findLowestNode, versionOf } from '../../harness/lowest-node.ts';
import { processesWith, until, untilAsync } from '../../harness/processes.ts';
import { ofType } from '../../harness/records.ts';
import { takesConnections } from '../../harness/sockets.ts';
import { request } from '../runs/real-requests.ts';

const agent = path.join(builtCommand, '../../agent');

const floatsIn = (file: string): Float32Array =>
  new Float32Array(Uint8Array.from(readFileSync(file)).buffer);

const node = findLowestNode();
const isRequired = process.env.CI === 'true';

describe.skipIf(process.platform !== 'linux' || (node === undefined && !isRequired))(
  'the lowest Node',
  () => {
    const start = (home: GradwireHome, args: readonly string[]): RunningCommand => {
      const env = { ...process.env, GRADWIRE_HOME: home.directory, NO_COLOR: '1' };
      const hasRecords = args.includes('run') || args.includes('exec');
      return new RunningCommand(spawn(node!, [...args], { env }), hasRecords);
    };
    const gradwire = async (home: GradwireHome, ...args: string[]): Promise<Finished> =>
      succeeded(await start(home, [builtCommand, ...args]).finished);

    test('is the one that package.json names', () => {
      expect(versionOf(node!)).toBe(`v${LOWEST_NODE}`);
    });

    describe('as that of ranks', () => {
      let home: GradwireHome;
      /** Keeps the supervisor between runs. */
      let client: Socket;

      beforeAll(async () => {
        home = new GradwireHome();
        // Its ranks run on its own Node; a command would start it on the one that npm brings.
        const supervisor = path.join(agent, 'supervisor.js');
        const socket = ['--home', home.directory, '--socket', home.socket];
        start(home, [supervisor, ...socket]);
        await untilAsync(
          () => takesConnections(home.socket),
          (taken) => taken,
          'the supervisor to listen',
        );
        client = connect(home.socket);
        client.resume();
      });
      afterAll(async () => {
        client?.destroy();
        await home?.[Symbol.asyncDispose]();
      });

      const run = (...args: string[]): RunningCommand =>
        start(home, [builtCommand, 'run', 'quickstart', '--json', ...args]);
      const set = (...settings: readonly string[]): readonly string[] =>
        ['world.ranks=2', ...settings].flatMap((one) => ['--set', one]);
      const programOf = ({ pid }: { readonly pid: number }): string =>
        readlinkSync(`/proc/${pid}/exe`);

      test('trains on both transports', async () => {
        for (const transport of ['native', 'tcp']) {
          const command = run(...set('iterations=6', `transport=${transport}`));
          const { processes } = await command.record('started');
          expect(processes.map(programOf)).toEqual([node, node]);
          const done = await command.record('done');
          expect(done).toMatchObject({ consistent: true, iterations: 6 });
          succeeded(await command.finished);
        }
      });

      test('goes on from a checkpoint, past a switch of methods, with the same bits', async () => {
        const launched = () =>
          run(
            ...set('iterations=70', 'backend=wasm', 'onFailure=restart'),
            ...set('checkpointEvery=25', 'exchange.method=topk', 'exchange.ratio=0.05'),
            // So slow that it is still under way when a busy machine gets to kill a rank.
            ...set('network={bandwidth: 10 Gbit/s, latency: 50 ms}'),
            ...['--switch', '30:method=qsgd'],
          );
        const whole = launched();
        succeeded(await whole.finished);
        const cut = launched();
        const { processes } = await cut.record('started');
        await cut.record('iteration', ({ iteration }) => iteration >= 40);
        process.kill(processes[1]!.pid, 'SIGKILL');
        const restarted = await cut.record('restarted');
        expect(restarted.processes.map(programOf)).toEqual([node, node]);
        succeeded(await cut.finished);
        const { weights } = await whole.record('done');
        expect(await cut.record('done')).toMatchObject({
          weights,
          iterations: 70,
          consistent: true,
        });
        const methods = ofType(cut.records, 'iteration').map(({ method }) => method);
        expect(new Set(methods)).toEqual(new Set(['topk', 'qsgd']));
      });

      test('shares memory with a program', async () => {
        const script = path.join(
          import.meta.dirname,
          '../programs/scripted-program.ts',
        );
        const command = start(home, [
          ...[builtCommand, 'exec', '--json', '--ranks', '2'],
          ...[
            '--switch',
            '10:method=topk,ratio=0.1',
            '--',
            node!,
            script,
            '20',
            'lossy',
          ],
        ]);
        succeeded(await command.finished);
        expect(await command.record('started')).toMatchObject({ parameters: 1001 });
        expect(await command.record('done')).toMatchObject({
          iterations: 20,
          consistent: true,
        });
      });
    });

    test('attaches a connection to a supervisor that it starts', async () => {
      const directory = mkdtempSync(path.join(tmpdir(), 'gradwire-attach-'));
      const marker = 'gradwire-lowest-node';
      const about = ['--base', path.join(directory, '.gradwire'), '--marker', marker];
      const attach = spawn(node!, [path.join(agent, 'attach.js'), ...about], {
        stdio: ['pipe', 'pipe', 'inherit'],
        env: { ...process.env, HOME: directory },
      });
      const closed = once(attach, 'close');
      const decoder = new FrameDecoder();
      const answers: { readonly type: string; readonly pid?: number }[] = [];
      let said = Buffer.alloc(0);
      for await (const chunk of attach.stdout as AsyncIterable<Buffer>) {
        said = Buffer.concat([said, chunk]);
        const end = said.indexOf(`${marker}\n`) + marker.length + 1;
        if (end <= marker.length) continue;
        answers.push(...([...decoder.push(said.subarray(end))] as typeof answers));
        said = Buffer.from(`${marker}\n`);
        if (answers.length === 1) {
          expect(answers[0]!.type).toBe('hello');
          expect(readlinkSync(`/proc/${answers[0]!.pid!}/exe`)).toBe(node);
          attach.stdin.write(
            encodeFrame({ ...request, id: 7, method: 'ping', body: {} }),
          );
        }
        if (answers.length > 1) break;
      }
      expect(answers[1]).toMatchObject({ type: 'reply', id: 7 });
      attach.stdin.end();
      expect(await closed).toEqual([0, null]);
      await until(
        () => processesWith(`HOME=${directory}`, 'gradwire supervisor'),
        (left) => left.length === 0,
        'the supervisor to end',
      );
      rmSync(directory, { recursive: true, force: true, maxRetries: 20 });
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

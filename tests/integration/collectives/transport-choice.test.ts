/** Which transport the command and a run take, and that nothing else depends on it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { chooseTransport } from '../../../src/agent/transport/transport-choice.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { CommandHost } from '../../harness/command-host.ts';
import { GradwireHome } from '../../harness/gradwire.ts';
import { floats } from './run-collective.ts';

/** Whether this machine has it: koffi loads. */
const native = (await chooseTransport('auto')).kind === 'native';

const home = new GradwireHome();
const commands = new CommandHost(home);
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});
const folder = path.join(home.directory, 'vectors');
mkdirSync(folder);

/** For NODE_OPTIONS of a shell: a module of which Node then says that it is not there. */
const hook = path.join(home.directory, 'no-koffi.mjs');
writeFileSync(
  hook,
  `import { registerHooks } from 'node:module';
   registerHooks({ resolve: (name, context, next) => {
     if (name === 'koffi') throw new Error('no koffi here');
     return next(name, context);
   } });`,
);
const withoutKoffi = { shell: `export NODE_OPTIONS='--import ${hook}'` };

const at = (name: string, rank: number): string =>
  path.join(folder, `${name}${rank}.f32`);
const allreduce = (transport: string): string[] => [
  ...['allreduce', '--ranks', '2', '--algorithm', 'ring', '--json'],
  ...['--in', path.join(folder, 'in{rank}.f32')],
  ...['--out', path.join(folder, `${transport}{rank}.f32`), '--transport', transport],
];

test.skipIf(!native)(
  'allreduce gives the same bits and counts the same bytes over either',
  async () => {
    for (let rank = 0; rank < 2; rank++) {
      writeFileSync(at('in', rank), floats(rank, 100_003));
    }
    const reports = [];
    for (const transport of ['tcp', 'native', 'auto']) {
      const { stdout, stderr } = await commands.run(allreduce(transport));
      expect(stderr).toBe('');
      reports.push(JSON.parse(stdout) as Record<string, unknown>);
      expect(readFileSync(at(transport, 1)).equals(readFileSync(at('tcp', 0)))).toBe(
        true,
      );
    }
    expect(reports.map(({ transport }) => transport)).toEqual([
      'tcp',
      'native',
      'native',
    ]);
    for (const { wireSent, wireReceived } of reports) {
      expect({ wireSent, wireReceived }).toMatchObject({
        wireSent: reports[0]!['wireSent'],
        wireReceived: reports[0]!['wireReceived'],
      });
    }
  },
);

test('without koffi the command falls back, or refuses what was asked for by name', async () => {
  const auto = await home.start(allreduce('auto'), withoutKoffi).finished;
  expect(auto.stderr).toBe('');
  expect(JSON.parse(auto.stdout)).toMatchObject({ transport: 'tcp' });
  const native = await home.start(allreduce('native'), withoutKoffi).finished;
  expect(native.code).toBe(1);
  expect(native.stderr).toMatch(
    /^gradwire: NATIVE_UNAVAILABLE: .*koffi cannot be loaded.*Use transport tcp.*\n$/,
  );
});

test.skipIf(!native)(
  'a run without koffi says that it uses tcp, and trains the same',
  { tags: 'soak' },
  async () => {
    // A supervisor of its own for each: it hands its environment on to the workers.
    await using other = new GradwireHome();
    const train = async (
      where: GradwireHome,
      settings: string[],
      options = {},
    ): Promise<RunRecord[]> => {
      const running = where.startQuickstart(
        ['world.ranks=2', 'iterations=8', 'evaluateEvery=0', ...settings],
        options,
      );
      const { code, stderr } = await running.finished;
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return running.records;
    };
    const fallbacks = (records: readonly RunRecord[]): RunRecord[] =>
      records.filter((record) => {
        return record.type === 'notice' && record.code === 'TRANSPORT_FALLBACK';
      });
    const weights = (records: readonly RunRecord[]): string | undefined => {
      const done = records.find((record) => record.type === 'done');
      return done?.weights;
    };
    const native = await train(home, ['transport=native', 'engine=thread']);
    expect(fallbacks(native)).toEqual([]);
    const fallen = await train(other, [], withoutKoffi);
    expect(fallbacks(fallen)).toMatchObject([
      {
        rank: expect.any(Number) as number,
        message: expect.stringMatching(/no koffi/) as string,
      },
      { level: expect.any(String) as string },
    ]);
    expect(weights(fallen)).toBe(weights(native));
    expect(weights(native)).toMatch(/^[0-9a-f]{64}$/);
  },
);

/**
 * Equal GPUs of one machine: each rank computes on its own. What a rank says that it took is
 * held against what a layer below Dawn saw it open.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GradwireHome, type RunningCommand } from '../harness/gradwire.ts';
import { canHaveEqualGpus, EqualGpus } from '../harness/equal-gpus.ts';
import { ofType } from '../harness/records.ts';
import { canRunWebGpu, saySkipped } from '../harness/webgpu.ts';

if (!canRunWebGpu) saySkipped('the runs on equal GPUs');

/** A small model: in software most of a run's time goes into compiling its kernels. */
const settings = (...more: readonly string[]): readonly string[] => [
  ...['workload.model=logistic-regression', 'workload.dataset=sparse'],
  ...['workload.batchPerRank=8', 'optimizer.momentum=0', 'backend=webgpu'],
  ...['iterations=1', 'evaluateEvery=0'],
  ...more,
];

describe.skipIf(!canHaveEqualGpus)('a machine with two equal GPUs', () => {
  let gpus: EqualGpus;
  let home: GradwireHome;
  beforeAll(() => {
    // The loader names the one of the higher bus number first.
    gpus = new EqualGpus(['41', '3b']);
    home = new GradwireHome();
  });
  afterAll(async () => {
    await home?.[Symbol.asyncDispose]();
    gpus?.[Symbol.dispose]();
  });

  const start = (...more: readonly string[]): RunningCommand =>
    home.startQuickstart(settings(...more), { environment: gpus.environment });

  /** Of each rank of a run: what it says, and what it opened. */
  const taken = (command: RunningCommand): readonly object[] =>
    ofType(command.records, 'started').flatMap(({ processes }) =>
      processes.map(({ bus, device, pid, rank }) => ({
        rank,
        bus,
        device,
        opened: gpus.opened.filter((one) => one.pid === pid).map(({ bus }) => bus),
      })),
    );
  const device = expect.stringMatching(/^SwiftShader/) as string;

  test('gives each rank its own, in the order of their bus ids', async () => {
    const command = start('world.ranks=2');
    expect(await command.finished).toMatchObject({ code: 0 });
    expect(taken(command)).toEqual([
      { rank: 0, bus: gpus.busId('3b'), device, opened: ['3b'] },
      { rank: 1, bus: gpus.busId('41'), device, opened: ['41'] },
    ]);
    expect(ofType(command.records, 'done')[0]).toMatchObject({ consistent: true });
  });

  test(
    'refuses more ranks than GPUs, unless they may share',
    { tags: 'soak' },
    async () => {
      const { code, stderr } = await start('world.ranks=3').finished;
      expect(code).toBe(2);
      expect(stderr).toMatch(/GPU_SHARED/);
      expect(stderr).toMatch(/3 ranks of one machine would share 2 GPUs \(SwiftShader/);
      expect(stderr).toMatch(/Use at most 2 ranks on this machine/);

      const command = start('world.ranks=3', 'world.shareGpu=true');
      expect(await command.finished).toMatchObject({ code: 0 });
      expect(taken(command)).toMatchObject([
        { rank: 0, bus: gpus.busId('3b'), opened: ['3b'] },
        { rank: 1, bus: gpus.busId('41'), opened: ['41'] },
        { rank: 2, bus: gpus.busId('3b'), opened: ['3b'] },
      ]);
    },
  );

  test(
    'gives a second run what the first has not taken, and no third run any',
    { tags: 'soak' },
    async () => {
      const [first, ofFirst] = await begin();
      // The loader's first: a lone rank leaves the order to the drivers.
      expect(taken(first)).toMatchObject([{ bus: gpus.busId('41'), opened: ['41'] }]);
      const [second, ofSecond] = await begin();
      expect(taken(second)).toMatchObject([{ bus: gpus.busId('3b'), opened: ['3b'] }]);

      const { code, stderr } = await start('world.ranks=1').finished;
      expect(code).toBe(2);
      expect(stderr).toMatch(/GPU_SHARED/);
      expect(stderr).toMatch(/other processes are using all 2 GPUs/);

      // A rank that is killed lets go of its GPU.
      process.kill(ofSecond, 'SIGKILL');
      expect(await second.finished).toMatchObject({ code: 1 });
      const third = start('world.ranks=1');
      expect(await third.finished).toMatchObject({ code: 0 });
      expect(taken(third)).toMatchObject([{ bus: gpus.busId('3b'), opened: ['3b'] }]);
      process.kill(ofFirst, 'SIGKILL');
      await first.finished;
    },
  );

  /** A run of one rank that has its GPU, and its rank's process id: stopped, it uses no core. */
  async function begin(): Promise<readonly [RunningCommand, number]> {
    const command = start('world.ranks=1', 'iterations=1000000');
    const { processes } = await command.record('started');
    const { pid } = processes[0]!;
    process.kill(pid, 'SIGSTOP');
    return [command, pid];
  }
});

/** A /dev with a GPU's device file, by which `auto` sees that it is worth looking for one. */
const DEVICE_FILE = `
  old=$(mktemp -d) && mount --rbind /dev "$old" && mount -t tmpfs none /dev &&
  for name in null zero random urandom tty shm; do
    if [ -d "$old/$name" ]; then mkdir "/dev/$name"; else : > "/dev/$name"; fi
    mount --rbind "$old/$name" "/dev/$name"
  done
  ln -s /proc/self/fd /dev/fd && mkdir /dev/dri && : > /dev/dri/renderD128 && exec "$@"`;

describe.skipIf(!canHaveEqualGpus || process.getuid?.() !== 0)(
  'backend auto on a machine with two equal GPUs',
  () => {
    test(
      'computes on them where they suffice, else all ranks on the CPU',
      { tags: 'soak' },
      async () => {
        using gpus = new EqualGpus(['41', '3b']);
        await using home = new GradwireHome();
        const run = async (ranks: number): Promise<RunningCommand> => {
          const command = home.startQuickstart(
            settings('backend=auto', `world.ranks=${ranks}`),
            {
              environment: { ...gpus.environment, DEVICE_FILE },
              shell: 'set -- unshare -m sh -c "$DEVICE_FILE" sh "$@"',
            },
          );
          expect(await command.finished).toMatchObject({ code: 0 });
          return command;
        };
        const [two] = ofType((await run(2)).records, 'started');
        expect(two).toMatchObject({
          backend: 'webgpu',
          processes: [{ bus: gpus.busId('3b') }, { bus: gpus.busId('41') }],
        });
        const [three] = ofType((await run(3)).records, 'started');
        expect(three).toMatchObject({
          backend: 'wasm',
          why: expect.stringMatching(
            /^3 ranks of one machine would share 2 GPUs/,
          ) as string,
        });
        expect(three!.processes.map(({ bus }) => bus)).toEqual([
          undefined,
          undefined,
          undefined,
        ]);
      },
    );
  },
);

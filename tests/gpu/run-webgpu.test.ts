/**
 * Whole runs with their gradients on WebGPU: real processes, from method to method, beside
 * the same run by way of the host.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { sumPhases } from '../../src/shared/records/phases.ts';
import type { IterationRecord } from '../../src/shared/records/iteration.ts';
import type { RunRecord } from '../../src/shared/records/record-kinds.ts';
import { effort } from '../harness/effort.ts';
import { GradwireHome } from '../harness/gradwire.ts';
import { canRunWebGpu, saySkipped, webGpuEnvironment } from '../harness/webgpu.ts';

if (!canRunWebGpu) saySkipped('the runs on WebGPU');

const ITERATIONS = 6;
/** After `topk`: one that rounds, one whose replicas drift, one that sends everything. */
const SWITCHES = ['2:method=qsgd', '3:method=a2sgd', '5:method=none'];

async function run(
  settings: readonly string[],
  switches: readonly string[] = SWITCHES,
): Promise<readonly RunRecord[]> {
  await using home = new GradwireHome();
  const exports = Object.entries(webGpuEnvironment)
    .map(([key, value]) => `export ${key}=${value}`)
    .join('; ');
  const set = [
    'backend=webgpu',
    'exchange.method=topk',
    'exchange.ratio=0.01',
    `iterations=${ITERATIONS}`,
    'world.ranks=2',
    'world.shareGpu=true',
    'workload.batchPerRank=8',
    'evaluateEvery=0',
    ...settings,
  ];
  const command = home.start(
    [
      ...['run', 'quickstart', '--json'],
      ...switches.flatMap((change) => ['--switch', change]),
      ...set.flatMap((setting) => ['--set', setting]),
    ],
    { shell: exports === '' ? 'true' : exports },
  );
  const { code, stderr } = await command.finished;
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return command.records;
}

const iterationsOf = (records: readonly RunRecord[], rank: number): IterationRecord[] =>
  records
    .filter((record) => record.type === 'iteration')
    .filter((record) => record.rank === rank);

describe.skipIf(!canRunWebGpu)('a run on webgpu', () => {
  let stays: readonly RunRecord[];
  let readBack: readonly RunRecord[];
  beforeAll(async () => {
    stays = await run([]);
    readBack = await run(['engine=thread']);
  }, 120_000);

  it('trains, switches and ends with equal replicas', () => {
    expect(stays.find(({ type }) => type === 'started')).toMatchObject({
      backend: 'webgpu',
      processes: [0, 1].map((rank) => ({ rank, device: expect.stringMatching(/./) })),
    });
    expect(stays.find(({ type }) => type === 'done')).toMatchObject({
      iterations: ITERATIONS,
      consistent: true,
    });
    const switched = stays.filter((record) => record.type === 'switch');
    expect(switched.map(({ residual, resynchronized }) => [residual, resynchronized]))
      // prettier-ignore
      .toEqual([
        ['flushed', false],
        ['none', false],
        ['none', true],
      ]);
    expect(iterationsOf(stays, 0).map(({ method }) => method)).toEqual([
      ...['topk', 'topk', 'qsgd', 'a2sgd', 'a2sgd', 'none'],
    ]);
  });

  it('makes the same losses and weights as by way of the host, to the bit', () => {
    for (const rank of [0, 1]) {
      const losses = (records: readonly RunRecord[]) =>
        iterationsOf(records, rank).map(({ loss }) => loss);
      expect(losses(stays)).toEqual(losses(readBack));
      const payloads = (records: readonly RunRecord[]) =>
        iterationsOf(records, rank).map(({ bytes }) => bytes.payload);
      expect(payloads(stays)).toEqual(payloads(readBack));
    }
    const weights = (records: readonly RunRecord[]) =>
      records.find((record) => record.type === 'done')?.weights;
    expect(weights(stays)).toBeDefined();
    expect(weights(stays)).toBe(weights(readBack));
  });

  it('says where gradients are read back, and only there', () => {
    const codes = (records: readonly RunRecord[]) =>
      records.filter((record) => record.type === 'notice').map(({ code }) => code);
    expect(codes(readBack)).toContain('GRADIENTS_READ_BACK');
    expect(codes(stays)).not.toContain('GRADIENTS_READ_BACK');
    expect(codes(stays)).not.toContain('METHOD_NOT_ON_GPU');
  });

  it('counts the time on the device for the phases that requested it', () => {
    for (const { phases, wall } of iterationsOf(stays, 0)) {
      expect(phases.compress).toBeGreaterThan(0);
      expect(phases.decompress).toBeGreaterThan(0);
      const sum = sumPhases(phases);
      expect(sum).toBeCloseTo(wall, 3);
    }
  });
});

describe.skipIf(!canRunWebGpu)('a model with a table on webgpu', () => {
  const exact = ['exchange={method: nonzero}', 'compareEvery=3'];
  const sparse = [
    ...['workload.model=logistic-regression', 'workload.dataset=sparse'],
    'optimizer.momentum=0',
  ];
  const clicks = [
    ...['workload.model=dlrm-small', 'workload.dataset=clicks'],
    ...['optimizer={kind: adagrad, lr: 0.01}', 'workload.batchPerRank=32'],
  ];

  const models = [
    ['logistic regression', sparse],
    ['DLRM', clicks],
  ] as const;
  it.each(models.slice(0, effort({ quick: 1, soak: 2 })))(
    'trains as on the CPU, its gradient added up on the host: %s',
    { tags: 'soak' },
    async (_, of) => {
      const records = await run([...of, ...exact], []);
      const onCpu = await run([...of, ...exact, 'backend=wasm'], []);
      const metricOf = (all: readonly RunRecord[]): number =>
        all.find((record) => record.type === 'done')!.metric!;
      expect(metricOf(records)).toBeCloseTo(metricOf(onCpu), 2);
      const losses = (of: readonly RunRecord[]): number[] =>
        iterationsOf(of, 0).map(({ loss }) => loss!);
      expect(losses(records)).toHaveLength(ITERATIONS);
      losses(onCpu).forEach((loss, i) => {
        // exp and log of a GPU have fewer right bits.
        expect(losses(records)[i]).toBeCloseTo(loss, 4);
      });
      expect(records.find(({ type }) => type === 'done')).toMatchObject({
        consistent: true,
      });
      const compared = records.filter((record) => record.type === 'comparison');
      expect(compared.map(({ iteration }) => iteration)).toEqual([2, 5]);
      for (const { error } of compared) expect(error).toBeLessThan(1e-5);
    },
  );

  it(
    'is not compared where the gradient stays on the GPU, and says so',
    { tags: 'soak' },
    async () => {
      const records = await run(['exchange={method: nonzero}', 'compareEvery=3'], []);
      const codes = records
        .filter((record) => record.type === 'notice')
        .map(({ code }) => code);
      expect(codes).toContain('COMPARISON_SKIPPED');
      expect(codes).not.toContain('METHOD_NOT_ON_GPU');
      expect(records.some(({ type }) => type === 'comparison')).toBe(false);
    },
  );
});

describe.skipIf(!canRunWebGpu)('stages on webgpu', () => {
  it(
    'train as stages on the CPU do, what is left out of activations included',
    { tags: 'soak' },
    async () => {
      const settings = [
        ...['parallelism.pipeline.splitAfter=["layer1"]', 'iterations=4'],
        'exchange.activations={method: dct-mp, sparsity: 0.5}',
      ];
      const onGpu = await run(settings, []);
      const onCpu = await run([...settings, 'backend=wasm'], []);
      const [losses, expected] = [onGpu, onCpu].map((records) =>
        iterationsOf(records, 1).map(({ loss }) => loss!),
      );
      expect(losses).toHaveLength(4);
      for (const [i, loss] of losses!.entries())
        expect(loss).toBeCloseTo(expected![i]!, 3);
      const sent = (records: readonly RunRecord[]) =>
        iterationsOf(records, 0).map(({ activations }) => activations!.payload);
      expect(sent(onGpu)).toEqual(sent(onCpu));
    },
  );
});

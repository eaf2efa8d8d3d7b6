/** A whole run with its gradients on WebGPU: real processes, a switch, equal replicas. */
import { describe, expect, it } from 'vitest';
import { GradwireHome } from '../harness/gradwire.ts';
import { canRunWebGpu, saySkipped, webGpuEnvironment } from '../harness/webgpu.ts';

if (!canRunWebGpu) saySkipped('the run on WebGPU');

describe.skipIf(!canRunWebGpu)('a run on webgpu', () => {
  it('trains, switches and ends with equal replicas', async () => {
    await using home = new GradwireHome();
    const exports = Object.entries(webGpuEnvironment)
      .map(([key, value]) => `export ${key}=${value}`)
      .join('; ');
    const command = home.start(
      [
        ...['run', 'quickstart', '--json', '--switch', '5:method=topk,ratio=0.05'],
        ...['backend=webgpu', 'iterations=10', 'world.ranks=2'].flatMap((setting) => [
          '--set',
          setting,
        ]),
      ],
      { shell: exports === '' ? 'true' : exports },
    );
    const { code, stderr } = await command.finished;
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const started = command.records.find((record) => record.type === 'started');
    const done = command.records.find((record) => record.type === 'done');
    expect(started?.backend).toBe('webgpu');
    expect(done).toMatchObject({ iterations: 10, consistent: true });
    const losses = command.records
      .filter((record) => record.type === 'iteration' && record.rank === 0)
      .map((record) => (record as { loss: number }).loss);
    expect(losses.at(-1)).toBeLessThan(losses[0]!);
  });
});

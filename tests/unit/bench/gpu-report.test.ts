/**
 * The report on a GPU, from what the kit wrote on SwiftShader: a measurement, and one of
 * VGG-16 that was cut after 200 s; and from the times of PyTorch on a CPU
 * (gpu-kit-records.json; without the device's limits).
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { cudaSees, type NvidiaGpu } from '../../../scripts/gpu-kit/nvidia.ts';
import { reportOf } from '../../../scripts/gpu-kit/report.ts';
import type { StepResult } from '../../../scripts/gpu-kit/results.ts';

type Files = readonly StepResult<unknown>[];
const recorded = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'gpu-kit-records.json'), 'utf8'),
) as { readonly whole: Files; readonly cut: Files; readonly torch: object };

/** Cells of each table, its head first. */
function tablesOf(report: string): string[][][] {
  return report
    .split('\n\n')
    .filter((block) => block.startsWith('|'))
    .map((block) =>
      block
        .split('\n')
        .filter((_, line) => line !== 1)
        .map((line) =>
          line
            .slice(2, -2)
            .split(' | ')
            .map((cell) => cell.trim()),
        ),
    );
}

describe('the report on a GPU', () => {
  test.each(['whole', 'cut'] as const)(
    '%s: every row has a cell for each column',
    (kind) => {
      const tables = tablesOf(reportOf(recorded[kind]));
      expect(tables.length).toBeGreaterThanOrEqual(2);
      for (const [head, ...rows] of tables) {
        expect(rows.length).toBeGreaterThan(0);
        for (const row of rows) expect(row).toHaveLength(head!.length);
      }
    },
  );

  test('of a measurement has all figures that there are', () => {
    const report = reportOf(recorded.whole);
    expect(report).toContain('SwiftShader driver 5.0.0; Node 24.21.0, Gradwire 0.1.0.');
    expect(report).toContain('**A CPU driver: its times say nothing about a GPU.**');
    expect(report).toContain('| device-kernels | 83 | 0 | 0 |  |');
    expect(report).toContain('| add | 100,000 | 2.49 | 0.482 | 4 %, goal missed |  |');
    expect(report).toContain(
      '| fnn3, 2 | webgpu, SwiftShader driver 5.0.0 |  | 1 | yes |  |',
    );
    expect(report).toContain('| fnn3, 2 | topk | 305 | 0.00529 | 110 | 164 |');
    // Of all steps only that one was skipped.
    expect(report.split('Not measured, or not completely:\n\n')[1]).toMatch(
      /^- `peers`: no PyTorch with CUDA [^\n]*$/,
    );
  });

  test('sets PyTorch’s times beside those of the same function and length', () => {
    const others = recorded.whole.filter(({ step }) => step !== 'peers');
    const peers = { step: 'peers', began: '2026', seconds: 1, result: recorded.torch };
    const report = reportOf([...others, peers]);
    expect(report).toContain(
      'PyTorch 2.13.0+cpu (CUDA none, Python 3.11.7) on CPU: between two events',
    );
    expect(report).toMatch(/^\| top-k 0\.1 % \| 100,000 \|.* \| 7\.81 \|$/m);
    expect(report).toMatch(
      /^\| quantise, 4 bits \| 100,000 \|.* \| 0\.625; 3\.52 \|$/m,
    );
    expect(report).toMatch(/^\| scale \| 100,000 \|.* \| {2}\|$/m);
    expect(report).not.toContain('Not measured');
  });

  test('of a run that was cut has its steps, and no word on what it did not reach', () => {
    const report = reportOf(recorded.cut);
    expect(report).toContain(
      '| vgg-16, 1 | webgpu, SwiftShader driver 5.0.0 |  | 1 |  | cut after 198 s |',
    );
    expect(report).toContain('| run-vgg-16-2 |  |  |  |  | no time was left for it |');
    expect(report).toContain('| vgg-16, 1 | topk | 36400 |');
    expect(report).toContain('- `run-vgg-16-1`: cut after 198 s');
    expect(report).not.toContain('kernel');
  });

  test('of nothing says why', () => {
    const failure = 'no WebGPU adapter was found\nno /proc/driver/nvidia/version';
    expect(
      reportOf([{ step: 'device', began: '2026-11-26', seconds: 1, failure }]),
    ).toBe(
      [
        ...['### Figures of a GPU', '2026-11-26: WebGPU found no GPU.'],
        'Not measured, or not completely:',
        '- `device`: no WebGPU adapter was found',
      ].join('\n\n'),
    );
  });
});

describe('the GPU that CUDA sees', () => {
  const gpu = (bus: string, mig = 'Disabled'): NvidiaGpu => ({
    uuid: `GPU-${bus}`,
    bus,
    name: 'A GPU',
    driver: '580.1',
    memory: '80 GiB',
    computeMode: 'Default',
    mig,
  });

  test('is that of the bus id, unless it is split or not listed', () => {
    const order = { CUDA_DEVICE_ORDER: 'PCI_BUS_ID' };
    const both = [gpu('00000000:3B:00.0'), gpu('00000000:41:00.0')];
    expect(cudaSees(both, '00000000:41:00.0')).toEqual({
      ...order,
      CUDA_VISIBLE_DEVICES: 'GPU-00000000:41:00.0',
    });
    expect(cudaSees(both, '00000000:42:00.0')).toEqual(order);
    expect(cudaSees(both, undefined)).toEqual(order);
    const split = [gpu('00000000:3B:00.0', 'Enabled')];
    expect(cudaSees(split, '00000000:3B:00.0')).toEqual(order);
  });
});

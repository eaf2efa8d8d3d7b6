/**
 * The kit that measures a GPU elsewhere: what it says without one, and, in the soak, that it
 * is complete: packed, and run with nothing around it, no network and no home.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { swiftShader } from '../../harness/webgpu.ts';

const repository = path.join(import.meta.dirname, '../../..');
const bare = { PATH: '/usr/bin:/bin' };
const linux = process.platform === 'linux' && process.arch === 'x64';

let out: string;
beforeEach(() => {
  out = mkdtempSync(path.join(tmpdir(), 'gradwire-kit-'));
});
afterEach(() => {
  rmSync(out, { recursive: true, force: true });
});

const read = (step: string): { failure?: string; skipped?: string; result?: object } =>
  JSON.parse(readFileSync(path.join(out, `${step}.json`), 'utf8')) as object;

function report(folder: string) {
  const script = path.join(repository, 'scripts/gpu-report.ts');
  return spawnSync(process.execPath, [script, folder], { encoding: 'utf8' });
}

describe.skipIf(!linux)('the kit for a GPU', () => {
  test('without a driver it says so, with code 3, and what was tried', () => {
    const script = path.join(repository, 'scripts/gpu-kit/measure.ts');
    const { status, stderr } = spawnSync(process.execPath, [script, '--quick', out], {
      encoding: 'utf8',
      env: { ...bare, VK_ICD_FILENAMES: '/nonexistent.json' },
    });
    expect({ status, stderr }).toEqual({
      status: 3,
      stderr: expect.stringMatching(
        /^gpu-kit: WebGPU finds no GPU here; .*device\.json/,
      ),
    });
    expect(read('device').failure).toContain('no WebGPU adapter was found');
    expect(report(out)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('WebGPU found no GPU.'),
    });
    const none = path.join(out, 'none');
    expect(report(none)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(`no device.json in ${none}`),
    });
  });

  test.skipIf(!existsSync(swiftShader))(
    'is complete: it runs with nothing around it',
    { tags: 'soak' },
    () => {
      const packed = spawnSync(process.execPath, ['scripts/gpu-kit.ts'], {
        ...{ cwd: repository, encoding: 'utf8' },
      });
      expect(packed).toMatchObject({ status: 0 });
      const kit = path.join(repository, 'gpu-kit/run.sh');
      const given = [kit, '--software', '--quick', out];
      // Loopback alone: two ranks of a machine meet there.
      const alone = [
        'unshare',
        '-n',
        'sh',
        '-c',
        'ip link set lo up; exec sh "$@"',
        'sh',
      ];
      const [program, ...args] = [
        ...(process.getuid?.() === 0 ? alone : ['sh']),
        ...given,
      ];
      const { status, stderr } = spawnSync(program!, args, {
        ...{ cwd: '/', encoding: 'utf8' },
        env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', VK_ICD_FILENAMES: swiftShader },
      });
      expect({ status, stderr }).toMatchObject({ status: 0 });
      expect(read('bits-device-kernels').result).toMatchObject({ failed: [] });
      expect(read('run-fnn3-2').result).toMatchObject({
        ...{ backend: 'webgpu', ranks: 2, switches: 1, consistent: true },
      });
      expect(existsSync(path.join(out, 'work'))).toBe(false);
      expect(report(out).stdout).toContain('| fnn3, 2 | webgpu | topk |');
    },
  );
});

/**
 * Where WebGPU runs in the tests: on this machine's GPU, else on SwiftShader, the CPU
 * driver that comes with Chromium; else nowhere, and the tests say so. Under CI, or with
 * GRADWIRE_REQUIRE_GPU=1, they run all the same, and fail.
 */
import { existsSync, readdirSync } from 'node:fs';

export const swiftShader = '/usr/lib/chromium/vk_swiftshader_icd.json';

const required =
  process.env['GRADWIRE_REQUIRE_GPU'] === '1' || process.env['CI'] === 'true';

export const hasGpu =
  process.platform !== 'linux' ||
  // In a container, that of the machine's fourth GPU may be the only one.
  readdirSync('/dev').some((name) => /^nvidia\d+$/.test(name)) ||
  (existsSync('/dev/dri') &&
    readdirSync('/dev/dri').some((name) => name.startsWith('renderD')));

export const canRunWebGpu = hasGpu || existsSync(swiftShader) || required;

/** What a process needs in its environment. */
export const webGpuEnvironment: Readonly<Record<string, string>> = hasGpu
  ? {}
  : { VK_ICD_FILENAMES: swiftShader };

export function saySkipped(what: string): void {
  process.stderr.write(
    `Skipping ${what}: no GPU, and no SwiftShader at ${swiftShader} (Debian package chromium).\n`,
  );
}

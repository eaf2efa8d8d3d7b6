/**
 * Where the tests of this folder find a GPU: the machine's own, or SwiftShader, the CPU
 * driver that comes with Chromium. The Vulkan loader reads the environment when Dawn is
 * first asked for an adapter, so importing this before that is enough.
 */
import { existsSync, readdirSync } from 'node:fs';

const swiftShader = '/usr/lib/chromium/vk_swiftshader_icd.json';

const hasGpu =
  process.platform !== 'linux' ||
  existsSync('/dev/nvidia0') ||
  (existsSync('/dev/dri') &&
    readdirSync('/dev/dri').some((name) => name.startsWith('renderD')));

export const hasVulkan = hasGpu || existsSync(swiftShader);

if (!hasGpu) process.env['VK_ICD_FILENAMES'] ??= swiftShader;
if (!hasVulkan) {
  process.stderr.write(
    `Skipping tests of WebGPU: no GPU, and no SwiftShader at ${swiftShader} (Debian package chromium).\n`,
  );
}

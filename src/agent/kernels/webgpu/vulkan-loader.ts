/**
 * A Vulkan loader for Dawn on machines with a GPU driver but no loader, as on some
 * servers. A deployed agent may have one beside it. Dawn asks the system for the library
 * by its name and gets one that is already loaded in the process. So the deployed loader
 * serves only this process, and only if the system has none.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';

const NAME = 'libvulkan.so.1';
/** Places of the deployed agent's library, from its bundles and their chunks. */
const PLACES = ['lib', '../lib'].map((folder) =>
  path.join(import.meta.dirname, folder, NAME),
);

export async function provideVulkanLoader(): Promise<void> {
  const own = PLACES.find(existsSync);
  if (process.platform !== 'linux' || own === undefined) return;
  // Without koffi it cannot be loaded; Dawn then reports what is missing.
  const koffi = await import('koffi').catch(() => undefined);
  if (koffi === undefined) return;
  try {
    koffi.load(NAME);
  } catch {
    try {
      koffi.load(own);
    } catch {
      // It may need a newer libc than the machine's; then continue without it.
    }
  }
}

/**
 * A Vulkan loader for Dawn where the machine has a GPU's driver and none, as servers may. An
 * agent that was deployed may have one beside it. Dawn asks the system for the library by its
 * name: where one of that name is in the process already, it is that one. So it serves this
 * process alone, and only where the system has none.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';

const NAME = 'libvulkan.so.1';
/** Of the deployed agent, from its bundles and their chunks. */
const PLACES = ['lib', '../lib'].map((folder) =>
  path.join(import.meta.dirname, folder, NAME),
);

export async function provideVulkanLoader(): Promise<void> {
  const own = PLACES.find(existsSync);
  if (process.platform !== 'linux' || own === undefined) return;
  // Without koffi there is no way to load it; Dawn says then what it does not find.
  const koffi = await import('koffi').catch(() => undefined);
  if (koffi === undefined) return;
  try {
    koffi.load(NAME);
  } catch {
    try {
      koffi.load(own);
    } catch {
      // Of a newer libc than the machine's: as without.
    }
  }
}

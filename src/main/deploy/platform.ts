/** The platform of a machine, by what it says of itself. */
import type { Finding, Preflight } from '../../shared/machines/preflight.ts';
import type { Platform } from './package-files.ts';

/** The node's platform in Node's terms; undefined if there is no build for it. */
export function platformOf({
  system,
  machine,
}: Pick<Preflight, 'system' | 'machine'>): Platform | undefined {
  const os = { Linux: 'linux' }[system];
  const architecture = {
    x86_64: 'x64',
    amd64: 'x64',
    aarch64: 'arm64',
    arm64: 'arm64',
  }[machine];
  return os === undefined || architecture === undefined
    ? undefined
    : { os, architecture };
}

export function platformUnsupported({
  system,
  machine,
}: Pick<Preflight, 'system' | 'machine'>): Finding {
  return {
    level: 'error',
    code: 'PLATFORM_UNSUPPORTED',
    message: `Gradwire has no build for ${system} on ${machine}`,
    next: 'Use a machine with Linux on x86_64 or aarch64.',
  };
}

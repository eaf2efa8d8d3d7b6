/** Facts about a machine, collected before anything is written to it. */
import { z } from 'zod';
import type { ChosenSshClient } from './ssh-transport.ts';

/** Addresses of the two ends of an SSH connection, as the machine sees them. */
export interface ConnectionEnds {
  readonly client: string;
  readonly server: string;
}

export interface GpuReport {
  /** `0000:3b:00.0`, if the driver reports it. */
  readonly bus?: string | undefined;
  readonly name: string;
  /** The GPU's maker, where its drivers are known. */
  readonly vendor?: 'nvidia' | 'amd' | 'intel' | undefined;
  readonly memoryMiB?: number | undefined;
  /** Processes of other users on the GPU; missing where the machine cannot tell. */
  readonly othersProcesses?: number | undefined;
}

export interface Finding {
  readonly level: 'error' | 'warning';
  readonly code: string;
  readonly message: string;
  readonly next?: string | undefined;
}

export interface Preflight {
  readonly hostname: string;
  readonly system: string;
  readonly kernel: string;
  readonly machine: string;
  readonly libc: 'glibc' | 'musl' | 'unknown';
  /** The version of glibc, where it says so: `2.36`. */
  readonly glibc?: string | undefined;
  readonly cores?: number | undefined;
  readonly memoryMiB?: number | undefined;
  readonly home: string;
  /** Type of the home's file system: `ext2/ext3`, `nfs`, `tmpfs`. */
  readonly fileSystem?: string | undefined;
  readonly freeMiB?: number | undefined;
  readonly freeInodes?: number | undefined;
  readonly noexec: boolean;
  /** Seconds by which the node's clock is ahead of this computer's, as measured over SSH. */
  readonly clockOffsetSeconds: number;
  /** Version of the Node on the PATH there, if any: `v24.1.0`. */
  readonly node?: string | undefined;
  /** Whether Gradwire has to bring a newer Node. */
  readonly bringsNode: boolean;
  /** Addresses of its interfaces, except loopback. */
  readonly addresses: readonly string[];
  /** Addresses of the two ends of this connection, as the node sees them. */
  readonly connection?: ConnectionEnds | undefined;
  readonly driver?: string | undefined;
  readonly gpus: readonly GpuReport[];
  /** Whether a Vulkan loader is installed. */
  readonly vulkan: boolean;
  /** Libraries of Vulkan's drivers that are installed there. */
  readonly vulkanDrivers: readonly string[];
  /** Whether the agent brings its own Vulkan loader. */
  readonly bringsVulkan: boolean;
  /** Missing programs and libraries that deploying and Node need. */
  readonly missing: readonly string[];
  /** Variables of its start files that Gradwire's Node starts without. */
  readonly leftOut?: readonly string[] | undefined;
  readonly findings: readonly Finding[];
  /** The SSH client that was used, and why. */
  readonly transport?: ChosenSshClient | undefined;
  /** Parts of SSH's files that were not understood or not read, and why. */
  readonly notices?: readonly string[] | undefined;
}

/** The fields that a stored report must have to be shown. */
const readable = z.looseObject({
  hostname: z.string(),
  system: z.string(),
  kernel: z.string(),
  machine: z.string(),
  libc: z.string(),
  home: z.string(),
  bringsNode: z.boolean(),
  addresses: z.array(z.string()),
  gpus: z.array(z.looseObject({ name: z.string() })),
  findings: z.array(
    z.looseObject({ level: z.string(), code: z.string(), message: z.string() }),
  ),
});

/** A stored report; undefined if another version wrote it in another form. */
export const readPreflight = (stored: unknown): Preflight | undefined =>
  readable.safeParse(stored).success ? (stored as Preflight) : undefined;

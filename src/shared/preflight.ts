/** What a machine is like, asked before anything is written to it. */
import type { ChosenTransport } from './ssh-transport.ts';

/** Addresses of the two ends of an SSH connection, as the machine sees them. */
export interface ConnectionEnds {
  readonly client: string;
  readonly server: string;
}

export interface GpuReport {
  /** `0000:3b:00.0`, where the driver says so. */
  readonly bus?: string | undefined;
  readonly name: string;
  readonly memoryMiB?: number | undefined;
  /** Processes of other users that compute on it. */
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
  readonly cores?: number | undefined;
  readonly memoryMiB?: number | undefined;
  readonly home: string;
  /** Of the home's file system: `ext2/ext3`, `nfs`, `tmpfs`. */
  readonly fileSystem?: string | undefined;
  readonly freeMiB?: number | undefined;
  readonly freeInodes?: number | undefined;
  readonly noexec: boolean;
  /** How far the node's clock is ahead of this computer's, as well as SSH can tell. */
  readonly clockOffsetSeconds: number;
  /** Node's version there, where one is on the PATH: `v24.1.0`. */
  readonly node?: string | undefined;
  /** Whether a newer Node has to be brought along. */
  readonly bringsNode: boolean;
  /** Addresses of its interfaces, loopback apart. */
  readonly addresses: readonly string[];
  /** Addresses of the two ends of this connection, as the node sees them. */
  readonly connection?: ConnectionEnds | undefined;
  readonly driver?: string | undefined;
  readonly gpus: readonly GpuReport[];
  /** Whether a Vulkan loader is installed. */
  readonly vulkan: boolean;
  /** Whether the agent brings a Vulkan loader of its own. */
  readonly bringsVulkan: boolean;
  /** Programs of those that deploying needs which are missing. */
  readonly missing: readonly string[];
  readonly findings: readonly Finding[];
  /** Who spoke SSH to it, and why. */
  readonly transport?: ChosenTransport | undefined;
}

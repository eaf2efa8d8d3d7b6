/** The JSON files that the kit writes: measure.ts makes them, scripts/gpu-report.ts reads them. */
import type { TestOutcome } from './collected-tests.ts';
import type { NvidiaGpu } from './nvidia.ts';

/** Members of every file; `failure` says why there is no `result`, or no complete one. */
export interface StepResult<T> {
  readonly step: string;
  readonly began: string;
  readonly seconds: number;
  readonly failure?: string;
  readonly skipped?: string;
  readonly result?: T;
}

/** The part of a file that a step's work knows: the rest of its file is added by who runs it. */
export type Outcome<T> = Omit<StepResult<T>, 'step' | 'began' | 'seconds'>;

export interface DeviceSeen {
  readonly name: string;
  /** PCI bus id. */
  readonly bus?: string;
  readonly gpus: number;
  readonly software: boolean;
  readonly info: Readonly<Record<string, string>>;
  readonly limits: Readonly<Record<string, number>>;
  readonly features: readonly string[];
  /** All GPUs that nvidia-smi lists. */
  readonly nvidia: readonly NvidiaGpu[];
  /** The way in which Vulkan's driver was found, and what did not lead to one before. */
  readonly driver: string;
  readonly tried: readonly string[];
  /** Libraries that the machine lacks and the kit has. */
  readonly lent: readonly string[];
  readonly node: string;
  readonly gradwire: string;
}

export interface Bits {
  readonly passed: number;
  readonly skipped: number;
  readonly failed: readonly TestOutcome[];
}

export interface KernelTimes {
  readonly device: Readonly<Record<string, string>>;
  readonly subgroups: boolean;
  readonly rows: readonly {
    readonly kernel: string;
    readonly n: number;
    readonly ms: number;
    readonly gigabytesPerSecond?: number;
    readonly share?: number;
  }[];
}

export interface PeerTimes {
  readonly torch: string;
  readonly cuda: string | null;
  readonly python: string;
  readonly device: string;
  readonly bus?: string;
  /** Milliseconds of each function, by the number of elements. */
  readonly rows: readonly Readonly<Record<string, number>>[];
}

export interface MethodSteps {
  readonly method: string;
  readonly iterations: number;
  /** Medians over ranks and iterations, the first two after a switch left out; milliseconds. */
  readonly wallMs: number;
  readonly phasesMs: Readonly<Record<string, number>>;
  readonly payload: number;
}

export interface RunSteps {
  readonly model: string;
  readonly ranks: number;
  readonly backend: string;
  readonly devices: readonly string[];
  readonly methods: readonly MethodSteps[];
  readonly switches: number;
  readonly consistent: boolean | undefined;
  readonly weights: string | undefined;
  /**
   * Memory in use on the run's GPUs by all processes, MiB: the most that was seen, and before
   * the run.
   */
  readonly peakMiB?: number;
  readonly beforeMiB?: number;
  /** Codes of warnings. */
  readonly notices: readonly string[];
}

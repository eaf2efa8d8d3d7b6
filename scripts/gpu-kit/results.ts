/** The JSON files that the kit writes: measure.ts makes them, scripts/gpu-report.ts reads them. */
import type { TestOutcome } from './collected-tests.ts';

/** What every file has; `failure` says why there is no `result`, or no complete one. */
export interface StepResult<T> {
  readonly step: string;
  readonly began: string;
  readonly seconds: number;
  readonly failure?: string;
  readonly skipped?: string;
  readonly result?: T;
}

export interface DeviceSeen {
  readonly name: string;
  /** PCI bus id. */
  readonly bus?: string;
  readonly gpus: number;
  readonly software: boolean;
  readonly info: Readonly<Record<string, string>>;
  readonly limits: Readonly<Record<string, number>>;
  readonly features: readonly string[];
  /** Lines of nvidia-smi: name, driver, bus id, memory. */
  readonly nvidia: readonly string[];
  /** The driver's manifest that was written, as the machine has none. */
  readonly manifest?: string;
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
  /** Device memory in use by all processes, MiB: the most seen, and before the run. */
  readonly peakMiB?: number;
  readonly beforeMiB?: number;
  readonly notices: readonly string[];
}

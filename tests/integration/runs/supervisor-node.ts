/**
 * A real supervisor, as built, and the test as the only main it serves: one process for all
 * runs of a file. Nothing is stored and nothing acknowledged; what runs record is as it is
 * pushed, each record once and in order.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import type { ControlConnection } from '../../../src/main/cluster/control-connection.ts';
import { connectSupervisor } from '../../../src/main/cluster/supervisor-process.ts';
import { openHome, resolveHome } from '../../../src/main/home/home.ts';
import { applySettings, parseSwitch } from '../../../src/main/spec/settings.ts';
import { loadSpecSource } from '../../../src/main/spec/spec-source.ts';
import {
  parseExperimentSpec,
  type ExperimentSpec,
} from '../../../src/shared/spec/experiment-spec.ts';
import type { SwitchRequest } from '../../../src/shared/protocol/supervisor.ts';
import {
  endsRun,
  type JournalEntry,
} from '../../../src/shared/records/journal-entry.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import type { SlurmSettings } from '../../../src/shared/machines/slurm-settings.ts';
import { GradwireHome } from '../../harness/gradwire.ts';
import { childrenOf, untilAsync, type ProcessEntry } from '../../harness/processes.ts';

const built = path.join(import.meta.dirname, '../../../dist/agent');

/** For a busy machine: building models takes the processor. */
const PREPARE_MS = 240_000;

interface PreparedRun {
  /** What it records, as it comes. */
  readonly entries: readonly JournalEntry[];
  readonly begin: () => Promise<void>;
}

export class SupervisorNode implements AsyncDisposable {
  /** Commands that run there talk to this supervisor. */
  readonly home: GradwireHome;
  readonly #agent: string;
  readonly #environment: Readonly<Record<string, string>>;
  #supervisor: ChildProcess | undefined;
  #launched = 0;
  #connection: ControlConnection | undefined;

  private constructor(
    home: GradwireHome,
    agent: string,
    environment: Readonly<Record<string, string>>,
  ) {
    this.home = home;
    this.#agent = agent;
    this.#environment = environment;
  }

  /**
   * @param agent the folder of its bundles, made in the home's where they are not the built ones
   * @param environment beside the test's own
   */
  static async start(
    agent: (directory: string) => string = () => built,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<SupervisorNode> {
    const home = new GradwireHome();
    const node = new SupervisorNode(home, agent(home.directory), environment);
    await node.startSupervisor();
    return node;
  }

  /** Another one, where the one before was killed. */
  async startSupervisor(): Promise<void> {
    const { directory } = this.home;
    const opened = await openHome(resolveHome({ GRADWIRE_HOME: directory }));
    this.#supervisor = spawn(
      process.execPath,
      [
        path.join(this.#agent, 'supervisor.js'),
        ...['--home', directory, '--socket', opened.socket],
      ],
      {
        stdio: 'ignore',
        env: { ...process.env, ...this.#environment, GRADWIRE_HOME: directory },
      },
    );
    this.#connection = await untilAsync(
      () =>
        connectSupervisor(opened, {
          run: () => undefined,
          lost: () => undefined,
        }),
      (candidate) => candidate !== undefined,
      'the supervisor to listen',
    );
  }

  get connection(): ControlConnection {
    return this.#connection!;
  }

  /** The processes of a run's ranks. */
  workers(run: string): readonly ProcessEntry[] {
    return childrenOf(this.#supervisor!.pid!, ` ${run} `);
  }

  /** Starts the ranks of a run, which wait to begin. */
  async prepare(
    run: string,
    spec: ExperimentSpec,
    switches: readonly SwitchRequest[] = [],
  ): Promise<PreparedRun> {
    const entries: JournalEntry[] = [];
    this.#launched++;
    const ranks = Array.from({ length: spec.world.ranks }, (_, rank) => rank);
    const secret = new Uint8Array(32);
    const prepared = { run, spec, switches, ranks, secret };
    const { addresses } = await this.connection.request(
      'prepare',
      prepared,
      PREPARE_MS,
    );
    await this.#read(run, entries);
    const inOrder = addresses.toSorted((a, b) => a.rank - b.rank);
    const order = { run, addresses: inOrder.map(({ address }) => address) };
    return {
      entries,
      begin: async () => {
        await this.connection.request('begin', order);
      },
    };
  }

  /** A run on nodes that Slurm allots, which begins by itself. */
  async queue(
    run: string,
    spec: ExperimentSpec,
    slurm: SlurmSettings,
  ): Promise<readonly JournalEntry[]> {
    const entries: JournalEntry[] = [];
    this.#launched++;
    const ranks = Array.from({ length: spec.world.ranks }, (_, rank) => rank);
    const secret = new Uint8Array(32);
    const asked = { run, spec, switches: [], ranks, secret, slurm };
    await this.connection.request('prepare', asked, PREPARE_MS);
    await this.#read(run, entries);
    return entries;
  }

  async #read(run: string, entries: JournalEntry[]): Promise<void> {
    await this.connection.subscribe(run, 0, {
      push: (pushed) => entries.push(...pushed),
      subscribed: () => undefined,
    });
  }

  /** As the kernel does, for lack of memory perhaps: what was started there is left. */
  async kill(): Promise<void> {
    const gone = new Promise((resolve) => this.#supervisor!.once('exit', resolve));
    this.#supervisor!.kill('SIGKILL');
    await gone;
  }

  /** Begins a run; what it records, as it comes. */
  async launch(
    run: string,
    spec: ExperimentSpec,
    switches: readonly SwitchRequest[] = [],
  ): Promise<readonly JournalEntry[]> {
    const { entries, begin } = await this.prepare(run, spec, switches);
    await begin();
    return entries;
  }

  /** The quickstart with other settings, to its end: all that it records. */
  async train(
    settings: Readonly<Record<string, unknown>>,
    switches: readonly SwitchRequest[] = [],
  ): Promise<readonly RunRecord[]> {
    const spec = parseExperimentSpec({
      workload: { model: 'fnn3', dataset: 'digits' },
      optimizer: { lr: 0.2, momentum: 0.5 },
      evaluateEvery: 0,
      ...settings,
    });
    const entries = await this.launch(`run-${this.#launched}`, spec, switches);
    await endOf(entries);
    entries.forEach(({ sequence }, index) => {
      if (sequence !== index + 1) throw new Error(`record ${sequence} is at ${index}`);
    });
    return entries.map(({ record }) => record);
  }

  /**
   * The quickstart with `--set` and `--switch` as the command takes them, to its end: all that it
   * records. @throws if it did not complete
   */
  async quickstart(
    settings: readonly string[],
    switches: readonly string[] = [],
  ): Promise<readonly RunRecord[]> {
    const { raw } = await loadSpecSource('quickstart');
    const spec = parseExperimentSpec(applySettings(raw, settings));
    const run = `run-${this.#launched}`;
    const entries = await this.launch(run, spec, switches.map(parseSwitch));
    const last = await endOf(entries);
    if (last.type !== 'done')
      throw new Error(`the run ended by ${JSON.stringify(last)}`);
    return entries.map(({ record }) => record);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { exitCode, signalCode } = this.#supervisor!;
    if (exitCode === null && signalCode === null) {
      const gone = new Promise((resolve) => this.#supervisor!.once('exit', resolve));
      this.#supervisor!.kill('SIGTERM');
      await gone;
    }
    await this.#connection?.close();
    await this.home[Symbol.asyncDispose]();
  }
}

/** The record that ended a run, once it has. */
export async function endOf(entries: readonly JournalEntry[]): Promise<RunRecord> {
  const last = await untilAsync(
    () => Promise.resolve(entries.at(-1)),
    (entry) => entry !== undefined && endsRun(entry.record),
    'the run to end',
  );
  return last!.record;
}

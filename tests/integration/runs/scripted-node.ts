/** A real supervisor, as built, whose workers are `scripted-worker.ts`. */
import { spawn, type ChildProcess } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { openHome, resolveHome, type Home } from '../../../src/main/home/home.ts';
import type { ControlConnection } from '../../../src/main/cluster/control-connection.ts';
import { connectSupervisor } from '../../../src/main/cluster/supervisor-process.ts';
import { endsRun, type JournalEntry } from '../../../src/shared/records.ts';
import { childrenOf, untilAsync, type ProcessEntry } from '../../harness/processes.ts';
import { sampleSpec } from '../../unit/main/sample-records.ts';

const root = path.join(import.meta.dirname, '../../..');
const script = path.join(import.meta.dirname, 'scripted-worker.ts');

export class ScriptedNode {
  readonly #home: Home;
  readonly #supervisor: ChildProcess;
  readonly #pushed = new Map<string, JournalEntry[]>();
  #connection: ControlConnection | undefined;

  private constructor(home: Home, supervisor: ChildProcess) {
    this.#home = home;
    this.#supervisor = supervisor;
  }

  static async start(): Promise<ScriptedNode> {
    const directory = mkdtempSync(path.join(os.tmpdir(), 'gw-scripted-'));
    const home = await openHome(resolveHome({ GRADWIRE_HOME: directory }));
    const agent = path.join(directory, 'agent');
    cpSync(path.join(root, 'dist/agent'), agent, { recursive: true });
    symlinkSync(path.join(root, 'node_modules'), path.join(directory, 'node_modules'));
    writeFileSync(path.join(directory, 'package.json'), '{"type":"module"}');
    writeFileSync(
      path.join(agent, 'worker.js'),
      `import ${JSON.stringify(pathToFileURL(script).href)};\n`,
    );
    const supervisor = spawn(
      process.execPath,
      [
        path.join(agent, 'supervisor.js'),
        ...['--home', directory, '--socket', home.socket],
      ],
      { stdio: 'ignore' },
    );
    const node = new ScriptedNode(home, supervisor);
    node.#connection = await untilAsync(
      () => node.#connect(),
      (candidate) => candidate !== undefined,
      'the supervisor to listen',
    );
    return node;
  }

  get connection(): ControlConnection {
    return this.#connection!;
  }

  /** The processes of a run's ranks. */
  workers(run: string): readonly ProcessEntry[] {
    return childrenOf(this.#supervisor.pid!, `gradwire worker ${run} `);
  }

  /** Begins a run of two ranks by the script of that name; what it records, as it comes. */
  async launch(
    name: string,
    overrides: Record<string, unknown> = {},
  ): Promise<readonly JournalEntry[]> {
    const entries: JournalEntry[] = [];
    this.#pushed.set(name, entries);
    const { addresses } = await this.connection.request('prepare', {
      run: name,
      spec: sampleSpec({ name, ...overrides }),
      switches: [],
      ranks: [0, 1],
      secret: new Uint8Array(32),
    });
    await this.connection.request('subscribe', { run: name, after: 0 });
    await this.connection.request('begin', {
      run: name,
      addresses: addresses.map(({ address }) => address),
    });
    return entries;
  }

  async close(): Promise<void> {
    const gone = new Promise((resolve) => this.#supervisor.once('exit', resolve));
    this.#supervisor.kill('SIGTERM');
    await gone;
    await this.connection.close();
    rmSync(this.#home.directory, { recursive: true });
  }

  #connect(): Promise<ControlConnection | undefined> {
    return connectSupervisor(this.#home, {
      push: (message) => {
        if (message.type !== 'records') return;
        this.#pushed.get(message.run)?.push(...message.entries);
      },
      lost: () => undefined,
    });
  }
}

/** The record that ended a run, once it has. */
export async function endOf(
  entries: readonly JournalEntry[],
): Promise<JournalEntry['record']> {
  const last = await untilAsync(
    () => Promise.resolve(entries.at(-1)),
    (entry) => entry !== undefined && endsRun(entry.record),
    'the run to end',
    30_000,
  );
  return last!.record;
}

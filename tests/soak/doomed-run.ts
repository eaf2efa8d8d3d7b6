/**
 * One run of which one process is killed at a random moment, and what has to be true after
 * it: the command ends, in one line where it fails; no process and no socket is left, nor a
 * file outside the home; the run has ended in the eyes of the next command.
 */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunSummary } from '../../src/shared/rpc/run-summary.ts';
import { GradwireHome, type RunningCommand } from '../harness/gradwire.ts';
import { until, type ProcessEntry } from '../harness/processes.ts';
import { generator } from '../integration/collectives/run-collective.ts';

/** From the first process on: start-up, training and the end. */
const LONGEST_MS = 4000;
const ITERATIONS = 40;
/** By what their titles have. */
const VICTIMS = {
  worker: 'gradwire worker',
  supervisor: 'gradwire supervisor',
  command: 'cli.js run',
  app: 'cli.js serve',
} as const;
export type Victim = keyof typeof VICTIMS;

export interface Doom {
  readonly victim: Victim;
  /** From the start of the command, ms. */
  readonly moment: number;
  readonly settings: readonly string[];
  readonly withApp: boolean;
  /** Which of the living where there is none of the kind, in [0, 1). */
  readonly lot: number;
}

export function drawDoom(seed: number): Doom {
  const random = generator(seed);
  const pick = <T>(values: readonly T[]): T =>
    values[Math.floor(random() * values.length)]!;
  const withApp = random() < 0.3;
  const others: readonly Victim[] = withApp
    ? ['supervisor', 'command', 'app']
    : ['supervisor', 'command'];
  return {
    withApp,
    victim: random() < 0.5 ? 'worker' : pick(others),
    moment: Math.floor(LONGEST_MS * random()),
    lot: random(),
    settings: [
      `iterations=${ITERATIONS}`,
      `world.ranks=${pick([1, 2, 3, 4])}`,
      `exchange.method=${pick(['none', 'topk', 'a2sgd', 'powersgd', 'dgc'])}`,
      `transport=${pick(['auto', 'tcp'])}`,
      `engine=${pick(['auto', 'inline', 'thread'])}`,
      `encrypt=${pick([false, false, true])}`,
      `evaluateEvery=${pick([0, 7])}`,
    ],
  };
}

/** Whom it met; undefined where all had ended by then. */
export async function execute(doom: Doom): Promise<Victim | undefined> {
  await using home = new GradwireHome();
  const temporary = path.join(home.directory, 'temporary');
  mkdirSync(temporary);
  const environment = {
    TMPDIR: temporary,
    // What Node compiles is kept there on purpose.
    NODE_COMPILE_CACHE: path.join(tmpdir(), 'node-compile-cache'),
  };
  const app = doom.withApp
    ? home.start(['serve', '--no-open'], { environment })
    : undefined;
  const command = home.startQuickstart(doom.settings, { environment });
  await sleep(doom.moment);
  const met = strike(home, doom);
  await command.finished;
  app?.child.kill('SIGTERM');
  await app?.finished;
  await nothingRuns(home);
  if (met !== 'command') expectPlainEnd(command);
  if (met === 'app' && command.child.exitCode !== 0) {
    throw new Error(`the run failed with the app: ${command.stderr}`);
  }

  const { code, stdout, stderr } = await home.run(['runs', 'list', '--json']);
  if (code !== 0 || stderr !== '') throw new Error(`runs list: ${code} ${stderr}`);
  for (const line of stdout.split('\n').filter((text) => text !== '')) {
    const { state } = JSON.parse(line) as RunSummary;
    if (state === 'starting' || state === 'running') {
      throw new Error(`the run is ${state} for ever`);
    }
    // Who only looks on takes nothing with it.
    if ((met === 'command' || met === 'app') && state === 'stopped') {
      throw new Error('the run was stopped');
    }
  }
  await nothingRuns(home);
  const left = readdirSync(temporary);
  if (left.length > 0) throw new Error(`left behind: ${left.join(', ')}`);
  const bound = readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .filter((line) => line.includes(home.directory));
  if (bound.length > 0) throw new Error(`sockets are left: ${bound.join(', ')}`);
  return met;
}

/** Kills one of the kind, or else one of any: at that moment there may be no other. */
function strike(home: GradwireHome, { victim, lot }: Doom): Victim | undefined {
  const kindOf = ({ title }: ProcessEntry): Victim | undefined =>
    (Object.keys(VICTIMS) as Victim[]).find((kind) => title.includes(VICTIMS[kind]));
  const living = home.processes().filter((entry) => kindOf(entry) !== undefined);
  const wanted = living.filter((entry) => kindOf(entry) === victim);
  const among = wanted.length > 0 ? wanted : living;
  const chosen = among[Math.floor(lot * among.length)];
  if (chosen === undefined) return undefined;
  try {
    process.kill(chosen.pid, 'SIGKILL');
  } catch {
    return undefined; // it ended by itself in between
  }
  return kindOf(chosen);
}

async function nothingRuns(home: GradwireHome): Promise<void> {
  await until(
    () => home.processes(),
    (left) => left.length === 0,
    'all processes to end',
  );
}

/** Success, or a failure in one line with a code. */
function expectPlainEnd(command: RunningCommand): void {
  const { exitCode, signalCode } = command.child;
  const { stderr } = command;
  const plain =
    exitCode === 0
      ? stderr === ''
      : exitCode === 1 && /^gradwire: [A-Z_]+: [^\n]*\n$/.test(stderr);
  if (!plain) throw new Error(`ended with ${signalCode ?? exitCode}: ${stderr}`);
}

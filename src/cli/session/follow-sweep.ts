/**
 * Drives a sweep to its end, or watches it where another process drives it, and turns it into an
 * exit code. A watcher takes over from a driver that has ended, or has shown no sign of life; a
 * driver from which the sweep was taken watches it. The first Ctrl-C stops the sweep and its runs
 * in progress and waits for their ends; a second one does not wait. Who only watches leaves it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { failure } from '../../shared/errors/errors.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import type { SweepDetail } from '../../shared/sweep/sweep-status.ts';
import { ownName } from '../../main/home/process-name.ts';
import { stopSweep } from '../../main/sweeps/stop-sweep.ts';
import { SweepRunner, type SweepEnd } from '../../main/sweeps/sweep-runner.ts';
import { reportError } from '../text/report-error.ts';
import { SweepProgress } from '../text/sweep-progress.ts';
import { liveWidth } from '../text/terminal.ts';
import { Interruption } from './interruption.ts';
import type { Workspace } from './workspace.ts';

const LOOK_MS = 1000;

/** @returns the exit code */
export async function followSweep(
  workspace: Workspace,
  sweep: string,
  { json }: { readonly json: boolean },
): Promise<number> {
  const { coordinator, events, store } = workspace;
  let isDriver = store.sweeps.claim(sweep, ownName());
  const interruption: Interruption = new Interruption(
    {
      get mode() {
        return isDriver ? 'run' : 'attach';
      },
    },
    () => {
      progress.makeWay();
      const options = { store, coordinator, isDriver, finishesRuns: false };
      stopSweep(sweep, { ...options, received: interruption.received }).catch(
        interruption.unstopped,
      );
      if (workspace.deployments.cancel())
        return 'cancelling the deployment, and stopping the sweep';
      return 'stopping the sweep and its runs in progress; Ctrl-C again does not wait for them';
    },
  );
  interruption.begun();
  const progress = new SweepProgress(
    {
      write: (text) => {
        if (!interruption.quiet) process.stdout.write(text);
      },
      get columns() {
        return liveWidth();
      },
    },
    json,
  );
  const summaryOf = (run: string): RunSummary | undefined =>
    store.has(run) ? store.summary(run) : undefined;
  const update = (): SweepDetail => {
    const detail = store.sweeps.detail(sweep);
    progress.update(detail, summaryOf);
    return detail;
  };
  const runner = new SweepRunner({
    store,
    coordinator,
    sweep,
    events: { begun: () => undefined, ended: update },
  });
  progress.begin(store.sweeps.detail(sweep));
  events.changed = ({ id }) => {
    if (!runner.live.includes(id)) return;
    const running = runner.live
      .map((run) => store.summary(run))
      .filter(({ state }) => !hasEnded(state));
    progress.live(store.sweeps.detail(sweep), running);
  };
  try {
    const drives = (now: boolean): void => {
      isDriver = now;
      progress.makeWay();
      if (interruption.quiet) return;
      const words = now ? takenOver(sweep) : takenAway(sweep);
      process.stderr.write(`gradwire: ${words}\n`);
    };
    const work = watchOrDrive(runner, { workspace, sweep, isDriver, update, drives });
    const result = await Promise.race([work, workspace.trouble, interruption.left]);
    if (result === undefined) {
      work.catch(() => undefined); // no longer awaited
      runner.leave();
      progress.makeWay();
      if (!interruption.quiet) {
        process.stderr.write(`gradwire: ${whatBecomes(sweep, interruption)}\n`);
      }
      if (interruption.outputFault !== undefined) throw interruption.outputFault;
      return interruption.exitCode ?? 0;
    }
    const detail = update();
    if (!interruption.quiet) progress.end(detail);
    if (interruption.outputFault !== undefined) throw interruption.outputFault;
    return exitCode(detail, interruption);
  } finally {
    events.changed = () => undefined;
    interruption.close();
  }
}

interface Watching {
  readonly workspace: Workspace;
  readonly sweep: string;
  /** Whether it drives the sweep at first. */
  readonly isDriver: boolean;
  readonly update: () => SweepDetail;
  /** Tells that it drives the sweep from now on, or that another process does. */
  readonly drives: (now: boolean) => void;
}

/** Looks at a sweep until it has come to an end, and drives it while no other process does. */
async function watchOrDrive(
  runner: SweepRunner,
  { drives, isDriver, sweep, update, workspace }: Watching,
): Promise<SweepEnd> {
  const { sweeps } = workspace.store;
  let isMine = isDriver;
  for (;;) {
    if (isMine) {
      const end = await runner.drive();
      if (end !== 'left' || runner.isLeaving) return end;
      drives(false);
      isMine = false;
    }
    const { counts, state } = update();
    if (state === 'finished') return state;
    if (state === 'stopped' && counts.running === 0) return state;
    if (state === 'waiting' && sweeps.claim(sweep, ownName())) {
      drives(true);
      isMine = true;
      continue;
    }
    await pause(LOOK_MS);
  }
}

const takenAway = (sweep: string): string =>
  `another process drives sweep ${sweep} now: this command watches it`;

const takenOver = (sweep: string): string =>
  `nothing else drives sweep ${sweep} any more: this command goes on with it`;

function whatBecomes(sweep: string, { asked }: Interruption): string {
  return asked === 'not'
    ? `sweep ${sweep} waits for the app; go on with it with: gradwire sweeps resume ${sweep}`
    : `sweep ${sweep} is stopped, and its runs end in the background; see how with: ` +
        `gradwire sweeps show ${sweep}`;
}

function exitCode(sweep: SweepDetail, interruption: Interruption): number {
  if (interruption.quiet) return 0;
  if (interruption.exitCode !== undefined) return interruption.exitCode;
  if (sweep.error !== undefined && sweep.state === 'stopped')
    return reportError(asError(sweep));
  const { failed } = sweep.counts;
  if (failed === 0) return 0;
  const what = failed === 1 ? 'one run' : `${failed} runs`;
  return reportError(
    failure('SWEEP_RUNS_FAILED', `${what} of sweep ${sweep.name} failed`, {
      next: `Try again: gradwire sweeps resume ${sweep.id} --retry.`,
    }),
  );
}

const asError = ({ error }: SweepDetail): unknown =>
  Object.assign(new Error(), { name: 'GradwireError' }, error);

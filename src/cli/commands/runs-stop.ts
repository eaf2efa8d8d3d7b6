/** `gradwire runs stop`: stop a run after its current iteration. */
import type { Command } from 'commander';
import { GradwireError } from '../../shared/errors/errors.ts';
import { LOCAL_NODE } from '../../shared/machines/node-entry.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import {
  addConnectOptions,
  connectOptions,
  type ConnectFlags,
} from '../session/connect-options.ts';
import { resolveRun } from '../session/run-name.ts';
import { withWorkspace, type Workspace } from '../session/workspace.ts';
import { answer, JSON_ANSWER } from '../text/answer.ts';
import { iterationsText } from '../text/quantities.ts';

interface StopFlags extends ConnectFlags {
  readonly json: boolean;
  readonly now: boolean;
  readonly on?: string;
}

export function addRunsStopCommand(runs: Command): void {
  const command = runs
    .command('stop')
    .description('stop a run after its current iteration; its records are kept')
    .argument('<run>', 'its id or the start of it, or last')
    .option(
      '--now',
      'end its processes at once, for a program that hangs; by default the current iteration ends first',
      false,
    )
    .option(
      '--on <machine>',
      'stop it on that machine, even if it was started elsewhere',
    )
    .option(...JSON_ANSWER)
    .action(async (name: string, flags: StopFlags) => {
      await withWorkspace(async (workspace) => {
        const { json, now, on } = flags;
        const isElsewhere = on !== undefined && on !== LOCAL_NODE;
        if (isElsewhere && !(await isFollowed(workspace, name)))
          await stopThere(workspace, { name, node: on, now, json });
        else await stopOwn(workspace, name, now, json);
      }, connectOptions(flags));
    });
  addConnectOptions(command);
}

async function stopOwn(
  { store, coordinator }: Workspace,
  name: string,
  now: boolean,
  json: boolean,
): Promise<void> {
  const id = resolveRun(store, name);
  let isReceived = false;
  try {
    await coordinator.following.follow(id, { keep: false });
    await coordinator.orders.give(id, { type: 'stop', ...(now && { now }) }, () => {
      isReceived = true;
    });
  } catch (error) {
    throw isReceived ? error : undelivered(error, id);
  }
  const { state, ...summary } = await coordinator.following.ended(id);
  const done = store.reads.detail(id).events.find((event) => event.type === 'done');
  const iterations = done?.iterations ?? summary.iterations;
  const text = `run ${id}: ${state} after ${iterationsText(iterations)}\n`;
  answer(json, { run: id, state, iterations }, text);
}

/** A machine that does not answer may never hear of the stop. */
function undelivered(error: unknown, id: string): unknown {
  if (!(error instanceof GradwireError) || error.kind === 'input') return error;
  const next =
    `${error.next ?? ''} The run has not confirmed the stop: repeat it then with ` +
    `gradwire runs stop ${id}.`;
  return new GradwireError({ ...error.toData(), next: next.trim() }, { cause: error });
}

/**
 * Stops a run that is not followed here. Its records stay on its machines, for the app that
 * launched it.
 */
async function stopThere(
  { store, inventory }: Workspace,
  {
    json,
    name,
    node,
    now,
  }: {
    readonly json: boolean;
    readonly name: string;
    readonly node: string;
    readonly now: boolean;
  },
): Promise<void> {
  const id = await inventory.remote(store.nodes.named(node)).stopRun(name, now);
  const text = `run ${id}: stopped on ${node}\n`;
  answer(json, { run: id, state: 'stopped', machine: node }, text);
}

/** Whether it is one of this computer's runs that has not ended, as far as is known here. */
async function isFollowed(
  { store, coordinator }: Workspace,
  name: string,
): Promise<boolean> {
  try {
    const id = resolveRun(store, name);
    // A run that was presumed lost is looked for first.
    if (hasEnded(store.summary(id).state))
      await coordinator.following.follow(id, { keep: false });
    return !hasEnded(store.summary(id).state);
  } catch (error) {
    if (error instanceof GradwireError && error.code === 'RUN_UNKNOWN') return false;
    throw error;
  }
}

/** `gradwire runs switch`: change the exchange of a run in progress, or say what that would do. */
import os from 'node:os';
import { InvalidArgumentError, type Command } from 'commander';
import { readWindow } from '../../export/report/read-verdict.ts';
import { parseChange } from '../../main/spec/settings.ts';
import type { Foresight } from '../../shared/orders/foresee.ts';
import { describePlan } from '../../shared/plan/exchange-plan.ts';
import { switchGuardSchema, type SwitchGuard } from '../../shared/plan/switch-guard.ts';
import type { SwitchRequest } from '../../shared/plan/plan-schemas.ts';
import {
  foreseenStep,
  foreseenText,
  type ForeseenStep,
} from '../../shared/verdict/foreseen-step.ts';
import { verdictContext } from '../../shared/verdict/verdict-context.ts';
import { verdict } from '../../shared/verdict/verdict.ts';
import { catchUp } from '../session/catch-up.ts';
import {
  addConnectOptions,
  connectOptions,
  type ConnectFlags,
} from '../session/connect-options.ts';
import { resolveRun } from '../session/run-name.ts';
import { storedRuns } from '../session/stored-runs.ts';
import { withWorkspace, type Workspace } from '../session/workspace.ts';
import { proofLines } from '../text/verdict-text.ts';

interface SwitchFlags extends ConnectFlags {
  readonly dryRun: boolean;
  readonly guard?: SwitchGuard;
  readonly json: boolean;
}

export function addRunsSwitchCommand(runs: Command): void {
  const command = runs
    .command('switch')
    .description('change method, parameters or collective of a run in progress')
    .argument('<run>', 'its id or the start of it, or last')
    .argument('<key=value...>', 'for example method=topk ratio=0.01')
    .option(
      '--guard <limits>',
      'switch back if a median exceeds this multiple of the one before: step, loss, residual; for example step=1.2,loss=1.5',
      parseGuard,
    )
    .option('--dry-run', 'predict the step after the switch, and change nothing', false)
    .option('--json', 'print the planned switch as one line of JSON', false)
    .action(async (name: string, changes: readonly string[], flags: SwitchFlags) => {
      const request = parseChange(changes.join(','), 'runs switch');
      await withWorkspace(async (workspace) => {
        const { store, coordinator } = workspace;
        if (flags.dryRun) {
          await catchUp(coordinator);
          await foresee(workspace, resolveRun(store, name), request, flags.json);
          return;
        }
        const id = resolveRun(store, name);
        const { switch: planned } = await coordinator.orders.give(id, {
          type: 'switch',
          ...request,
          guard: flags.guard,
        });
        process.stdout.write(
          flags.json
            ? `${JSON.stringify(planned)}\n`
            : `run ${id}: ${describePlan(planned.plan)} from the next fence\n`,
        );
      }, connectOptions(flags));
    });
  addConnectOptions(command);
}

/** `step=1.2,loss=1.5` */
function parseGuard(text: string): SwitchGuard {
  const limits = text.split(',').map((part): [string, number] => {
    const [key = '', value = ''] = part.split('=');
    return [key.trim(), value.trim() === '' ? NaN : Number(value)];
  });
  const keys = limits.map(([key]) => key);
  const twice = keys.find((key, index) => keys.indexOf(key) < index);
  if (twice !== undefined) {
    throw new InvalidArgumentError(`It has two limits of ${twice}.`);
  }
  const parsed = switchGuardSchema.strict().safeParse(Object.fromEntries(limits));
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(
    'It must be limits above 1 of step, loss or residual, such as step=1.2,loss=1.5.',
  );
}

async function foresee(
  { coordinator, store }: Workspace,
  id: string,
  request: SwitchRequest,
  json: boolean,
): Promise<void> {
  const foresight = await coordinator.orders.give(id, { type: 'foresee', ...request });
  const foreseen = await observedStep(store, id, foresight);
  process.stdout.write(
    json
      ? `${JSON.stringify({ run: id, ...foresight, foreseen })}\n`
      : `${foresightText(id, foresight, foreseen)}\n`,
  );
}

/** The predicted step; undefined while there are too few iterations to rest it on. */
async function observedStep(
  store: Workspace['store'],
  id: string,
  foresight: Foresight,
): Promise<ForeseenStep | undefined> {
  const detail = store.reads.shown(id);
  const summary = await readWindow(storedRuns(store), detail);
  if (summary === undefined) return undefined;
  const context = verdictContext(detail, os.availableParallelism());
  const judged = verdict(summary, context);
  return judged && foreseenStep(summary, judged.account, foresight);
}

function foresightText(
  id: string,
  { fence, plan }: Foresight,
  foreseen: ForeseenStep | undefined,
): string {
  const head = `run ${id}: ${describePlan(plan)}, from iteration ${fence} at the earliest; not switched`;
  return foreseen === undefined
    ? `${head}\ntoo few iterations for a prediction`
    : [head, foreseenText(foreseen), ...proofLines(foreseen.proof)].join('\n');
}

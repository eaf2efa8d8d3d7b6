/** `gradwire runs order`: give a run in progress any order by its name. */
import type { Command } from 'commander';
import { parseParameters } from '../../main/spec/settings.ts';
import { checkedValue } from '../../shared/checks/checked-value.ts';
import type { JsonValue } from '../../shared/checks/json.ts';
import { inputError } from '../../shared/errors/errors.ts';
import {
  askedOrders,
  runOrderSchema,
  type RunOrder,
} from '../../shared/orders/orders.ts';
import {
  addConnectOptions,
  connectOptions,
  type ConnectFlags,
} from '../session/connect-options.ts';
import { resolveRun } from '../session/run-name.ts';
import { withWorkspace } from '../session/workspace.ts';

export function addRunsOrderCommand(runs: Command): void {
  const command = runs
    .command('order')
    .description('give a run in progress an order by its name, with keys and values')
    .argument('<run>', 'its id or the start of it, or last')
    .argument('<order>', 'for example switch')
    .argument('[key=value...]', 'as the order has them')
    .option('--json', 'one line of JSON, as without it', false)
    .action(
      async (
        name: string,
        type: string,
        settings: readonly string[],
        flags: ConnectFlags,
      ) => {
        const order = orderFrom(type, parseParameters(settings, 'runs order'));
        await withWorkspace(async ({ store, coordinator }) => {
          const answer = await coordinator.orders.give(resolveRun(store, name), order);
          process.stdout.write(`${JSON.stringify(answer)}\n`);
        }, connectOptions(flags));
      },
    );
  addConnectOptions(command);
}

/** @throws GradwireError `ORDER_UNKNOWN`, `ORDER_INVALID` */
function orderFrom(type: string, keys: Readonly<Record<string, JsonValue>>): RunOrder {
  const known = askedOrders().map((definition) => definition.type);
  if (!known.includes(type)) {
    throw inputError('ORDER_UNKNOWN', `there is no order "${type}"`, {
      place: 'runs order',
      next: `Orders: ${known.join(', ')}.`,
    });
  }
  const checked = checkedValue(runOrderSchema, { ...keys, type });
  if (checked.fault === undefined) return checked.value;
  throw inputError('ORDER_INVALID', `${type}: ${checked.fault}`, {
    place: 'runs order',
    next: 'Correct the value and try again.',
  });
}

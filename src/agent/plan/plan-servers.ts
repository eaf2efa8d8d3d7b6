/** The number of servers of a plan whose collective has some. */
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import { assertServes, collectives } from '../collectives/registry.ts';
import { DEFAULT_SERVERS } from '../collectives/server-ranks.ts';
import type { PlanSetting } from './plan-setting.ts';

/**
 * The plan with the number of its servers, where its collective has some. If no number is
 * requested, the previous plan's number is kept.
 * @throws GradwireError `SERVERS_MISFIT`, `SERVERS_INVALID`
 */
export function withServers(
  { servers: asked, ...plan }: ExchangePlan,
  change: Readonly<Record<string, unknown>>,
  base: ExchangePlan | undefined,
  { ranks }: PlanSetting,
): ExchangePlan {
  if (collectives.get(plan.collective)?.hasServers === true) {
    const kept = change.servers === null ? undefined : base?.servers;
    const servers = asked ?? kept ?? DEFAULT_SERVERS;
    assertServes(plan.collective, servers, ranks);
    return { ...plan, servers };
  }
  // The app's panel repeats current values, which is not a choice.
  if (asked !== undefined && asked !== base?.servers) {
    assertServes(plan.collective, asked, ranks);
  }
  return plan;
}

/**
 * The schedule with which a run is launched again: every switch that happened, at the
 * fence where it happened, and those scheduled at launch that the run did not reach.
 */
import type { Catalogue } from '../../shared/catalogue/catalogue.ts';
import { planAsChange } from '../../shared/plan/exchange-plan.ts';
import type { SwitchRequest } from '../../shared/protocol/supervisor.ts';
import type { RunDetail } from '../../shared/rpc/run-summary.ts';

export function scheduleAsItHappened(
  run: Pick<RunDetail, 'events' | 'iterations'>,
  launched: readonly SwitchRequest[],
  methods: Catalogue['methods'],
): readonly SwitchRequest[] {
  const happened = run.events
    .filter((event) => event.type === 'switch')
    .map(({ fence, to, residual }): SwitchRequest & { at: number } => ({
      at: fence,
      change: planAsChange(to, methods),
      ...(residual === 'dropped' ? { residual: 'drop' } : {}),
    }));
  const reached = Math.max(run.iterations, ...happened.map(({ at }) => at + 1));
  const pending = launched.filter(({ at }) => at !== undefined && at >= reached);
  return [...happened, ...pending];
}

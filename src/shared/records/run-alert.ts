/** The alerts of a run in its summary: one for each rule that has held. */
import { z } from 'zod';

export const runAlertsSchema = z.array(
  z.looseObject({
    /** The rule's id. */
    rule: z.string(),
    title: z.string(),
    /** Number of times that it began to hold. */
    times: z.number(),
    /** Whether it still holds, or held when the run ended. */
    isOpen: z.boolean(),
  }),
);
export type RunAlert = Readonly<z.infer<typeof runAlertsSchema>[number]>;

/** The alerts after one was raised or is over. */
export function alertsAfter(
  alerts: readonly RunAlert[],
  {
    phase,
    rule,
    title,
  }: {
    readonly rule: string;
    readonly title: string;
    readonly phase: 'over' | 'raised';
  },
): readonly RunAlert[] {
  const isOpen = phase === 'raised';
  const known = alerts.find((alert) => alert.rule === rule);
  const others = alerts.filter((alert) => alert !== known);
  const times = (known?.times ?? 0) + (isOpen ? 1 : 0);
  return [...others, { rule, title, times, isOpen }];
}

/** The alerts in a few words: `Loss rising; Long wait (over), 3 times`. */
export const alertsText = (alerts: readonly RunAlert[]): string =>
  alerts
    .map(
      ({ isOpen, times, title }) =>
        title + (isOpen ? '' : ' (over)') + (times > 1 ? `, ${times} times` : ''),
    )
    .join('; ');

/** Places of plans: `#/plan?preset=digits-topk&ranks=16&bandwidth=1%20Gbit%2Fs`. */
import { placeKind, withChoices } from './place-kind.ts';

/** A planned step. What is not given has its default; values are as they were written. */
export interface PlanPlace {
  readonly view: 'plan';
  /** The preset or the run whose spec is planned. */
  readonly preset?: string | undefined;
  readonly run?: string | undefined;
  readonly ranks?: string | undefined;
  readonly machines?: string | undefined;
  readonly bandwidth?: string | undefined;
  readonly latency?: string | undefined;
  /** Milliseconds of computation in a step. */
  readonly compute?: string | undefined;
  readonly parameters?: string | undefined;
  readonly method?: string | undefined;
  /** Parameters of the method: `ratio=0.01,momentum=0.9`. */
  readonly options?: string | undefined;
  readonly collective?: string | undefined;
  readonly axis?: string | undefined;
}

const CHOICES = [
  ...(['preset', 'run', 'ranks', 'machines', 'bandwidth', 'latency'] as const),
  ...(['compute', 'parameters', 'method', 'options', 'collective', 'axis'] as const),
] satisfies readonly (keyof PlanPlace)[];

export const planPlace = placeKind<PlanPlace>({
  view: 'plan',
  read: (_id, query) => ({
    view: 'plan',
    ...Object.fromEntries(
      CHOICES.flatMap((key) => {
        const value = query.get(key);
        return value === undefined || value === '' ? [] : [[key, value] as const];
      }),
    ),
  }),
  write: ({ view, ...choices }) => withChoices(view, choices),
});

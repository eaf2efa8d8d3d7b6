/**
 * An alert rule is one definition: what it reads, its parameters with their defaults, and what to
 * do next. `alert-rules.ts` lists the rules, `run-watch.ts` evaluates them. A rule is a function of
 * what it has seen of a run, in the order in which records are stored; its state is plain JSON, so
 * that any process goes on where another one left off.
 */
import type { z } from 'zod';
import type { RunRecord } from '../records/record-kinds.ts';

/** One thing that a rule sees. */
export type Observation =
  | { readonly kind: 'record'; readonly record: RunRecord; readonly now: number }
  /** A look at the clock and at this computer while the run goes on. */
  | {
      readonly kind: 'moment';
      readonly now: number;
      /** Free bytes on the disk of the home; absent if unknown. */
      readonly freeBytes?: number | undefined;
    };

/** The rule holds now, with the values, or holds no longer. */
export type Finding =
  | {
      readonly holds: true;
      /** One sentence with the values, without its full stop. */
      readonly message: string;
      readonly rank?: number | undefined;
      readonly iteration?: number | undefined;
    }
  | {
      readonly holds: false;
      readonly message: string;
      readonly iteration?: number | undefined;
    };

/** A number that a rule depends on. */
interface RuleParameter {
  readonly title: string;
  readonly help: string;
  readonly default: number;
  readonly least: number;
  readonly most: number;
  readonly isWhole?: boolean;
}

export interface AlertRule<S = unknown, P extends string = string> {
  readonly id: string;
  readonly title: string;
  /** The condition that raises it, as a sentence. */
  readonly about: string;
  /** Advice once it was raised, as a sentence. */
  readonly next: string;
  readonly parameters: Readonly<Record<P, RuleParameter>>;
  /** Set if a record says it already: then it is told, but not recorded again. */
  readonly isRecorded?: true;
  /** Shape of its state. A stored state of another version that does not fit begins anew. */
  readonly state: z.ZodType<S>;
  readonly begin: () => S;
  /**
   * Looks at one thing and changes its state. Between the bound at which it begins to hold and the
   * one at which it ends it finds nothing, so that a quantity near a bound raises one alert.
   */
  readonly observe: (
    state: S,
    seen: Observation,
    parameters: Readonly<Record<P, number>>,
  ) => Finding | undefined;
}

/** Checks a definition's types; returns it for the list of rules. */
export const alertRule = <S, P extends string>(rule: AlertRule<S, P>): AlertRule =>
  rule as unknown as AlertRule;

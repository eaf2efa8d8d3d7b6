/**
 * Evaluates the alert rules over one run: an alert is raised once when a rule begins to hold, and is
 * over once it does not any more. The state is JSON, kept with the run.
 */
import type { AlertRecord } from '../records/alert.ts';
import type { AlertRule, Finding, Observation } from './alert-rule.ts';
import { ALERT_RULES } from './alert-rules.ts';

/** Choices of a rule: none of a rule that is off. */
export type RuleChoices = ReadonlyMap<string, Readonly<Record<string, number>>>;

/** The defaults: every rule is on. */
export const DEFAULT_CHOICES: RuleChoices = new Map(
  ALERT_RULES.map((rule) => [rule.id, defaultsOf(rule)]),
);

function defaultsOf({ parameters }: AlertRule): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, parameter]) => [name, parameter.default]),
  );
}

interface Watched {
  readonly rule: AlertRule;
  readonly parameters: Readonly<Record<string, number>>;
  readonly state: unknown;
  isOpen: boolean;
}

/** An alert, and whether a record says it already. */
export interface RaisedAlert {
  readonly alert: AlertRecord;
  readonly isRecorded: boolean;
}

export class RunWatch {
  readonly #watched: readonly Watched[];

  /** @param stored the state as `state` returned it; undefined: a new run */
  constructor(stored: string | undefined, choices: RuleChoices = DEFAULT_CHOICES) {
    const states = stored === undefined ? {} : statesOf(stored);
    this.#watched = ALERT_RULES.flatMap((rule) => {
      const parameters = choices.get(rule.id);
      if (parameters === undefined) return [];
      const known = states[rule.id];
      const read = rule.state.safeParse(known?.state);
      const state = read.success ? read.data : rule.begin();
      return [{ rule, parameters, state, isOpen: known?.isOpen === true }];
    });
  }

  /** The state as text. */
  get state(): string {
    return JSON.stringify(
      Object.fromEntries(
        this.#watched.map(({ isOpen, rule, state }) => [rule.id, { isOpen, state }]),
      ),
    );
  }

  /** @returns the alerts that are raised or over by it */
  observe(seen: Observation): readonly RaisedAlert[] {
    const told: RaisedAlert[] = [];
    for (const watched of this.#watched) {
      const { isOpen, parameters, rule, state } = watched;
      const finding = rule.observe(state, seen, parameters);
      if (finding === undefined || finding.holds === isOpen) continue;
      watched.isOpen = finding.holds;
      told.push({
        alert: recordOf(rule, finding, seen.now),
        isRecorded: rule.isRecorded === true,
      });
    }
    return told;
  }
}

function recordOf(rule: AlertRule, finding: Finding, at: number): AlertRecord {
  const { iteration, message } = finding;
  const rank = finding.holds ? finding.rank : undefined;
  return {
    type: 'alert',
    at,
    rule: rule.id,
    title: rule.title,
    phase: finding.holds ? 'raised' : 'over',
    message,
    ...(finding.holds ? { next: rule.next } : {}),
    ...(rank === undefined ? {} : { rank }),
    ...(iteration === undefined ? {} : { iteration }),
  };
}

type States = Readonly<
  Record<string, { isOpen?: unknown; state?: unknown } | undefined>
>;

/** A damaged state begins anew: alerts must not keep records from being stored. */
function statesOf(stored: string): States {
  try {
    const states: unknown = JSON.parse(stored);
    return typeof states === 'object' && states !== null ? (states as States) : {};
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return {};
  }
}

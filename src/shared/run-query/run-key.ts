/**
 * The keys of a list of runs: what it can be filtered and sorted by, grouped by, and shown in
 * columns. Each is defined once, here. Besides these there is every key of the specs in the history
 * (`spec-keys.ts`).
 */

import { ALERT_RULES } from '../alerts/alert-rules.ts';

/** A kind of value, which says how it is written in a filter and how it is compared. */
export type RunKeyKind =
  'bytes' | 'count' | 'duration' | 'moment' | 'number' | 'text' | 'word';

export interface RunKey {
  /** The key's name in filters and addresses. */
  readonly id: string;
  /** Heading of its column. */
  readonly title: string;
  /** `word`: matches as a whole; `text`: by any part of it. */
  readonly kind: RunKeyKind;
  /** The meaning of its value, as a part of a sentence. */
  readonly about: string;
  /** A term of a filter. */
  readonly example: string;
  /** A run may have several values. */
  readonly isMany?: boolean;
  /** All values that there are; default: any. */
  readonly values?: readonly string[];
}

/** Values of `state`, in the order of a run's life. */
const SHOWN_STATES = [
  'starting',
  'queued',
  'running',
  'completed',
  'stopped',
  'failed',
] as const;

export const RUN_KEYS = [
  {
    id: 'name',
    title: 'Run',
    kind: 'text',
    about: 'title of the run, or the name in its spec',
    example: 'name:baseline',
  },
  {
    id: 'id',
    title: 'Id',
    kind: 'text',
    about: 'id of the run, or a part of it',
    example: 'id:4w5m',
  },
  {
    id: 'state',
    title: 'State',
    kind: 'word',
    about: 'starting, queued, running, completed, stopped or failed',
    example: 'state:failed',
    values: SHOWN_STATES,
  },
  {
    id: 'tag',
    title: 'Tags',
    kind: 'word',
    about: 'a tag that you gave it',
    example: 'tag:paper',
    isMany: true,
  },
  {
    id: 'sweep',
    title: 'Sweep',
    kind: 'word',
    about: 'the sweep that it is a run of',
    example: 'sweep:ratios',
  },
  {
    id: 'note',
    title: 'Note',
    kind: 'text',
    about: 'text in one of its notes',
    example: 'note:diverged',
    isMany: true,
  },
  {
    id: 'alert',
    title: 'Alerts',
    kind: 'word',
    about: 'a rule that raised an alert, such as loss-rising, at-chance or long-wait',
    example: 'alert:at-chance',
    isMany: true,
    values: ALERT_RULES.map(({ id }) => id),
  },
  {
    id: 'method',
    title: 'Methods',
    kind: 'word',
    about: 'a method that it used, also after a switch',
    example: 'method:topk',
    isMany: true,
  },
  {
    id: 'model',
    title: 'Model',
    kind: 'word',
    about: 'the model',
    example: 'model:fnn3',
  },
  {
    id: 'data',
    title: 'Data set',
    kind: 'word',
    about: 'the data set',
    example: 'data:mnist',
  },
  {
    id: 'machine',
    title: 'Machines',
    kind: 'word',
    about: 'a machine with ranks of it',
    example: 'machine:this-computer',
    isMany: true,
  },
  {
    id: 'ranks',
    title: 'Ranks',
    kind: 'count',
    about: 'number of ranks',
    example: 'ranks>=4',
  },
  {
    id: 'iterations',
    title: 'Iterations',
    kind: 'count',
    about: 'iterations that every rank has finished',
    example: 'iterations>1000',
  },
  {
    id: 'loss',
    title: 'Loss',
    kind: 'number',
    about: 'the last training loss',
    example: 'loss<0.2',
  },
  {
    id: 'metric',
    title: 'Metric',
    kind: 'number',
    about: 'the last value of the metric, such as accuracy',
    example: 'metric>90%',
  },
  {
    id: 'duration',
    title: 'Duration',
    kind: 'duration',
    about: 'time from its launch to its end, or until now',
    example: 'duration>10min',
  },
  {
    id: 'started',
    title: 'Started',
    kind: 'moment',
    about: 'when it was launched: a date, a month, today, yesterday',
    example: 'started>2026-11-01',
  },
  {
    id: 'ended',
    title: 'Ended',
    kind: 'moment',
    about: 'when it ended',
    example: 'ended:today',
  },
  {
    id: 'age',
    title: 'Age',
    kind: 'duration',
    about: 'time since it was launched',
    example: 'age<7d',
  },
  {
    id: 'size',
    title: 'Size',
    kind: 'bytes',
    about: 'space of its records on the disk',
    example: 'size>10MB',
  },
] as const satisfies readonly RunKey[];

export type RunKeyId = (typeof RUN_KEYS)[number]['id'];

/** A key of the list, or a spec's key by its path. */
export type KeyPlace =
  | { readonly of: 'run'; readonly key: RunKey & { readonly id: RunKeyId } }
  | { readonly of: 'spec'; readonly id: string; readonly path: readonly string[] };

/** The key's name in filters, orders and addresses. */
export const placeId = (place: KeyPlace): string =>
  place.of === 'run' ? place.key.id : place.id;

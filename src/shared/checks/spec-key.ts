/**
 * Facts of a spec's key about itself, beside its schema and its description. A title, as in
 * `.meta({title})`, gives it a field in the page's form; a key without one has none.
 */
import 'zod';
import type { ErrorCode } from '../codes/error-code.ts';

/** The form's sections, in its order. */
export const FORM_SECTIONS = [
  'Workload',
  'World',
  'Parallelism',
  'Emulated network',
  'Exchange',
  'Optimiser',
  'Length',
] as const;

/** The other key of a rule, and the error where the rule is broken. */
interface Rule {
  /** The other key, by its path in the spec. */
  readonly key: string;
  readonly code: ErrorCode;
  /** The place in the error; default: this key. */
  readonly place?: string;
  readonly because: string;
  /** The next step. */
  readonly next: string;
}

/** Another key beside which this one is refused. */
export interface Exclusion extends Rule {
  /** The values of this key that are refused; default: any except false and 0. */
  readonly value?: string;
  /** The values of the other key that do not fit; default: any except false and 0. */
  readonly is?: string;
}

/** Another key without which this one is refused. In `because`, `{found}` is what it is instead. */
export interface Need extends Rule {
  /** The value of this key that needs the other; default: any. */
  readonly value?: string | boolean;
  /** The value that the other key must have; default: any except false, 0 and an empty list. */
  readonly is?: string;
}

declare module 'zod' {
  interface GlobalMeta {
    /** Folded away in the form while its value is the usual one. */
    folded?: boolean;
    /** The form's section, of the key and of those in it that have no other. */
    section?: (typeof FORM_SECTIONS)[number];
    /** The keys beside which it is refused (`key-rules.ts`). */
    excludes?: readonly Exclusion[];
    /** The keys without which it is refused (`key-rules.ts`). */
    needs?: readonly Need[];
    /** The key, and those in it, may change in a run: a switch takes them; default: they stay. */
    changes?: 'in-run';
  }
}

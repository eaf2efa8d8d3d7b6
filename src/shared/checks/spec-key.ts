/**
 * Facts of a spec's key about itself, beside its schema and its description. A title, as in
 * `.meta({title})`, gives it a field in the page's form; a key without one has none.
 */
import 'zod';
import type { ErrorCode } from '../codes/error-code.ts';

/** Another key beside which this one is refused. */
export interface Exclusion {
  /** The values of this key that are refused; default: any except false and 0. */
  readonly value?: string;
  /** The other key, by its path in the spec. */
  readonly key: string;
  /** The values of the other key that do not fit; default: any except false and 0. */
  readonly is?: string;
  readonly code: ErrorCode;
  /** The place in the error; default: this key. */
  readonly place?: string;
  readonly because: string;
  /** The next step. */
  readonly next: string;
}

declare module 'zod' {
  interface GlobalMeta {
    /** Folded away in the form while its value is the usual one. */
    folded?: boolean;
    /** The form's section, for a key at the top of the spec. */
    section?: 'Length';
    /** The keys beside which it is refused (`key-rules.ts`). */
    excludes?: readonly Exclusion[];
  }
}

/**
 * Facts of a spec's key about itself, beside its schema and its description. A title, as in
 * `.meta({title})`, gives it a field in the page's form; a key without one has none.
 */
import 'zod';

declare module 'zod' {
  interface GlobalMeta {
    /** Folded away in the form while its value is the usual one. */
    folded?: boolean;
    /** The form's section, for a key at the top of the spec. */
    section?: 'Length';
  }
}

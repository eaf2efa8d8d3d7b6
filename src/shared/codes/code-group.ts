/**
 * Codes of errors and notices that belong together, as the reference shows them. A code is
 * defined by its entry alone: what it means and what to do next. `ErrorCode` is made from the
 * entries, so that a code without one does not compile.
 */
export interface CodeEntry {
  /** One or two sentences: what has happened, whatever the message's values are. */
  readonly means: string;
  /** The usual next step; an error's own `next` knows more and comes first. */
  readonly next: string;
}

export interface CodeGroup<Code extends string = string> {
  readonly title: string;
  readonly about: string;
  readonly codes: Readonly<Record<Code, CodeEntry>>;
}

/** The group itself, with its codes as a type. */
export const codeGroup = <Code extends string>(
  group: CodeGroup<Code>,
): CodeGroup<Code> => group;

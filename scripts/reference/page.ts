/** A page of docs/reference. */
export interface Page {
  readonly file: string;
  readonly title: string;
  /** Markdown: what the page is about, and where more is. */
  readonly about: string;
  /** Blocks of Markdown. */
  readonly body: readonly string[];
}

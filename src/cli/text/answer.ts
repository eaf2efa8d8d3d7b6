/** An answer of a command that changes something: words, or with --json a line of JSON. */

/** The option of such commands, and of those that print one thing. */
export const JSON_ANSWER = ['--json', 'print one line of JSON', false] as const;

export function answer(json: boolean, value: object, text: string): void {
  process.stdout.write(json ? `${JSON.stringify(value)}\n` : text);
}

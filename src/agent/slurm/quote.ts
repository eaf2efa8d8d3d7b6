/** Any text as one word of a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

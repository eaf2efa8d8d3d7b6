/** Patterns of tensor names: `*` stands for any run of characters, everything else for itself. */

/** Whether a pattern matches a whole name, as `*.bias` matches `layer1.bias`. */
export function fitsName(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return name === pattern;
  if (!name.startsWith(first) || name.length < first.length + last.length) return false;
  let from = first.length;
  for (const literal of rest) {
    const at = name.indexOf(literal, from);
    if (at < 0) return false;
    from = at + literal.length;
  }
  return from <= name.length - last.length && name.endsWith(last);
}

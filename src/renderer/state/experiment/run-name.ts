/**
 * A name for a run that is made from another one and changed: it must not look like a repetition.
 * `mnist-topk` becomes `mnist-topk 2`, then `mnist-topk 3`.
 */
export function nextName(name: string): string {
  const [, base, number] = /^(.*\S) (\d{1,6})$/s.exec(name) ?? [undefined, name, '1'];
  return `${base} ${Number(number) + 1}`;
}

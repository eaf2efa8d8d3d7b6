/**
 * A name for a run that is made from another one and changed: it must not look like a repetition.
 * `mnist-topk` becomes `mnist-topk 2`, then `mnist-topk 3`; the seed in
 * the name of a sweep's run stays.
 */
export function nextName(name: string): string {
  const counted = /^(.*\S) (\d{1,6})$/s.exec(name);
  const [, base, number] = counted ?? [];
  return base === undefined || base.endsWith(', seed')
    ? `${name} 2`
    : `${base} ${Number(number) + 1}`;
}

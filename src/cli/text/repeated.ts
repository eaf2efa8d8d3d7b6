/** For options that may be given more than once: all values, in order. */
export const repeated = (
  value: string,
  before: readonly string[],
): readonly string[] => [...before, value];

/** Small data sets of lines, 20 samples each. */
/** 20 samples for linear models. */
export const SVM = '+1 1:1\n-1 2:1\n'.repeat(10);
export const TSV = 'ham\thello\nspam\tprize\n'.repeat(10);
export const clicks = (
  label: string,
  more: Readonly<Record<number, string>> = {},
): string =>
  [label, ...Array.from({ length: 39 }, (_, i) => more[i + 2] ?? '')].join('\t');
export const CRITEO = `${clicks('0')}\n${clicks('1')}\n`.repeat(10);
export const CSV = `label,x\n${'0,1\n1,2\n'.repeat(10)}`;
export const wide = (text: string, more: Buffer = Buffer.alloc(0)): Buffer =>
  Buffer.concat([more, Buffer.from(text, 'utf16le')]);
export const MARK = '\uFEFF';

/** Samples in both parts, where every tenth is for testing. */
export const HALVES = [18, 2] as const;

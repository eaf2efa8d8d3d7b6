/** Values from outside that are no tree of plain keys, before a schema looks at them. */
import { inputError } from '../errors/errors.ts';

/** The beginning of an error's code, such as `SPEC` of `SPEC_INVALID`, and what was checked. */
export interface PlaceOfIssue {
  readonly code:
    | 'SPEC'
    | 'SWEEP'
    | 'EXCHANGE'
    | 'METHOD_PARAMETER'
    | 'QUANTIZE'
    | 'EMULATE'
    | 'NETWORK_PROFILE';
  readonly place: string;
}

/**
 * @throws GradwireError `<code>_INVALID` where a value contains itself, as YAML's aliases can make
 * it; `<code>_UNKNOWN_KEY` for the key `__proto__`, which schemas drop in silence
 */
export function requirePlainTree(raw: unknown, where: PlaceOfIssue): void {
  const above = new Set<unknown>();
  const visit = (value: unknown, path: readonly string[]): void => {
    if (typeof value !== 'object' || value === null) return;
    if (above.has(value)) {
      throw inputError(`${where.code}_INVALID`, `"${path.join('.')}" contains itself`, {
        place: where.place,
        next: 'Write the value out instead of naming what it is part of.',
      });
    }
    above.add(value);
    for (const [key, part] of Object.entries(value)) {
      const here = [...path, key];
      if (key === '__proto__') {
        throw inputError(
          `${where.code}_UNKNOWN_KEY`,
          `unknown key "${here.join('.')}"`,
          { place: where.place, next: 'Remove it.' },
        );
      }
      visit(part, here);
    }
    above.delete(value);
  };
  visit(raw, []);
}

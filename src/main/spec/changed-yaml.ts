/** A change of a spec made in its own text, so that comments and everything else there stay. */
import { isAlias, isMap, isScalar, parseDocument, visit, type Document } from 'yaml';
import type { WrittenSpec } from '../../shared/spec/written-spec.ts';
import { specToYaml } from './spec-yaml.ts';

/**
 * The text of a spec.
 * @param next the spec
 * @param written the text before, and what it says: only what differs is changed in it. A text that
 * cannot be changed in place is written anew
 */
export function changedYaml(next: unknown, written: WrittenSpec): string {
  const document = parseDocument(written.text, {
    prettyErrors: false,
    logLevel: 'error',
  });
  const isPlain = document.errors.length === 0 && isMap(document.contents);
  // A value with two places cannot be changed in one of them.
  if (!isPlain || hasAliases(document)) return specToYaml(next);
  for (const { path, value } of differences(written.spec, next)) {
    if (!change(document, path, value)) return specToYaml(next);
  }
  return document.toString({ lineWidth: 100, flowCollectionPadding: true });
}

function hasAliases(document: Document): boolean {
  let found = false;
  visit(document, {
    Alias() {
      found = true;
      return visit.BREAK;
    },
  });
  return found;
}

interface Difference {
  readonly path: readonly string[];
  /** The new value; undefined removes the key. */
  readonly value: unknown;
}

/** Keys at which two specs differ. Lists differ as a whole. */
function differences(
  before: unknown,
  after: unknown,
  path: readonly string[] = [],
): readonly Difference[] {
  if (isSection(before) && isSection(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) =>
      differences(before[key], after[key], [...path, key]),
    );
  }
  return JSON.stringify(before) === JSON.stringify(after)
    ? []
    : [{ path, value: after }];
}

const isSection = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @returns whether the text has a place for it */
function change(document: Document, path: readonly string[], value: unknown): boolean {
  if (value === undefined) {
    document.deleteIn(path);
    const parent = path.slice(0, -1);
    const section = document.getIn(parent, true);
    const isLeft = isMap(section) && section.items.length === 0 && parent.length > 0;
    if (isLeft) document.deleteIn(parent);
    return true;
  }
  for (let depth = 1; depth < path.length; depth++) {
    const section = document.getIn(path.slice(0, depth), true);
    if (section === undefined) break;
    if (!isMap(section)) return false;
  }
  const old = document.getIn(path, true);
  if (isScalar(old) && !isSection(value) && !Array.isArray(value)) {
    old.value = value;
    return true;
  }
  const node = document.createNode(value, {
    flow: path.length > 1 || isSection(value),
  });
  document.setIn(path, isAlias(node) ? value : node);
  return true;
}

/**
 * YAML as values of JSON: what a spec, and a setting of one, consists of. Whatever YAML has
 * beyond JSON would be dropped or misread later, so it is refused here, with its place.
 */
import {
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
  type YAMLError,
} from 'yaml';

const CORE_TAGS: ReadonlySet<string> = new Set(
  ['map', 'seq', 'str', 'int', 'float', 'bool', 'null'].map(
    (name) => `tag:yaml.org,2002:${name}`,
  ),
);

/** Most aliases of a document: each is looked for, and what it names is written out. */
const MOST_ALIASES = 100;

/** Text that is no YAML, or more than JSON has. */
export class YamlFault extends Error {
  /** Line and column, from 1; undefined where the fault has none. */
  readonly at: { readonly line: number; readonly column: number } | undefined;

  constructor(message: string, at?: YamlFault['at']) {
    super(message);
    this.at = at;
  }
}

/**
 * The value of a text with one document; null of an empty one.
 * @throws YamlFault
 */
export function yamlValue(text: string): unknown {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    // Its warnings go to stderr by themselves; those of the document are read below.
    logLevel: 'error',
  });
  const fault = (message: string, position: number): YamlFault => {
    const { line, col } = lines.linePos(position);
    return new YamlFault(message, { line, column: col });
  };
  // A warning means an unknown YAML tag, whose value would be misread.
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined) throw fault(problemText(problem), problem.pos[0]);
  requireJson(document, fault);
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES }) as unknown;
  } catch (cause) {
    throw new YamlFault(`not YAML or JSON: ${(cause as Error).message}`);
  }
}

/**
 * Refuses too many aliases, aliases of a value that they are part of, tags that stand for other types than JSON's
 * (a set, an ordered map, bytes), and numbers that are not finite.
 */
function requireJson(
  document: Document.Parsed,
  fault: (message: string, position: number) => YamlFault,
): void {
  const at = (node: Node): number => node.range?.[0] ?? 0;
  const requireCoreTag = (node: Node & { tag?: string }): void => {
    if (node.tag === undefined || CORE_TAGS.has(node.tag)) return;
    const tag = node.tag.replace('tag:yaml.org,2002:', '!!');
    throw fault(`a value has the tag "${tag}", which a spec does not know`, at(node));
  };
  // In the order of the text, as an anchor may be set again.
  const anchored = new Map<string, Node>();
  const noteAnchor = (node: Node & { anchor?: string }): void => {
    if (node.anchor !== undefined) anchored.set(node.anchor, node);
  };
  let aliases = 0;
  visit(document, {
    Alias(_, alias, path) {
      if (++aliases > MOST_ALIASES) {
        // The library's words, which counts those of one anchor only.
        const excess = 'Excessive alias count indicates a resource exhaustion attack';
        throw fault(`not YAML or JSON: ${excess}`, at(alias));
      }
      const named = anchored.get(alias.source);
      if (named === undefined || !path.includes(named)) return;
      throw fault(`"*${alias.source}" is part of the value that it names`, at(alias));
    },
    Collection(_, collection) {
      noteAnchor(collection);
      requireCoreTag(collection);
    },
    Scalar(_, scalar) {
      noteAnchor(scalar);
      requireCoreTag(scalar);
      const { source, value } = scalar;
      if (typeof value !== 'number' || Number.isFinite(value)) return;
      throw fault(`"${source ?? String(value)}" is no finite number`, at(scalar));
    },
  });
}

/** The library's own words, except where they are for its caller. */
function problemText({ code, message }: YAMLError): string {
  if (code === 'MULTIPLE_DOCS')
    return 'it must contain a single document, but a second one begins';
  if (message.includes('call stack')) return 'it is nested too deeply';
  return `not YAML or JSON: ${message.split('\n')[0]!.trim()}`;
}

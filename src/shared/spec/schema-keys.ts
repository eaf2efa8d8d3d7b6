/** Keys that a schema takes, read from its JSON Schema. */
import { z } from 'zod';

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  /** The kinds of a value that has several. */
  readonly oneOf?: readonly Node[];
  /** A key that one kind lacks. */
  readonly not?: object;
}

/** The keys of the object at a path, of all its kinds; none: there is no object. */
export function keysAt(schema: z.ZodType, path: readonly string[]): string[] {
  let nodes: readonly Node[] = [z.toJSONSchema(schema, { io: 'input' }) as Node];
  for (const step of path) {
    nodes = nodes.flatMap(kindsOf).flatMap(({ items, properties }) => {
      const inner = properties?.[step] ?? items;
      return inner === undefined ? [] : [inner];
    });
  }
  const keys = nodes
    .flatMap(kindsOf)
    .flatMap(({ properties = {} }) => Object.entries(properties))
    .filter(([, { not }]) => not === undefined);
  return [...new Set(keys.map(([key]) => key))];
}

const kindsOf = (node: Node): readonly Node[] => node.oneOf ?? [node];

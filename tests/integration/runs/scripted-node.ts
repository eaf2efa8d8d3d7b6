/** A real supervisor, as built, whose workers are `scripted-worker.ts`. */
import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import { sampleSpec } from '../../unit/main/sample-records.ts';
import { untilAsync } from '../../harness/processes.ts';
import { SupervisorNode } from './supervisor-node.ts';

const root = path.join(import.meta.dirname, '../../..');
const script = path.join(import.meta.dirname, 'scripted-worker.ts');

export function startScriptedNode(): Promise<SupervisorNode> {
  return SupervisorNode.start((directory) => {
    const agent = path.join(directory, 'agent');
    cpSync(path.join(root, 'dist/agent'), agent, { recursive: true });
    symlinkSync(path.join(root, 'node_modules'), path.join(directory, 'node_modules'));
    writeFileSync(path.join(directory, 'package.json'), '{"type":"module"}');
    writeFileSync(
      path.join(agent, 'worker.js'),
      // Compiled once for all of its workers, as the real one is.
      `import { enableCompileCache } from 'node:module';
       enableCompileCache();
       await import(${JSON.stringify(pathToFileURL(script).href)});`,
    );
    return agent;
  });
}

/** Begins a run of two ranks by the script of that name. */
export function launchScript(
  node: SupervisorNode,
  name: string,
  overrides: Record<string, unknown> = {},
): Promise<readonly JournalEntry[]> {
  return node.launch(name, sampleSpec({ name, ...overrides }));
}

/** Waits until a run has another iteration; its machine's records may come between. */
export async function untilMoves(entries: readonly JournalEntry[]): Promise<void> {
  const before = entries.length;
  await untilAsync(
    () => Promise.resolve(entries.slice(before)),
    (since) => since.some(({ record }) => record.type === 'iteration'),
    'the other run to go on',
  );
}

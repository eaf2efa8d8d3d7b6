/** A home with everything that could need more room than a page has. */
import path from 'node:path';
import { openHome, resolveHome } from '../../src/main/home/home.ts';
import { RunStore } from '../../src/main/store/run-store.ts';
import type { RunRecord } from '../../src/shared/records/record-kinds.ts';
import { succeeded, type GradwireHome } from '../harness/gradwire.ts';
import { makeKey } from '../harness/ssh-keys.ts';
import type { SshServer } from '../harness/sshd.ts';
import {
  done,
  entries,
  iterationRecord,
  sampleSpec,
  started,
} from '../unit/main/sample-records.ts';

/** Runs that have ended; a machine whose key is not known, and a locked key to it. */
export async function fillHome(home: GradwireHome, machine: SshServer): Promise<void> {
  const key = makeKey(path.join(machine.directory, 'k'.repeat(80)), {
    passphrase: 'correct horse',
  });
  machine.authorize(key);
  const at = ['--host', '127.0.0.1', '--port', String(machine.port)];
  succeeded(await home.run(['nodes', 'add', 'box', ...at, '--identity', key]));
  const { database } = await openHome(resolveHome({ GRADWIRE_HOME: home.directory }));
  const store = RunStore.open(database);
  const records: RunRecord[] = [started];
  for (let iteration = 0; iteration < 10; iteration++) {
    records.push(iterationRecord(iteration, 0), iterationRecord(iteration, 1));
    for (let line = 0; line < 20; line++) {
      const text = `iteration ${iteration}, line ${line}`;
      const at = 1_700_000_000_001 + iteration;
      records.push({ type: 'log', at, rank: 0, stream: 'stderr', iteration, text });
    }
  }
  store.create({ id: 'run', spec: sampleSpec(), switches: [], createdAt: 1 });
  store.records.append('run', entries([...records, done]));
  const many = Array.from({ length: 200 }, (_, at) => iterationRecord(at >> 1, at % 2));
  store.create({ id: 'many', spec: sampleSpec(), switches: [], createdAt: 0 });
  store.records.append('many', entries([started, ...many, done]));
  const stalls = Array.from({ length: 12 }, (_, i): RunRecord => {
    const [code, message] =
      i % 2 === 0
        ? ['RANKS_SUSPENDED', 'rank 1 (process 7) is suspended: kill -CONT 7']
        : ['RANKS_CONTINUED', 'rank 1 (process 7) is no longer suspended'];
    const at = 1_700_000_000_000 + 8 * i;
    return { type: 'notice', level: 'info', at, code, message };
  });
  store.create({ id: 'stalls', spec: sampleSpec(), switches: [], createdAt: 0 });
  store.records.append('stalls', entries([started, ...many, ...stalls, done]));
  store.create({ id: 'old', spec: sampleSpec(), switches: [], createdAt: 0 });
  store.records.append('old', entries([...records, done]));
  store.setDeleted('old', true);
  const notice = { type: 'notice', at: 1_700_000_000_001, level: 'info' } as const;
  const notices = Array.from({ length: 2500 }, (_, i): RunRecord => {
    return { ...notice, code: 'DATA', message: `notice ${i}` };
  });
  store.create({ id: 'long', spec: sampleSpec(), switches: [], createdAt: 0 });
  store.records.append('long', entries([...records.slice(0, 3), ...notices, done]));
  store.close();
}

/** A supervisor that is suspended between reading and sending. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { connectSupervisor } from '../../../src/main/cluster/supervisor-process.ts';
import { openHome, resolveHome } from '../../../src/main/home/home.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import { GradwireHome } from '../../harness/gradwire.ts';
import { until } from '../../harness/processes.ts';
import { endOf, SupervisorNode } from './supervisor-node.ts';

test(
  'obeys the stop of a client that has gone meanwhile',
  { tags: 'soak' },
  async () => {
    await using place = new GradwireHome();
    const file = path.join(place.directory, 'turn');
    const hook = path.join(import.meta.dirname, 'suspended-turn.mjs');
    await using node = await SupervisorNode.start(undefined, {
      NODE_OPTIONS: `--import ${hook}`,
      TURN_FILE: file,
    });
    const synthetic = { layers: [1000], computeMs: 10 };
    const entries = await node.launch(
      'run',
      parseExperimentSpec({
        workload: { model: 'synthetic-gradient', dataset: 'none', synthetic },
        optimizer: { lr: 0.2 },
        world: { ranks: 1 },
        iterations: 1_000_000,
      }),
    );
    const home = await openHome(resolveHome({ GRADWIRE_HOME: node.home.directory }));
    const handlers = { run: () => undefined, lost: () => undefined };
    const client = (await connectSupervisor(home, handlers))!;
    await client.request('subscribe', { run: 'run', after: 0 });

    writeFileSync(file, '');
    try {
      await until(
        () => existsSync(`${file}.stands`),
        (stands) => stands,
        'the turn to stand still',
      );
      client.request('stop', { run: 'run' }).catch(() => undefined);
      await client.close();
      // Longer than a turn takes.
      await setTimeout(200);
    } finally {
      rmSync(file);
    }
    expect(await endOf(entries)).toMatchObject({ type: 'done', reason: 'stopped' });
  },
);

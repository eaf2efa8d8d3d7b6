/** Launches against a supervisor that follows a script. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { failure } from '../../../src/shared/errors/errors.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import { ScriptedCoordinator, spec } from './scripted-coordinator.ts';
import type { Script } from './scripted-supervisor.ts';

let scripted: ScriptedCoordinator;
beforeEach(async () => {
  scripted = await ScriptedCoordinator.open();
});
afterEach(() => scripted.close());

describe('launching', () => {
  const accept: Script['answer'] = ({ method, body }) => {
    if (method === 'validate') {
      return { spec: (body as { spec: unknown }).spec, switches: [] };
    }
    return undefined;
  };

  test('a node that does not exist is refused before any supervisor is asked', async () => {
    await scripted.play({});
    await expect(
      scripted.coordinator.launches.launch(
        parseExperimentSpec({
          ...spec,
          world: { ranks: 2, nodes: ['this-computr'] },
        }),
      ),
    ).rejects.toMatchObject({
      code: 'NODE_UNKNOWN',
      kind: 'input',
      next: 'Did you mean "this-computer"?',
    });
    expect(scripted.supervisor.requests).toEqual([]);
    expect(scripted.store.runs.list()).toEqual([]);
  });

  test('a spec that the agent refuses leaves no run behind', async () => {
    await scripted.play({
      answer: () => {
        throw failure('METHOD_UNKNOWN', 'no such method');
      },
    });
    await expect(scripted.coordinator.launches.launch(spec)).rejects.toMatchObject({
      code: 'METHOD_UNKNOWN',
    });
    expect(scripted.store.runs.list()).toEqual([]);
  });

  test('what keeps the ranks from starting is the run’s error', async () => {
    await scripted.play({
      answer: (request, client) => {
        if (request.method === 'prepare') throw failure('WORKER_DIED', 'rank 1 died');
        return accept(request, client);
      },
    });
    await expect(scripted.coordinator.launches.launch(spec)).rejects.toMatchObject({
      code: 'WORKER_DIED',
    });
    expect(scripted.store.runs.list()).toMatchObject([
      { state: 'failed', error: { code: 'WORKER_DIED' } },
    ]);
  });

  test('every rank is prepared once, with one secret of 32 bytes', async () => {
    const address = (rank: number) => ({ host: '127.0.0.1', port: 1000 + rank });
    await scripted.play({
      answer: (request, client) => {
        switch (request.method) {
          case 'prepare':
            return {
              addresses: [1, 0].map((rank) => ({ rank, address: address(rank) })),
            };
          case 'begin':
            return {};
          case 'subscribe':
            return { lastSequence: 0 };
          default:
            return accept(request, client);
        }
      },
    });
    await scripted.coordinator.launches.launch(spec);
    const [prepare] = scripted.supervisor.requested('prepare');
    expect(prepare!.body).toMatchObject({
      ranks: [0, 1],
      places: [0, 0],
      switches: [],
    });
    expect((prepare!.body as { secret: Uint8Array }).secret).toHaveLength(32);
    expect(scripted.supervisor.requested('begin')[0]!.body).toMatchObject({
      addresses: [address(0), address(1)],
    });
  });
});

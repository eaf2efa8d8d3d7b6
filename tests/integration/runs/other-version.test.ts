/** A supervisor of another version, with a run that goes on: the next Gradwire finds it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createAppCore } from '../../../src/main/app/app-core.ts';
import { resolveHome } from '../../../src/main/home/home.ts';
import { encodeFrame, FrameDecoder } from '../../../src/shared/protocol/frame.ts';
import type {
  SupervisorMethod,
  SupervisorRequests,
} from '../../../src/shared/protocol/supervisor.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { LASTING_SPEC } from '../../harness/lasting-runs.ts';
import { until } from '../../harness/processes.ts';
import { sampleSpec } from '../../unit/main/sample-records.ts';

const SOURCE = path.join(import.meta.dirname, '../../../src/agent/supervisor/main.ts');
const HOOK = pathToFileURL(path.join(import.meta.dirname, 'other-protocol.mjs')).href;

let home: GradwireHome;
let other: OtherApp;

beforeEach(async () => {
  home = new GradwireHome();
  // The home as a Gradwire makes it.
  succeeded(await home.run(['runs', 'list']));
  other = await OtherApp.start(home);
});
afterEach(async () => {
  other?.leave();
  await home?.[Symbol.asyncDispose]();
});

/** The other version's app, which launched the run. */
class OtherApp {
  readonly #socket: Socket;
  readonly #answers = new Map<number, (body: unknown) => void>();
  #next = 1;

  private constructor(socket: Socket) {
    this.#socket = socket;
    const decoder = new FrameDecoder();
    socket.on('data', (chunk) => {
      for (const message of decoder.push(chunk) as Iterable<Record<string, unknown>>) {
        if (message['type'] === 'hello') expect(message['protocol']).toBe(2);
        else this.#answers.get(message['id'] as number)?.(message);
      }
    });
  }

  static async start(home: GradwireHome): Promise<OtherApp> {
    const args = ['--home', home.directory, '--socket', home.socket];
    spawn(process.execPath, ['--import', HOOK, SOURCE, ...args], {
      argv0: 'gradwire supervisor',
      stdio: 'ignore',
      detached: true,
      env: { ...process.env, GRADWIRE_HOME: home.directory },
    }).unref();
    const socket = await until(
      () => dial(home.socket),
      (found) => found !== undefined,
      'the supervisor to listen',
    );
    return new OtherApp(socket!);
  }

  async request<M extends SupervisorMethod>(
    method: M,
    body: SupervisorRequests[M]['request'],
  ): Promise<SupervisorRequests[M]['reply']> {
    const id = this.#next++;
    const answered = new Promise((resolve) => this.#answers.set(id, resolve));
    this.#socket.write(encodeFrame({ type: 'request', id, method, body }));
    const answer = (await answered) as { readonly type: string; readonly body: never };
    expect(answer).toMatchObject({ type: 'reply' });
    return answer.body;
  }

  leave(): void {
    this.#socket.destroy();
  }
}

async function dial(file: string): Promise<Socket | undefined> {
  const socket = connect(file);
  try {
    await once(socket, 'connect');
    return socket;
  } catch {
    return undefined;
  }
}

test(
  'its run is watched and stopped; then it gives way',
  { tags: 'soak' },
  async () => {
    const spec = sampleSpec(LASTING_SPEC);
    const run = { run: 'theirs', spec, switches: [], ranks: [0, 1] };
    const secret = randomBytes(32);
    const { addresses } = await other.request('prepare', { ...run, secret });
    await other.request('begin', {
      run: 'theirs',
      addresses: addresses
        .toSorted((a, b) => a.rank - b.rank)
        .map(({ address }) => address),
    });
    other.leave();

    const refused = await home.run(['run', 'quickstart', '--set', 'iterations=2']);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /SUPERVISOR_OTHER_VERSION: .* run theirs is in progress there/,
      ) as string,
    });
    // The app follows the run, and says on the machine's card what it found.
    const core = await createAppCore({
      home: resolveHome({ GRADWIRE_HOME: home.directory }),
      host: 'browser',
    });
    try {
      await expect
        .poll(async () => (await core.api.nodes())[0])
        .toMatchObject({ connection: 'connected', otherVersion: expect.any(String) });
      await expect
        .poll(async () => (await core.api.run('theirs')).iterations)
        .toBeGreaterThan(0);
    } finally {
      await core.close();
    }
    const shown = await home.run(['runs', 'show', 'theirs', '--json']);
    expect(succeeded(shown).stdout).toMatch(/"iterations":[1-9]/);
    const attached = home.start(['runs', 'attach', 'theirs', '--json']);
    await once(attached.child.stdout!, 'data');
    succeeded(await home.run(['runs', 'stop', 'theirs']));
    expect(await attached.finished).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/"type":"done".*"reason":"stopped"/) as string,
    });

    const own = await home.run(['run', 'quickstart', '--set', 'iterations=2']);
    expect(own).toMatchObject({ code: 0 });
  },
);

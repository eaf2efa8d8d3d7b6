/**
 * The truth table of a followed run whose machine is lost: how it is lost, what the machine wants
 * before it lets the command in again, whether somebody is at a terminal to be asked, and
 * whether the run has another machine. In each cell the command ends with its exit code and a last
 * line that says how to go on, the run is what the store says, and no process is left.
 */
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { namespacesMissing } from '../../../harness/namespaces.ts';
import { until } from '../../../harness/processes.ts';
import { passwordsMissing } from '../../../harness/sshd.ts';
import {
  LOSSES,
  LossBench,
  PASSWORD,
  REFUSALS,
  type Followed,
  type Loss,
  type Refusal,
} from './loss-bench.ts';

/**
 * How a cell comes out:
 * - `goes on`: the run is followed again; Ctrl-C then stops it.
 * - `left`: exit code 3 and `runs attach`; the run goes on.
 * - `half`: the other machine is followed, and Ctrl-C stops the run; records are missing.
 * - `failed`: the run has lost its supervisor there, and the command says so.
 * - `ranks lost`: ranks missed each other, and the command says which.
 */
type Outcome = 'goes on' | 'left' | 'half' | 'failed' | 'ranks lost';

/** Without a terminal, with one. */
type Pair = readonly [Outcome, Outcome];
const both = (outcome: Outcome): Pair => [outcome, outcome];
const every = (outcome: Outcome): Record<Refusal, Pair> => ({
  none: both(outcome),
  'password asked': both(outcome),
  'key refused for a moment': both(outcome),
  'key refused for good': both(outcome),
  'host key changed': both(outcome),
  'too many log-ins': both(outcome),
});

/** What a log-in decides, where the run itself goes on. */
const LOGIN: Record<Refusal, Pair> = {
  none: both('goes on'),
  'password asked': ['left', 'goes on'],
  'key refused for a moment': both('goes on'),
  'key refused for good': both('left'),
  'host key changed': both('left'),
  'too many log-ins': both('goes on'),
};

/** The same, where another machine can still be followed. */
const LOGIN_OF_TWO: Record<Refusal, Pair> = {
  ...LOGIN,
  'password asked': ['half', 'goes on'],
  'key refused for good': both('half'),
  'host key changed': both('half'),
};

/** What a log-in decides, where the run has lost its processes. */
const REBOOT: Record<Refusal, Pair> = {
  none: both('failed'),
  'password asked': ['left', 'failed'],
  'key refused for a moment': both('failed'),
  'key refused for good': both('left'),
  'host key changed': both('left'),
  'too many log-ins': both('failed'),
};

const TABLE: Record<1 | 2, Record<Loss, Record<Refusal, Pair>>> = {
  1: {
    'sshd killed': LOGIN,
    'connection reset': LOGIN,
    'network partition': LOGIN,
    // The connection to the machine stays: nobody has to log in.
    'supervisor killed': every('failed'),
    'supervisor suspended': every('goes on'),
    'machine rebooted': REBOOT,
  },
  2: {
    'sshd killed': LOGIN_OF_TWO,
    'connection reset': LOGIN_OF_TWO,
    // Ranks on the two machines miss each other's signs of life.
    'network partition': every('ranks lost'),
    // Which of the two journals comes first, that of the dead supervisor or that of the rank
    // that misses its peer, depends on how soon the next supervisor has started.
    'supervisor killed': every('ranks lost'),
    'supervisor suspended': every('goes on'),
    'machine rebooted': every('ranks lost'),
  },
};

/** Cheap ones, which `npm test` has. */
const QUICK = new Set(['1, connection reset, key refused for a moment, a pipe']);

const RECORDS_MORE = 20;

const missing = namespacesMissing() ?? passwordsMissing();

const growing = (followed: Followed): Promise<unknown> => {
  const before = followed.progress();
  return until(
    () => followed.isOver() || followed.progress() > before + RECORDS_MORE,
    (isSeen) => isSeen,
    'the run to be followed again',
  );
};

/** What the user, or the machine's administrator, does about the refusal. */
async function react(
  bench: LossBench,
  refusal: Refusal,
  followed: Followed,
): Promise<void> {
  const before = followed.progress();
  // An attempt that was under way may have got in first.
  const isBack = (): boolean =>
    followed.isOver() || followed.progress() > before + RECORDS_MORE;
  const sees = (wanted: RegExp): Promise<unknown> =>
    until(
      () => isBack() || wanted.test(followed.said()),
      (isSeen) => isSeen,
      String(wanted),
    );
  switch (refusal) {
    case 'key refused for a moment':
      await sees(/SSH_AUTH_FAILED/);
      bench.letIn();
      return;
    case 'too many log-ins':
      await sees(/busy with log-ins/);
      bench.release();
      return;
    case 'password asked':
      await followed.answer(PASSWORD);
      return;
    default:
      return;
  }
}

/** Without what a terminal is told beside the text. */
const lastLine = (text: string): string =>
  stripVTControlCharacters(text)
    .trimEnd()
    .split(/[\r\n]+/)
    .at(-1) ?? '';

async function settle(bench: LossBench, outcome: Outcome, followed: Followed) {
  const { id } = await bench.newest();
  switch (outcome) {
    case 'goes on':
      await growing(followed);
      followed.interrupt();
      expect(await followed.ended).toBe(130);
      expect(await bench.newest()).toMatchObject({ state: 'stopped' });
      expect((await bench.newest()).missing).toBeUndefined();
      return;
    case 'left': {
      expect(await followed.ended).toBe(3);
      expect(lastLine(followed.said())).toMatch(
        new RegExp(
          // At a terminal it may come behind the line that shows the progress.
          `gradwire: RUN_UNFOLLOWED: run ${id} cannot be followed any longer: .* Follow it ` +
            `again with: gradwire runs attach ${id}\\.$`,
        ),
      );
      expect((await bench.newest()).state).toBe('running');
      return;
    }
    case 'half':
      await until(
        () => followed.isOver() || /is not tried any more/.test(followed.said()),
        (isSeen) => isSeen,
        'the machine to be given up',
      );
      await growing(followed);
      followed.interrupt();
      expect(await followed.ended).toBe(130);
      expect(lastLine(followed.said())).toMatch(/records from m1 are missing/);
      expect(await bench.newest()).toMatchObject({ state: 'stopped', missing: ['m1'] });
      return;
    case 'failed':
      expect(await followed.ended).toBe(1);
      expect(lastLine(followed.said())).toMatch(/gradwire: SUPERVISOR_LOST: /);
      expect((await bench.newest()).state).toBe('failed');
      return;
    case 'ranks lost':
      expect(await followed.ended).toBe(1);
      expect(followed.said()).toMatch(
        /gradwire: (PEER_SILENT|PEER_LOST|SUPERVISOR_LOST): .*m1/,
      );
      expect((await bench.newest()).state).toBe('failed');
      return;
    default:
      outcome satisfies never;
  }
}

/** Afterwards the run can be brought to an end, and nothing is left of it anywhere. */
async function tidy(bench: LossBench, outcome: Outcome): Promise<void> {
  await bench.restore('none');
  if (outcome === 'left') await bench.home.run(['runs', 'stop', 'last']);
  else await bench.home.run(['runs', 'attach', 'last']);
  const { state, missing: lacks } = await bench.newest();
  expect(state).toMatch(/^(stopped|failed)$/);
  expect(lacks).toBeUndefined();
  await until(
    () => bench.left(),
    (left) => left.length === 0,
    'all processes to end',
  );
}

/** The cells with this number of machines, at a terminal or not. */
export function describeLosses(machines: 1 | 2, atTerminal: boolean): void {
  const where = atTerminal ? 'a terminal' : 'a pipe';
  const what = machines === 1 ? 'a machine' : 'two machines';
  const column = atTerminal ? 1 : 0;
  const because = missing === undefined ? '' : ` (skipped: ${missing})`;
  describe.skipIf(missing !== undefined)(
    `a run on ${what}, followed at ${where}${because}`,
    () => {
      let bench: LossBench;
      beforeAll(async () => {
        bench = await LossBench.open(machines);
      });
      afterAll(() => bench?.[Symbol.asyncDispose]());

      const cells = LOSSES.flatMap((loss) =>
        REFUSALS.map((refusal) => ({
          loss,
          refusal,
          outcome: TABLE[machines][loss][refusal][column],
        })),
      );
      for (const { loss, refusal, outcome } of cells) {
        const isQuick = QUICK.has(`${machines}, ${loss}, ${refusal}, ${where}`);
        const tags = isQuick ? [] : ['soak'];
        test(`${loss}; ${refusal}: ${outcome}`, { tags }, async () => {
          await bench.restore(refusal);
          const followed = await bench.follow(atTerminal);
          try {
            await bench.lose(loss, refusal, followed);
            // The connection to the machine stays, or the run ends without it.
            const logsIn = !loss.startsWith('supervisor') && outcome !== 'ranks lost';
            const isGivenUp = outcome === 'left' || outcome === 'half';
            if (logsIn && !isGivenUp) await react(bench, refusal, followed);
            await settle(bench, outcome, followed);
          } finally {
            followed.kill();
          }
          await tidy(bench, outcome);
        });
      }
    },
  );
}

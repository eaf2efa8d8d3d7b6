/** Jobs that are no longer wanted, of a Slurm that answers late, wrongly or not at all: none stays. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { cancelLeftJobs } from '../../../src/agent/slurm/allocation.ts';
import { cancellationScript } from '../../../src/agent/slurm/job-cancellation.ts';
import { until } from '../../harness/processes.ts';
import { FakeSlurm, GONE, shown } from './fake-slurm.ts';

describe('a job that is no longer wanted', () => {
  const job = { id: '17', name: "gradwire it's", token: "it's" };
  const cancel = (
    scripts: ConstructorParameters<typeof FakeSlurm>[0],
    mark: object = {},
  ) => {
    using slurm = new FakeSlurm({ sleep: 'exit 0', ...scripts });
    const file = path.join(slurm.directory, 'slurm-job');
    writeFileSync(file, '');
    const script = cancellationScript({ ...job, ...mark }, file);
    const { status, stderr } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
    return { status, stderr, left: existsSync(file), calls: slurm.calls('scancel') };
  };

  test('is cancelled again until it is gone', () => {
    const squeue = `echo x >> "$DIR/looks"; [ $(wc -l < "$DIR/looks") -gt 3 ] || echo "17|gradwire it's|"`;
    const { status, left, calls } = cancel({ squeue, scancel: 'exit 1' });
    expect({ status, left }).toEqual({ status: 0, left: false });
    expect(calls.length).toBeGreaterThanOrEqual(4);
    expect(new Set(calls)).toEqual(
      new Set(["scancel --quiet --name=gradwire it's 17"]),
    );
  });

  test('is told if it stays, or if nobody knows', () => {
    for (const squeue of [`echo "17|gradwire it's|"`, 'exit 1']) {
      const { status, stderr, left } = cancel({ squeue, scancel: 'exit 1' });
      expect({ status, left }).toEqual({ status: 1, left: true });
      expect(stderr).toMatch(
        /^error: Slurm job 17 .* could not be cancelled .*: scancel /,
      );
    }
  });

  test('is seen in a hidden partition', () => {
    const listed = 'echo "18|gradwire it\'s|"';
    const squeue = shown(`case " $* " in *' --all '*) ${listed} ;; esac`);
    const { status, calls } = cancel({ squeue, scancel: GONE }, { id: undefined });
    expect({ status, calls }).toEqual({
      status: 0,
      calls: ["scancel --quiet --name=gradwire it's 18"],
    });
  });

  test('is looked for if its number is not known, and other jobs are not its', () => {
    const squeue = `echo "16|gradwire|other"; echo x >> "$DIR/looks"; [ $(wc -l < "$DIR/looks") -ne 3 ] || echo "18|gradwire it's|"`;
    const { status, calls } = cancel({ squeue, scancel: GONE }, { id: undefined });
    expect(status).toBe(0);
    expect(calls).toEqual(["scancel --quiet --name=gradwire it's 18"]);
  });

  test('is cancelled in its own of several clusters', () => {
    const squeue = shown(
      `printf '%s\\n' 'CLUSTER: a' JOBID '' 'CLUSTER: b' JOBID "18|gradwire it's|"`,
    );
    const { status, calls } = cancel(
      { squeue, scancel: GONE },
      { id: undefined, clusters: 'a,b' },
    );
    expect(status).toBe(0);
    expect(calls).toEqual(["scancel --quiet --clusters=b --name=gradwire it's 18"]);
  });
});

test('a supervisor cancels what an earlier one has left, as that one wrote it', async () => {
  using slurm = new FakeSlurm({ squeue: GONE, scancel: GONE });
  const run = path.join(slurm.directory, 'r7');
  mkdirSync(run);
  writeFileSync(path.join(run, 'slurm-job'), '12\n');
  const mark = { name: 'gradwire r7 0a', token: '0a', id: '13', clusters: 'b' };
  writeFileSync(path.join(run, 'slurm-job-0a'), JSON.stringify(mark));
  writeFileSync(path.join(run, 'slurm-job-0b'), '{"na');
  cancelLeftJobs(run);
  await slurm.called('scancel', /^scancel --quiet --name=gradwire r7 12$/);
  await slurm.called(
    'scancel',
    /^scancel --quiet --clusters=b --name=gradwire r7 0a 13$/,
  );
  await until(
    () => readdirSync(run),
    (files) => files.length === 1,
    'the files of both to be removed',
  );
});

// The script has to run in the smallest shell of a login node.
test('the shell of Debian takes the script', () => {
  const script = cancellationScript({ name: "it's", token: 'a' }, '/tmp/it’s');
  expect(() => execFileSync('dash', ['-n', '-c', script])).not.toThrow();
});

/** The machine whose journal says how a run ends is given up, and another one is not. */
import { expect, test } from 'vitest';
import { namespacesMissing } from '../../../harness/namespaces.ts';
import { until } from '../../../harness/processes.ts';
import { passwordsMissing } from '../../../harness/sshd.ts';
import { LossBench } from './loss-bench.ts';

test.skipIf((namespacesMissing() ?? passwordsMissing()) !== undefined)(
  'Ctrl-C stops the run through the other machine, and the command ends',
  { tags: 'soak' },
  async () => {
    await using bench = await LossBench.open(2, 0);
    await bench.restore('host key changed');
    const followed = await bench.follow(false);
    try {
      await bench.lose('connection reset', 'host key changed', followed);
      await until(
        () => followed.isOver() || /m0 is not tried any more/.test(followed.said()),
        (isSeen) => isSeen,
        'the machine to be given up',
      );
      followed.interrupt();
      expect(await followed.ended).toBe(130);
      expect(followed.said()).toMatch(
        /stopping the run.*\n.*RUN_UNFOLLOWED: .* Follow it again with: gradwire runs attach \w{8}\.\n$/,
      );
    } finally {
      followed.kill();
    }
    await bench.restore('none');
    await bench.home.run(['runs', 'attach', 'last']);
    expect(await bench.newest()).toMatchObject({ state: 'stopped' });
    await until(
      () => bench.left(),
      (left) => left.length === 0,
      'all processes to end',
    );
  },
);

/** The notice of a run that waits for programs which something else starts. */
import type { NoticeRecord } from '../../../src/shared/records/notice.ts';
import type { RunningCommand } from '../../harness/gradwire.ts';
import { until } from '../../harness/processes.ts';
import { ofType } from '../../harness/records.ts';

export async function awaitedNotice(command: RunningCommand): Promise<NoticeRecord> {
  const notice = await until(
    () =>
      ofType(command.records, 'notice').find(({ code }) => code === 'PROGRAM_AWAITED'),
    (found) => found !== undefined,
    'the notice that programs are awaited',
  );
  return notice!;
}

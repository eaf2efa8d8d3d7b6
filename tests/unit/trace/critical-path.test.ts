/** Critical paths of made-up traces, each built around the chain that decides it. */
import { describe, expect, test } from 'vitest';
import type { TraceRecord } from '../../../src/shared/records/trace.ts';
import { criticalPaths } from '../../../src/renderer/charts/timeline/critical-path.ts';
import { timelineOf } from '../../../src/shared/trace/timeline.ts';
import { MS, received, recordOf, sent, wordsOf, type Row } from './made-up-traces.ts';

/** The only path of these records. */
function pathIn(...records: readonly TraceRecord[]): readonly string[] {
  const timeline = timelineOf(records);
  const [path, ...more] = criticalPaths(timeline);
  expect(more).toEqual([]);
  return wordsOf(timeline, path!);
}

// Messages one way and back that take as long, so that the clocks are found to be equal.
const HELLO_0 = [sent(1, 0, 0.5), received(1, 0, 1.5)];
const HELLO_1 = [sent(0, 0, 0.5), received(0, 0, 1.5)];

test('the compute of one slow rank, on whichever rank the iteration ends', () => {
  const slow = recordOf(
    1,
    [
      [0, 'compute', 0, 30],
      [0, 'send', 30, 31],
      [0, 'reduce', 31, 32],
    ],
    { messages: [...HELLO_1, sent(0, 1, 30)] },
  );
  const fast = recordOf(
    0,
    [
      [0, 'compute', 0, 10],
      [0, 'send', 10, 11],
      [0, 'wait', 11, 32, 1],
      [0, 'receive', 32, 33],
      [0, 'apply', 33, 35],
    ],
    { messages: [...HELLO_0, received(1, 1, 33)] },
  );
  expect(pathIn(fast, slow)).toEqual([
    ...['1 compute 0–30', '1 send 30–31', '0 message 31–33', '0 apply 33–35'],
  ]);
});

test('two ranks in turns', () => {
  const first = recordOf(
    0,
    [
      [0, 'compute', 0, 10],
      [0, 'send', 10, 11],
      [0, 'wait', 11, 22, 1],
      [0, 'receive', 22, 23],
      [0, 'reduce', 23, 40],
    ],
    { messages: [...HELLO_0, sent(1, 1, 10), received(1, 1, 23)] },
  );
  const second = recordOf(
    1,
    [
      [0, 'compute', 0, 4],
      [0, 'wait', 4, 12, 0],
      [0, 'receive', 12, 13],
      [0, 'compress', 13, 20],
      [0, 'send', 20, 21],
    ],
    { messages: [...HELLO_1, received(0, 1, 13), sent(0, 1, 20)] },
  );
  expect(pathIn(first, second)).toEqual([
    ...['0 compute 0–10', '0 send 10–11', '1 message 11–13', '1 compress 13–20'],
    ...['1 send 20–21', '0 message 21–23', '0 reduce 23–40'],
  ]);
});

test('three ranks in a ring: round it, from the one that began late', () => {
  // Rank 2 computes longest; its piece goes to rank 0, and from there to rank 1.
  const ring = [
    recordOf(
      0,
      [
        [0, 'compute', 0, 5],
        [0, 'wait', 5, 21, 2],
        [0, 'receive', 21, 22],
        [0, 'reduce', 22, 25],
        [0, 'send', 25, 26],
      ],
      { messages: [...HELLO_0, received(2, 1, 22), sent(1, 1, 25)] },
    ),
    recordOf(
      1,
      [
        [0, 'compute', 0, 6],
        [0, 'wait', 6, 27, 0],
        [0, 'receive', 27, 28],
        [0, 'apply', 28, 30],
      ],
      {
        messages: [
          ...HELLO_1,
          ...[sent(2, 0, 0.5), received(2, 0, 1.5), received(0, 1, 28)],
        ],
      },
    ),
    recordOf(
      2,
      [
        [0, 'compute', 0, 20],
        [0, 'send', 20, 21],
      ],
      { messages: [sent(1, 0, 0.5), received(1, 0, 1.5), sent(0, 1, 20)] },
    ),
  ];
  expect(pathIn(...ring)).toEqual([
    ...['2 compute 0–20', '2 send 20–21', '0 message 21–22', '0 reduce 22–25'],
    ...['0 send 25–26', '1 message 26–28', '1 apply 28–30'],
  ]);
});

test('without messages a rank alone, with what no span explains', () => {
  const rows: readonly Row[] = [
    [0, 'data', 1, 2],
    [0, 'compute', 2, 10],
    [0, 'apply', 11, 12],
  ];
  expect(pathIn(recordOf(0, rows, { wall: 13 * MS }))).toEqual([
    ...['0 nothing 0–1', '0 data 1–2', '0 compute 2–10', '0 nothing 10–11'],
    ...['0 apply 11–12', '0 nothing 12–13'],
  ]);
});

test('without any span', () => {
  expect(pathIn(recordOf(0, [], { wall: 5 * MS }))).toEqual(['0 nothing 0–5']);
});

test('a message of which one end is lost leaves it on the rank that waited', () => {
  const waits = recordOf(
    0,
    [
      [0, 'compute', 0, 10],
      [0, 'wait', 10, 20, 1],
      [0, 'receive', 20, 21],
      [0, 'apply', 21, 22],
    ],
    { messages: [...HELLO_0, received(1, 1, 21)] },
  );
  const silent = recordOf(1, [[0, 'compute', 0, 19]], { messages: HELLO_1 });
  expect(pathIn(waits, silent)).toEqual([
    ...['0 compute 0–10', '0 wait 10–20', '0 receive 20–21', '0 apply 21–22'],
  ]);
});

test('several threads: from the exchange to the compute that it waited for', () => {
  const threads = ['trainer', 'engine'];
  const rows: readonly Row[] = [
    [0, 'data', 0, 1],
    [0, 'compute', 1, 20],
    [0, 'apply', 40, 42],
    // The first bucket's exchange ended under the compute.
    [1, 'compress', 5, 7],
    [1, 'send', 7, 8],
    [1, 'compress', 20, 25],
    [1, 'send', 25, 30],
    [1, 'reduce', 30.01, 40],
  ];
  expect(pathIn(recordOf(0, rows, { threads }))).toEqual([
    ...['0 data 0–1', '0 compute 1–20', '0 compress 20–25', '0 send 25–30'],
    ...['0 nothing 30–30.01', '0 reduce 30.01–40', '0 apply 40–42'],
  ]);
});

test('a short gap of a thread is not a wait for another one', () => {
  const rows: readonly Row[] = [
    [0, 'compute', 0, 20],
    [0, 'apply', 30, 31],
    [1, 'compress', 5, 10],
    [1, 'send', 10.01, 30],
  ];
  expect(pathIn(recordOf(0, rows, { threads: ['trainer', 'engine'] }))).toEqual([
    ...['0 compute 0–5', '0 compress 5–10', '0 nothing 10–10.01', '0 send 10.01–30'],
    '0 apply 30–31',
  ]);
});

describe('a message that did not decide', () => {
  const sender = recordOf(
    1,
    [
      [0, 'compute', 0, 3],
      [0, 'send', 3, 4],
      [0, 'compute', 4, 9],
    ],
    { messages: [...HELLO_1, sent(0, 1, 3)] },
  );

  test('lay ready when it was read', () => {
    const reader = recordOf(
      0,
      [
        [0, 'compute', 0, 10],
        [0, 'receive', 10, 11],
        [0, 'apply', 11, 12],
      ],
      { messages: [...HELLO_0, received(1, 1, 11)] },
    );
    expect(pathIn(reader, sender)).toEqual([
      ...['0 compute 0–10', '0 receive 10–11', '0 apply 11–12'],
    ]);
  });

  test('came while another rank was awaited', () => {
    const late = recordOf(
      2,
      [
        [0, 'compute', 0, 15],
        [0, 'send', 15, 16],
      ],
      { messages: [sent(0, 0, 0.5), received(0, 0, 1.5), sent(0, 1, 15)] },
    );
    const reader = recordOf(
      0,
      [
        [0, 'compute', 0, 2],
        [0, 'wait', 2, 5, 2],
        [0, 'receive', 5, 6],
        [0, 'wait', 6, 17, 2],
        [0, 'receive', 17, 18],
        [0, 'apply', 18, 19],
      ],
      {
        messages: [
          ...[...HELLO_0, sent(2, 0, 0.5), received(2, 0, 1.5)],
          ...[received(1, 1, 6), received(2, 1, 18)],
        ],
      },
    );
    expect(pathIn(reader, sender, late)).toEqual([
      ...['2 compute 0–15', '2 send 15–16', '0 message 16–18', '0 apply 18–19'],
    ]);
  });
});

test('a message that came while a lost one was awaited is not followed', () => {
  const early = recordOf(
    1,
    [
      [0, 'compute', 0, 3],
      [0, 'send', 3, 4],
    ],
    { messages: [...HELLO_1, sent(0, 1, 3)] },
  );
  const waits = recordOf(
    0,
    [
      [0, 'compute', 0, 2],
      [0, 'wait', 2, 5, 2],
      [0, 'receive', 5, 6],
      [0, 'wait', 6, 17, 2],
      [0, 'apply', 17, 18],
    ],
    { messages: [...HELLO_0, received(1, 1, 6)] },
  );
  expect(pathIn(waits, early, recordOf(2, [[0, 'compute', 0, 15]]))).toEqual([
    ...['0 compute 0–2', '0 wait 2–5', '0 receive 5–6', '0 wait 6–17', '0 apply 17–18'],
  ]);
});

test('a message whose rest came after other work', () => {
  const sender = recordOf(
    1,
    [
      [0, 'compute', 0, 12],
      [0, 'send', 12, 13],
    ],
    { messages: [...HELLO_1, sent(0, 1, 12)] },
  );
  const receiver = recordOf(
    0,
    [
      [0, 'compute', 0, 5],
      [0, 'wait', 5, 14, 1],
      [0, 'compress', 14, 16],
      [0, 'receive', 16, 17],
      [0, 'apply', 17, 18],
    ],
    { messages: [...HELLO_0, received(1, 1, 17)] },
  );
  expect(pathIn(receiver, sender)).toEqual([
    ...['1 compute 0–12', '1 send 12–13', '0 message 13–14', '0 compress 14–16'],
    ...['0 receive 16–17', '0 apply 17–18'],
  ]);
});

test('a message that would arrive before it was sent is not followed', () => {
  const records = [
    recordOf(
      0,
      [
        [0, 'compute', 0, 5],
        [0, 'wait', 5, 10, 1],
        [0, 'apply', 10, 12],
      ],
      { messages: [received(1, 1, 10)] },
    ),
    recordOf(1, [[0, 'compute', 0, 11]], { messages: [sent(0, 1, 9)] }),
  ];
  const timeline = timelineOf(records);
  const arrows = timeline.arrows.map((one) => ({ ...one, sent: 10.5 * MS }));
  const [path] = criticalPaths({ ...timeline, arrows });
  expect(wordsOf(timeline, path!)).toEqual([
    ...['0 compute 0–5', '0 wait 5–10', '0 apply 10–12'],
  ]);
});

test('other clocks, and a cut trace: the path ends where its iteration begins', () => {
  // The clock of rank 1 is 100 ms ahead. Its record of iteration 8 is missing.
  const own = { origin: 1100, messages: [...HELLO_1, sent(0, 1, 9)] };
  const records = [
    recordOf(0, [[0, 'compute', 0, 12]], { messages: HELLO_0 }),
    recordOf(
      1,
      [
        [0, 'compute', 0, 9],
        [0, 'send', 9, 10],
      ],
      own,
    ),
    recordOf(
      0,
      [
        [0, 'wait', 0, 4, 1],
        [0, 'receive', 4, 5],
        [0, 'apply', 5, 6],
      ],
      { iteration: 8, origin: 1012, messages: [received(1, 1, 5)] },
    ),
  ];
  const timeline = timelineOf(records);
  const paths = criticalPaths(timeline);
  expect(paths.map((path) => wordsOf(timeline, path))).toEqual([
    ['0 compute 0–12'],
    ['0 message 12–17', '0 apply 17–18'],
  ]);
  expect(
    paths.map(({ from, iteration, to }) => [iteration, from / MS, to / MS]),
  ).toEqual([
    [7, 0, 12],
    [8, 12, 18],
  ]);
});

test('a message of the iteration before is followed to the begin of its own', () => {
  const second = { iteration: 8, origin: 1012 };
  const timeline = timelineOf([
    recordOf(0, [[0, 'compute', 0, 12]], { messages: HELLO_0 }),
    recordOf(
      1,
      [
        [0, 'compute', 0, 9],
        [0, 'send', 9, 14],
      ],
      { messages: [...HELLO_1, sent(0, 1, 9)] },
    ),
    recordOf(
      0,
      [
        [0, 'wait', 0, 4, 1],
        [0, 'receive', 4, 5],
        [0, 'apply', 5, 6],
      ],
      { ...second, messages: [received(1, 1, 5)] },
    ),
    recordOf(1, [[0, 'compute', 0, 1]], { iteration: 8, origin: 1014 }),
  ]);
  expect(wordsOf(timeline, criticalPaths(timeline)[1]!)).toEqual([
    ...['0 message 12–17', '0 apply 17–18'],
  ]);
});

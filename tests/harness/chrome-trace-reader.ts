/**
 * Reads the "Trace Event Format" as Perfetto's importer does with JSON: slices of a thread must nest,
 * and a flow ("s" to "f" with the same id and category) connects the slices that are open at
 * its ends. Made from the format's description; it shares nothing with what writes such files.
 */
export interface Slice {
  readonly name: string;
  readonly category: string;
  readonly process: number;
  readonly thread: number;
  readonly start: number;
  readonly end: number;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface Flow {
  readonly from: { readonly process: number; readonly at: number };
  readonly to: { readonly process: number; readonly at: number };
  readonly args: Readonly<Record<string, unknown>>;
}

export interface ReadTrace {
  readonly processes: ReadonlyMap<number, string>;
  readonly threads: ReadonlyMap<string, string>;
  readonly slices: readonly Slice[];
  readonly flows: readonly Flow[];
  readonly other: Readonly<Record<string, unknown>>;
}

type Event = Readonly<Record<string, unknown>>;

/** Perfetto drops what lies before the begin of time. */
function momentOf(event: Event): number {
  const at = numberIn(event, 'ts');
  if (at < 0) throw new Error(`it is before 0: ${JSON.stringify(event)}`);
  return at;
}

function numberIn(event: Event, key: string): number {
  const value = event[key];
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw new Error(`${key} is no number: ${JSON.stringify(event)}`);
  }
  return value;
}

/** @throws Error that says what is no such file */
export function readChromeTrace(text: string): ReadTrace {
  const file = JSON.parse(text) as {
    readonly traceEvents?: unknown;
    readonly otherData?: Record<string, unknown>;
  };
  if (!Array.isArray(file.traceEvents)) throw new Error('it has no traceEvents');
  const processes = new Map<number, string>();
  const threads = new Map<string, string>();
  const slices: Slice[] = [];
  const begun = new Map<string, Event>();
  const flows: Flow[] = [];
  for (const event of file.traceEvents as Event[]) {
    const process = numberIn(event, 'pid');
    const args = (event['args'] ?? {}) as Record<string, unknown>;
    const name = event['name'];
    if (typeof name !== 'string') throw new Error('an event has no name');
    switch (event['ph']) {
      case 'M':
        if (name === 'process_name') processes.set(process, args['name'] as string);
        if (name === 'thread_name') {
          threads.set(`${process}/${numberIn(event, 'tid')}`, args['name'] as string);
        }
        break;
      case 'X': {
        const start = momentOf(event);
        const duration = numberIn(event, 'dur');
        if (duration < 0) throw new Error(`${name} takes ${duration}`);
        const thread = numberIn(event, 'tid');
        const category = event['cat'] as string;
        slices.push({
          name,
          category,
          process,
          thread,
          start,
          end: start + duration,
          args,
        });
        break;
      }
      case 's':
        begun.set(`${event['cat'] as string}/${String(event['id'])}`, event);
        break;
      case 'f': {
        const first = begun.get(`${event['cat'] as string}/${String(event['id'])}`);
        if (first === undefined) throw new Error('a flow ends that has not begun');
        flows.push({
          from: { process: numberIn(first, 'pid'), at: momentOf(first) },
          to: { process, at: momentOf(event) },
          args,
        });
        break;
      }
      default:
        throw new Error(`unknown event ${JSON.stringify(event)}`);
    }
  }
  return { processes, threads, slices, flows, other: file.otherData ?? {} };
}

/** Slices of a thread that overlap another without lying in it. @param slack rounding, µs */
export function crossings(slices: readonly Slice[], slack: number): readonly string[] {
  const found: string[] = [];
  const byThread = Map.groupBy(slices, ({ process, thread }) => `${process}/${thread}`);
  for (const [where, own] of byThread) {
    const open: Slice[] = [];
    const inOrder = own.toSorted((a, b) => a.start - b.start || b.end - a.end);
    for (const slice of inOrder) {
      while (open.length > 0 && open.at(-1)!.end <= slice.start + slack) open.pop();
      const outer = open.at(-1);
      if (outer !== undefined && slice.end > outer.end + slack) {
        found.push(`${where}: ${slice.name} at ${slice.start} leaves ${outer.name}`);
      }
      open.push(slice);
    }
  }
  return found;
}

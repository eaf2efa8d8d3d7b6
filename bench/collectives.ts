/**
 * `gradwire bench collectives`: every collective between real processes, on loopback or on
 * shaped links, and with `--peers` beside OpenMPI and Gloo. How to read it:
 * docs/benchmarks.md.
 *
 * What would be noticed here: a copy, a wait or an allocation more on the way of a
 * message; a round that no longer overlaps the next; a cost that no longer predicts.
 */
import { reportError } from '../src/cli/text/report-error.ts';
import { autoLines, autoSummary, autoTable } from './collectives/auto-verdict.ts';
import { emulationTable, measureEmulation } from './collectives/emulation.ts';
import { exchangeTable, measureExchange } from './collectives/iteration-exchange.ts';
import { measureMemory, memoryTable, type MemoryLine } from './collectives/memory.ts';
import { parseOptions } from './collectives/options.ts';
import {
  networkLine,
  networkText,
  outcomeLines,
  outcomeTable,
  type CollectiveLine,
} from './collectives/outcome-lines.ts';
import { measurePredictions } from './collectives/prediction-section.ts';
import {
  predictionLines,
  predictionSummary,
  predictionTable,
} from './collectives/prediction-verdict.ts';
import { openSession } from './collectives/stage.ts';
import { measureVectors, type Reports } from './collectives/vector-sections.ts';
import './parent.ts';

try {
  await main();
} catch (error) {
  process.exitCode = reportError(error);
}

async function main(): Promise<void> {
  const session = await openSession(parseOptions(process.argv.slice(2)));
  const { json, sections } = session;
  const print = (lines: readonly object[], table: () => string): void => {
    if (json) for (const line of lines) console.log(JSON.stringify(line));
    else console.log(`${table()}\n`);
  };
  const seen: CollectiveLine[] = [];
  const reports: Reports = {
    staged: (stage) => {
      const line = networkLine(stage);
      print([line], () => networkText(line));
    },
    measured: (section, stage, outcome) => {
      const lines = outcomeLines(section, stage, outcome);
      print(lines, () => `${section}\n${outcomeTable(lines)}`);
      seen.push(...lines.filter((line) => line.type === 'collective'));
    },
  };
  await measureVectors(session, reports);
  if (sections.includes('predictions')) await measurePredictions(session, reports);
  const choices = autoLines(seen);
  const summary = autoSummary(seen, choices);
  if (summary !== undefined) {
    print([...choices, summary], () => autoTable(choices, summary));
  }
  const predictions = predictionLines(seen);
  const held = predictionSummary(predictions);
  if (held !== undefined) {
    print([...predictions, held], () => predictionTable(predictions, held));
  }
  if (sections.includes('exchange')) {
    await measureExchange(session, (lines) => {
      const [first] = lines;
      print(lines, () => `${first!.note}, ${first!.links}\n${exchangeTable(lines)}`);
    });
  }
  if (sections.includes('emulation')) {
    await measureEmulation(session, (lines) => {
      print(lines, () => emulationTable(lines));
    });
  }
  if (sections.includes('memory')) {
    const lines: MemoryLine[] = [];
    await measureMemory(session, (line) => {
      if (json) print([line], String);
      lines.push(line);
    });
    if (!json) print(lines, () => memoryTable(lines));
  }
}

/** One measured quantity beside its goal: a line of a benchmark's table and of its JSON. */
export interface Measurement {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The value should stay below this. */
  readonly goal?: number | undefined;
  /** Notes on the measurement: samples, spread, conditions. */
  readonly note: string;
}

export function printMeasurements(
  measurements: readonly Measurement[],
  json: boolean,
): void {
  if (json) {
    for (const measurement of measurements) console.log(JSON.stringify(measurement));
    return;
  }
  const rows = measurements.map(({ name, value, unit, goal, note }) => [
    name,
    `${format(value)} ${unit}`,
    goal === undefined ? '' : `< ${goal} ${unit}`,
    goal === undefined ? '' : value < goal ? 'met' : 'MISSED',
    note,
  ]);
  const header = ['what', 'measured', 'goal', '', 'how'];
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]!.length)),
  );
  for (const row of [header, ...rows]) {
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    );
  }
}

function format(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

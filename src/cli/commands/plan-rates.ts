/**
 * `gradwire plan SPEC --rates METHOD`: how much to compress each layer, by how much is
 * computed for each element of its gradient, and the `exchange` that says so.
 */
import type { LayerRate, LayerRates } from '../../agent/engine.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import type { JsonObject, JsonValue } from '../../shared/checks/json.ts';
import { formatCount } from '../../shared/words/units.ts';
import { bytes } from '../text/quantities.ts';
import { textTable } from '../text/text-table.ts';

const BYTES_PER_ELEMENT = 4;

export async function planRates(
  spec: ExperimentSpec,
  method: string,
  json: boolean,
): Promise<void> {
  // Loaded here: no other command needs the engine.
  const { layerRates } = await import('../../agent/engine.ts');
  const rates = await layerRates(spec, method);
  if (json) {
    const { layers, otherMultiplyAdds, overall, exchange } = rates;
    const lines = [
      ...layers.map((layer) => ({ type: 'layer', ...layer })),
      { type: 'rates', otherMultiplyAdds, overall, exchange },
    ];
    process.stdout.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    return;
  }
  const { workload } = spec;
  process.stdout.write(
    `${spec.name}: ${rates.method}’s guidance for ${workload.model}, ${workload.batchPerRank} ` +
      `samples a rank; multiply-adds of one sample’s forward pass\n\n` +
      `${table(rates)}\n\n${exchangeText(rates.exchange)}`,
  );
}

function table({ layers, otherMultiplyAdds, overall }: LayerRates): string {
  const header = [
    'tensor',
    'gradient',
    'multiply-adds',
    'per element',
    'sent',
    'ratio',
  ];
  const elements = layers.reduce((sum, layer) => sum + layer.elements, 0);
  const all = layers.reduce((sum, layer) => sum + layer.multiplyAdds, 0);
  const rest =
    otherMultiplyAdds === 0
      ? []
      : [['not with a tensor', '', formatCount(otherMultiplyAdds), '', '', '']];
  const rows = [
    header,
    ...layers.map(rowOf),
    ...rest,
    [
      'all tensors',
      bytes(elements * BYTES_PER_ELEMENT),
      formatCount(all),
      figures(all / elements),
      share(overall),
      figures(1 / overall),
    ],
  ];
  const [left, right] = ['left', 'right'] as const;
  return textTable(rows, [left, right, right, right, right, right]);
}

function rowOf({
  name,
  elements,
  multiplyAdds,
  perElement,
  rate,
}: LayerRate): string[] {
  return [
    name,
    bytes(elements * BYTES_PER_ELEMENT),
    formatCount(multiplyAdds),
    figures(perElement),
    rate === undefined ? 'all' : share(rate),
    rate === undefined ? '' : figures(1 / rate),
  ];
}

const share = (rate: number): string => `1 of ${figures(rate)}`;
const figures = (value: number): string => String(Number(value.toPrecision(4)));

/** Writes an exchange as YAML: a line for each key, and one for each layer. */
function exchangeText(exchange: JsonObject): string {
  const lines = Object.entries(exchange).map(([key, value]) =>
    key === 'layers' && Array.isArray(value) && value.length > 0
      ? ['  layers:', ...value.map((layer) => `    - ${flow(layer)}`)].join('\n')
      : `  ${key}: ${flow(value)}`,
  );
  return `exchange:\n${lines.join('\n')}\n`;
}

/** Words that YAML would not read as text. */
const RESERVED = /^(true|false|null|yes|no|on|off|y|n)$/i;

/** A value of JSON as YAML has it in one line; names that may have a star in quotes. */
function flow(value: JsonValue | undefined): string {
  if (typeof value === 'string') {
    const isPlain = /^[a-z][a-z0-9-]*$/i.test(value) && !RESERVED.test(value);
    return isPlain ? value : JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([key, item]) => `${key}: ${flow(item)}`);
    return `{ ${members.join(', ')} }`;
  }
  return String(value);
}

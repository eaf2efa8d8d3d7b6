/** A chart as a file: its picture as SVG or PNG, or the numbers of its table as CSV. */
import { chartFileName, type ChartFormat } from '../../export/file-name.ts';
import { pictureSvg } from '../../export/picture/picture-svg.ts';
import type { Picture } from '../../export/picture/picture.ts';
import { saveFile } from '../state/host/save-file.ts';
import type { TableTwin } from './table-twin.ts';
import { twinCsv } from './twin-csv.ts';

/** A chart as it is at the moment. */
export interface SavedChart {
  /** The chart's id. */
  readonly id: string;
  /** The run that it is of, if it is of one. */
  readonly run?: string | undefined;
  readonly picture?: (() => Picture) | undefined;
  readonly table: () => TableTwin;
}

/** Pixels of a PNG for each of the SVG, so that it is sharp in print. */
const PNG_SCALE = 2;

/**
 * Saves a chart through the browser's download.
 * @throws {Error} if the browser cannot draw the picture
 */
export async function saveChart(chart: SavedChart, format: ChartFormat): Promise<void> {
  const name = chartFileName(chart.id, format, chart.run);
  saveFile(name, await contentOf(chart, format));
}

async function contentOf(
  { picture, table }: SavedChart,
  format: ChartFormat,
): Promise<Blob> {
  if (format === 'csv' || picture === undefined)
    return new Blob([twinCsv(table())], { type: 'text/csv' });
  const svg = pictureSvg(picture());
  return format === 'svg' ? new Blob([svg], { type: 'image/svg+xml' }) : pngOf(svg);
}

/** An SVG picture as PNG. It is loaded from a `data:` address, which the page's policy allows. */
async function pngOf(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = PNG_SCALE * image.naturalWidth;
  canvas.height = PNG_SCALE * image.naturalHeight;
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  const png = await new Promise<Blob | null>((done) => canvas.toBlob(done));
  if (png === null)
    throw new Error('This browser cannot draw the chart as PNG: save it as SVG.');
  return png;
}

/**
 * Shared by DCT's figures of a recommendation model on two ranks with the same weights, whose gradients are
 * compressed: the cases, and how they differ from the paper's.
 */
import type { Case } from '../figure.ts';
import {
  clickTraining,
  LAPTOP_CLICKS,
  PAPER_CLICK_BATCH,
  PAPER_CLICKS,
  type ClickScale,
} from './click-loss.ts';
import { BASELINE, type Compressed } from './dct-losses.ts';

const RANKS = 2;

/** A row of such a figure, with the parameters of its method. */
export interface CompressedGradients extends Compressed {
  readonly exchange: Readonly<Record<string, unknown>>;
}

/** DCT-DP that leaves out a share of the gradient. */
export const leavingOut = (percent: number) => ({
  method: 'dct',
  ratio: Number((1 - percent / 100).toPrecision(6)),
});

const casesOf = (
  scale: ClickScale,
  rows: readonly CompressedGradients[],
): readonly Case[] =>
  [{ id: BASELINE, name: 'uncompressed', exchange: { method: 'none' } }, ...rows].map(
    ({ id, name, exchange }) => ({
      id,
      label: name,
      spec: {
        ...clickTraining(scale, PAPER_CLICK_BATCH / RANKS),
        world: { ranks: RANKS },
        exchange: { ...exchange, layers: [{ match: 'embedding', method: 'nonzero' }] },
      },
    }),
  );

/** Uncompressed training, and each row. */
export const laptopReplicas = (rows: readonly CompressedGradients[]) =>
  casesOf(LAPTOP_CLICKS, rows);

/** The same with the paper's model and data. */
export const paperReplicas = (rows: readonly CompressedGradients[]) =>
  casesOf(PAPER_CLICKS, rows);

export const EXACT_EMBEDDING =
  'In every run, gradients of the embedding table are sent exactly, and only the entries in use.';

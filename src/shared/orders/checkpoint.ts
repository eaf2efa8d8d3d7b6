/**
 * Write a checkpoint now: all ranks write one before the same iteration, as they do every
 * `checkpointEvery` iterations, and the run goes on.
 */
import { nothingMore, orderDefinition } from './order.ts';

export const checkpointOrder = orderDefinition({
  type: 'checkpoint',
  asked: nothingMore,
  answer: nothingMore,
  told: nothingMore,
  asks: 'any',
  isReading: false,
});

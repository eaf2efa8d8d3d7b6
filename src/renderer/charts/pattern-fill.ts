/**
 * Fills that differ without colour: a tile of lines or dots over a colour, repeated.
 * Tiles are made once per colour and pattern, and kept by the palette.
 */
import type { Pattern } from '../../export/picture/phase-patterns.ts';

const TILE = 6;

/** @returns the colour itself if the pattern is plain */
export function patternFill(
  colour: string,
  pattern: Pattern,
  ink: string,
): string | CanvasPattern {
  return pattern === 'plain' ? colour : tile(colour, pattern, ink, 0.55);
}

/** Diagonal lines on a transparent ground: bars underneath shine through. */
export function hatchFill(ink: string): string | CanvasPattern {
  return tile(undefined, 'rising', ink, 0.8);
}

function tile(
  colour: string | undefined,
  pattern: Pattern,
  ink: string,
  strength: number,
): string | CanvasPattern {
  const canvas = document.createElement('canvas');
  canvas.width = TILE;
  canvas.height = TILE;
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('internal: no 2D canvas');
  if (colour !== undefined) {
    context.fillStyle = colour;
    context.fillRect(0, 0, TILE, TILE);
  }
  context.globalAlpha = strength;
  context.fillStyle = ink;
  context.strokeStyle = ink;
  context.lineWidth = 1.25;
  context.beginPath();
  switch (pattern) {
    case 'rising':
      // Drawn beyond the edges, so that neighbouring tiles join without a notch.
      context.moveTo(-1, TILE + 1);
      context.lineTo(TILE + 1, -1);
      context.moveTo(-1, 1);
      context.lineTo(1, -1);
      context.moveTo(TILE - 1, TILE + 1);
      context.lineTo(TILE + 1, TILE - 1);
      break;
    case 'falling':
      context.moveTo(-1, -1);
      context.lineTo(TILE + 1, TILE + 1);
      context.moveTo(TILE - 1, -1);
      context.lineTo(TILE + 1, 1);
      context.moveTo(-1, TILE - 1);
      context.lineTo(1, TILE + 1);
      break;
    case 'level':
      context.moveTo(0, TILE / 2);
      context.lineTo(TILE, TILE / 2);
      break;
    case 'upright':
      context.moveTo(TILE / 2, 0);
      context.lineTo(TILE / 2, TILE);
      break;
    case 'dots':
      context.fillRect(1, 1, 1.5, 1.5);
      context.fillRect(4, 4, 1.5, 1.5);
      break;
    case 'plain':
      break;
    default:
      pattern satisfies never;
  }
  context.stroke();
  return context.createPattern(canvas, 'repeat') ?? colour ?? ink;
}

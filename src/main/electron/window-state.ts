/**
 * The window's position, kept in the home directory between starts. Displays change, so a
 * position is used only if enough of the window would be visible.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const stateSchema = z.object({
  x: z.int(),
  y: z.int(),
  width: z.int().min(640).max(16_384),
  height: z.int().min(480).max(16_384),
  maximized: z.boolean(),
});
export type WindowState = z.infer<typeof stateSchema>;

export const DEFAULT_SIZE = { width: 1440, height: 900 } as const;

/** The part of the window's top edge that must be on a display, so that it can be dragged. */
const GRIP = { width: 100, height: 32 } as const;

/** The state to restore; undefined to use the defaults. */
export function restorableState(
  text: string,
  displays: readonly Rectangle[],
): WindowState | undefined {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return undefined; // not important data: use the defaults
  }
  const state = stateSchema.safeParse(raw).data;
  if (state === undefined) return undefined;
  const bar = { ...state, height: GRIP.height };
  return displays.some((display) => canGrip(bar, display)) ? state : undefined;
}

export function readWindowState(
  directory: string,
  displays: readonly Rectangle[],
): WindowState | undefined {
  let text: string;
  try {
    text = readFileSync(stateFile(directory), 'utf8');
  } catch {
    return undefined; // the first start
  }
  return restorableState(text, displays);
}

/** Best effort: a full disk must not keep the window from closing. */
export function writeWindowState(directory: string, state: WindowState): void {
  try {
    writeFileSync(stateFile(directory), JSON.stringify(state), { mode: 0o600 });
  } catch {
    return; // the next start uses the default size
  }
}

function stateFile(directory: string): string {
  return path.join(directory, 'window.json');
}

function canGrip(bar: Rectangle, display: Rectangle): boolean {
  const overlap = (a: number, aSize: number, b: number, bSize: number) =>
    Math.min(a + aSize, b + bSize) - Math.max(a, b);
  return (
    overlap(bar.x, bar.width, display.x, display.width) >= GRIP.width &&
    overlap(bar.y, bar.height, display.y, display.height) >= GRIP.height
  );
}

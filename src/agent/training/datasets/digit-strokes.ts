/**
 * Handwritten forms of the ten digits: the skeletons of the embedded data set. Each
 * digit has several habits of writing it (a 7 with or without its bar, a 4 open or
 * closed…), each habit its strokes, each stroke the points that the pen passes. Points
 * are x, y pairs in hundredths of the glyph's box, y downwards. Drawn by hand for this
 * project.
 */
export interface Stroke {
  /** `curve`: a smooth line through the points; `line`: straight between them. */
  readonly kind: 'curve' | 'line';
  readonly points: readonly number[];
}

/** One way to write a digit. */
export type Glyph = readonly Stroke[];

const curve = (...points: number[]): Stroke => ({ kind: 'curve', points });
const line = (...points: number[]): Stroke => ({ kind: 'line', points });

/** `digitGlyphs[d]`: the ways to write digit d. */
export const digitGlyphs: readonly (readonly Glyph[])[] = [
  [
    [curve(50, 2, 22, 18, 14, 50, 22, 82, 50, 98, 78, 82, 86, 50, 78, 18, 50, 2)],
    [
      curve(
        62,
        6,
        36,
        12,
        22,
        42,
        26,
        80,
        50,
        97,
        72,
        80,
        78,
        46,
        66,
        14,
        44,
        4,
        34,
        12,
      ),
    ],
    [curve(50, 12, 20, 26, 10, 52, 22, 80, 50, 92, 80, 80, 90, 52, 80, 24, 48, 12)],
  ],
  [
    [line(50, 2, 50, 98)],
    [line(30, 24, 54, 3), line(54, 3, 51, 98)],
    [line(28, 22, 52, 3), line(52, 3, 50, 97), line(28, 97, 74, 97)],
    [curve(56, 2, 50, 40, 46, 98)],
  ],
  [
    [curve(18, 24, 34, 6, 58, 4, 76, 18, 74, 40, 52, 66, 18, 96), line(18, 96, 84, 94)],
    [
      curve(
        20,
        20,
        42,
        3,
        70,
        10,
        76,
        32,
        58,
        62,
        30,
        92,
        14,
        90,
        22,
        78,
        44,
        86,
        66,
        97,
        88,
        88,
      ),
    ],
    [
      curve(16, 30, 30, 8, 56, 4, 76, 20, 70, 44, 46, 72, 14, 97),
      curve(14, 97, 40, 91, 60, 97, 86, 92),
    ],
  ],
  [
    [
      curve(20, 12, 44, 2, 72, 10, 74, 32, 42, 47),
      curve(42, 47, 76, 56, 84, 78, 60, 96, 32, 97, 14, 86),
    ],
    [
      line(20, 5, 78, 5),
      line(78, 5, 44, 42),
      curve(44, 42, 74, 50, 84, 72, 66, 94, 38, 98, 14, 88),
    ],
    [
      curve(
        18,
        16,
        48,
        2,
        74,
        20,
        56,
        42,
        38,
        48,
        62,
        52,
        82,
        74,
        62,
        95,
        34,
        98,
        16,
        84,
      ),
    ],
  ],
  [
    [line(26, 4, 16, 56), line(16, 56, 86, 56), line(66, 22, 62, 98)],
    [line(62, 3, 14, 64), line(14, 64, 90, 64), line(62, 3, 62, 98)],
    [curve(24, 6, 16, 34, 22, 54, 48, 56, 76, 46), curve(78, 6, 74, 46, 68, 98)],
  ],
  [
    [
      line(78, 5, 30, 5),
      line(30, 5, 24, 44),
      curve(24, 44, 52, 36, 80, 52, 82, 78, 58, 96, 30, 97, 14, 86),
    ],
    [curve(80, 8, 48, 6, 30, 14, 28, 38, 50, 48, 76, 60, 78, 82, 54, 97, 18, 92)],
    [
      line(34, 8, 30, 46),
      curve(30, 46, 60, 44, 78, 64, 68, 90, 40, 98, 16, 90),
      line(34, 8, 86, 2),
    ],
  ],
  [
    [
      curve(
        70,
        4,
        42,
        18,
        22,
        50,
        20,
        78,
        42,
        97,
        70,
        92,
        80,
        72,
        64,
        54,
        40,
        58,
        22,
        76,
      ),
    ],
    [curve(58, 2, 34, 34, 18, 70, 30, 94, 56, 98, 74, 82, 66, 62, 44, 60, 24, 76)],
    [
      curve(
        78,
        14,
        58,
        3,
        32,
        22,
        18,
        58,
        28,
        90,
        56,
        98,
        80,
        80,
        70,
        56,
        42,
        52,
        22,
        68,
      ),
    ],
  ],
  [
    [line(16, 6, 82, 6), curve(82, 6, 60, 46, 42, 98)],
    [line(16, 6, 82, 6), curve(82, 6, 60, 46, 42, 98), line(34, 52, 76, 49)],
    [line(18, 24, 20, 6), line(20, 6, 82, 8), curve(82, 8, 58, 50, 50, 98)],
    [curve(16, 10, 40, 8, 80, 4), curve(80, 4, 70, 34, 44, 60, 36, 98)],
  ],
  [
    [
      curve(
        74,
        14,
        50,
        3,
        26,
        16,
        34,
        38,
        62,
        54,
        80,
        76,
        60,
        96,
        34,
        95,
        18,
        76,
        36,
        54,
        64,
        40,
        76,
        22,
        74,
        14,
      ),
    ],
    [
      curve(50, 4, 28, 14, 28, 36, 50, 48, 72, 36, 72, 14, 50, 4),
      curve(50, 48, 20, 60, 20, 86, 50, 98, 80, 86, 80, 60, 50, 48),
    ],
    [
      curve(
        82,
        8,
        58,
        4,
        36,
        20,
        44,
        40,
        64,
        58,
        68,
        82,
        46,
        97,
        24,
        86,
        32,
        64,
        58,
        42,
        78,
        20,
        70,
        6,
      ),
    ],
  ],
  [
    [
      curve(74, 22, 52, 4, 26, 14, 22, 38, 44, 52, 68, 42, 75, 20),
      line(76, 14, 70, 98),
    ],
    [
      curve(74, 22, 54, 4, 28, 12, 22, 36, 44, 50, 68, 42, 75, 20),
      curve(76, 18, 78, 56, 66, 86, 40, 97, 20, 88),
    ],
    [curve(72, 30, 50, 44, 28, 36, 28, 12, 52, 3, 72, 14, 74, 44, 66, 74, 54, 98)],
  ],
];

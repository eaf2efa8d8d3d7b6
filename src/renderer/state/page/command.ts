/** A user command, for the palette, the shortcut list and menus. */
export interface Command {
  /** Stable and unique; the native menu refers to commands by it. */
  readonly id: string;
  readonly title: string;
  readonly group: string;
  readonly shortcuts?: readonly string[];
  readonly run: () => void;
}

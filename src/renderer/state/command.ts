/** Something the user can do, as the palette, the shortcut list and menus know it. */
export interface Command {
  /** Stable, unique; a native menu names commands by it. */
  readonly id: string;
  readonly title: string;
  readonly group: string;
  readonly shortcuts?: readonly string[];
  readonly run: () => void;
}

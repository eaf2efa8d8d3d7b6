/**
 * Whether a turn of the wheel is a chart's or the page's. It is the chart's with Ctrl or ⌘, and where
 * the keyboard moved the focus to it. A click gives it the focus for keys alone: whoever has clicked a
 * bar goes on scrolling.
 */
export class WheelOwner {
  #isPointed = false;

  /** Notes that a pointer was pressed on the chart. */
  pointed(): void {
    this.#isPointed = true;
  }

  /** Notes that the chart lost the focus. */
  left(): void {
    this.#isPointed = false;
  }

  /** @param hasFocus whether the chart has the focus */
  isChart(
    event: { readonly ctrlKey: boolean; readonly metaKey: boolean },
    hasFocus: boolean,
  ): boolean {
    return event.ctrlKey || event.metaKey || (hasFocus && !this.#isPointed);
  }
}

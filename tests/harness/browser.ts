/** The real Chromium that the end-to-end tests drive. */
import { chromium, type Browser } from 'playwright-core';
import { findChromium } from '../../scripts/prerequisites.ts';

export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium();
  return await chromium.launch({
    ...(executablePath === undefined ? {} : { executablePath }),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  });
}

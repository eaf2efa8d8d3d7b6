/** A page under test: what goes wrong on it, and who could not use it. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Errors of the page and its console, from now on. */
export function watchErrors(page: Page): readonly string[] {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  return errors;
}

/** Of the page, where the function below runs. */
declare const window: { readonly axe?: typeof axe };

/**
 * What of the page is a serious obstacle to who sees or hears it otherwise. A document gets axe
 * once, and describes nothing but what is wrong: half of its work would be to say what is not.
 */
export async function obstacles(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate(() => window.axe !== undefined)))
    await page.evaluate(axe.source);
  return await page.evaluate(async () => {
    const { violations } = await window.axe!.run({ resultTypes: ['violations'] });
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  });
}

/** Pictures of the panel, light and dark. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { repositoryRoot } from '../harness/process.ts';

/** shoot takes the whole panel to e2e/out/, and sees that nothing stands out of it. */
export async function shoot(panel: Page, name: string): Promise<void> {
  const height = await panel.evaluate(() => document.body.scrollHeight);
  await panel.setViewportSize({ width: 360, height });
  const overflow = await panel.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(overflow <= 0, `${name}: ${overflow} px too wide`);
  for (const colorScheme of ['light', 'dark'] as const) {
    await panel.emulateMedia({ colorScheme });
    await panel.screenshot({ path: `${repositoryRoot}e2e/out/panel-${name}-${colorScheme}.png` });
  }
  await panel.setViewportSize({ width: 360, height: 640 });
}

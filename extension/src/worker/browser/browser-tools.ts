import type { BrowserTool } from './browser-tool.ts';
import { makeNavigationTools } from './navigation.ts';
import { makeTabListTools, type TabListBrowser } from './tab-list.ts';

/** makeBrowserTools returns all browser tools by name. */
export function makeBrowserTools(browser: TabListBrowser): ReadonlyMap<string, BrowserTool> {
  return new Map([...makeTabListTools(browser), ...makeNavigationTools(browser)]);
}

import type * as chromeBase from '../../chrome.ts';
import type * as chromePages from '../../chrome-pages.ts';
import { makeActingTools } from './acting.ts';
import { type ActBrowser, PageActions } from './acts.ts';
import type { BrowserTool } from './browser-tool.ts';
import type { Debuggers } from './debugger/debuggers.ts';
import { TrustedInput } from './debugger/trusted-input.ts';
import { FrameNumbers } from './frame-numbers.ts';
import { makeNavigationTools } from './navigation.ts';
import { PageScripts } from './page-scripts.ts';
import { drawPicture, makePictureTools, type PicturesBrowser } from './pictures.ts';
import { makeReadingTools } from './reading.ts';
import { Snapshots } from './snapshots.ts';
import { TabFrames } from './tab-frames.ts';
import { makeTabListTools, type TabListBrowser } from './tab-list.ts';
import { makeWaitingTools } from './waiting.ts';

/** ToolsBrowser is the part of Chrome that browser tools need. */
export type ToolsBrowser = TabListBrowser &
  ActBrowser &
  Omit<PicturesBrowser, 'drawPicture' | 'debuggers'> &
  Pick<typeof chromePages, 'injectPageScript' | 'connectPageScript' | 'listTabFrames'> &
  Pick<typeof chromeBase, 'readSessionValue' | 'writeSessionValue'>;

/** makeBrowserTools returns all browser tools by name. */
export function makeBrowserTools(browser: ToolsBrowser, debuggers: Debuggers): ReadonlyMap<string, BrowserTool> {
  const scripts = new PageScripts({
    numbers: new FrameNumbers(browser),
    inject: browser.injectPageScript,
    connect: browser.connectPageScript,
    readTabState: browser.readTabState,
    hasDocument: async ({ tabId, documentId }) =>
      (await browser.listTabFrames(tabId)).some((frame) => frame.documentId === documentId),
  });
  const frames = new TabFrames({
    scripts,
    listTabFrames: browser.listTabFrames,
    isInFront: async (tabId) => (await browser.readTab(tabId))?.active === true,
  });
  const snapshots = new Snapshots(frames);
  const acts = new PageActions(browser, frames, snapshots);
  return new Map([
    ...makeTabListTools(browser),
    ...makeNavigationTools(browser, snapshots),
    ...makeReadingTools(frames, snapshots),
    ...makeWaitingTools(browser, frames),
    ...makePictureTools({ ...browser, debuggers, drawPicture }, frames),
    ...makeActingTools(frames, acts, new TrustedInput(debuggers, frames)),
  ]);
}

import type { AnyTab, SecretFields, TabInspection } from '../../../../wire/wire.gen.ts';
import type * as chromeBase from '../../chrome.ts';
import type * as chromePages from '../../chrome-pages.ts';
import type * as chromePermissions from '../../chrome-permissions.ts';
import { makeActionTools } from './acting.ts';
import { type ActionBrowser, PageActions } from './acts.ts';
import type { BrowserTool } from './browser-tool.ts';
import type { Debuggers } from './debugger/debuggers.ts';
import { failOnDialog, makeHandleDialog, suspendOnDialog } from './debugger/dialog-tools.ts';
import { type ActionStopper, TrustedInput } from './debugger/trusted-input.ts';
import { type DevtoolsBrowser, makeDevtoolsTools } from './devtools/devtools-tools.ts';
import { type DownloadsBrowser, makeDownloadTools } from './downloads.ts';
import { makeEmulationTools } from './emulate.ts';
import { FrameNumbers } from './frame-numbers.ts';
import { makeNavigationTools } from './navigation.ts';
import { makeNetworkTools } from './network/network-tools.ts';
import { type PageDocument, PageScripts } from './page-scripts.ts';
import { makePdfTools } from './pdf.ts';
import { requirePermissions } from './permissions.ts';
import { drawPicture, makePictureTools, type PicturesBrowser } from './pictures.ts';
import { makeReadingTools } from './reading.ts';
import { findSecretFields } from './secret-fields.ts';
import { Sessions } from './sessions.ts';
import { Snapshots } from './snapshots.ts';
import { makeStorageTools, type StorageBrowser } from './storage.ts';
import { TabFrames } from './tab-frames.ts';
import { TabGroups, type TabGroupsBrowser } from './tab-groups.ts';
import { makeTabListTools, type TabListBrowser } from './tab-list.ts';
import { makeUserDataTools, type UserDataBrowser } from './user-data.ts';
import { makeVisionTools } from './vision.ts';
import { makeWaitingTools } from './waiting.ts';
import { makeWindowTools, type WindowsBrowser } from './windows.ts';

export type ToolsBrowser = TabListBrowser &
  ActionBrowser &
  Omit<PicturesBrowser, 'drawPicture' | 'debuggers'> &
  StorageBrowser &
  WindowsBrowser &
  UserDataBrowser &
  DownloadsBrowser &
  TabGroupsBrowser &
  typeof chromePermissions &
  DevtoolsBrowser &
  Pick<typeof chromePages, 'injectPageScript' | 'connectPageScript' | 'listTabFrames' | 'readResources'> &
  Pick<typeof chromeBase, 'readSessionValue' | 'writeSessionValue'>;

/**
 * BrowserTools contains all browser tools, and the function with which the server inspects a tab before a tool runs.
 */
export interface BrowserTools {
  readonly toolsByName: ReadonlyMap<string, BrowserTool>;
  readonly sessions: Sessions;
  /**
   * The method `inspect` returns the secret fields of the page in a tab, such as password fields, or undefined if the
   * page does not answer.
   */
  inspect(tab: AnyTab, inspection: TabInspection): Promise<SecretFields | undefined>;
}

export function makeBrowserTools(browser: ToolsBrowser, debuggers: Debuggers, userInput: ActionStopper): BrowserTools {
  const findFrame = async ({ tabId, documentId }: PageDocument) =>
    (await browser.listTabFrames(tabId)).find((frame) => frame.documentId === documentId);
  const scripts = new PageScripts({
    numbers: new FrameNumbers(browser),
    inject: browser.injectPageScript,
    connect: browser.connectPageScript,
    readTabState: browser.readTabState,
    isBlocked: (tabId) => debuggers.dialogs.find(tabId) !== undefined,
    hasDocument: async (document) => (await findFrame(document)) !== undefined,
    findAccessProblem: async (document) => browser.findAccessProblem((await findFrame(document))?.url ?? ''),
  });
  const frames = new TabFrames({
    scripts,
    listTabFrames: browser.listTabFrames,
    isInFront: async (tabId) => (await browser.readDisplayedTab(tabId))?.active === true,
  });
  const snapshots = new Snapshots(frames);
  type NamedTool = [name: string, tool: BrowserTool];
  const wrapSuspendOnDialog =
    (isNavigation: boolean) =>
    ([name, tool]: NamedTool): NamedTool => [name, suspendOnDialog(tool, debuggers, browser, isNavigation)];
  const wrapFailOnDialog = ([name, tool]: NamedTool): NamedTool => [
    name,
    failOnDialog(tool, debuggers, name !== 'browser_evaluate'),
  ];
  const tabGroups = new TabGroups(browser);
  const pageActions = new PageActions(browser, frames, snapshots, tabGroups, debuggers.downloads);
  const devtoolsTools = makeDevtoolsTools(browser, frames, debuggers);
  const networkTools = makeNetworkTools({ ...browser, debuggers });
  const emulation = makeEmulationTools(debuggers);
  const sessions = new Sessions({
    parts: [
      debuggers.dialogs,
      ...[devtoolsTools, networkTools, emulation].flatMap(({ parts: toolParts }) => toolParts),
    ],
    detachUnusedTab: (tabId) => debuggers.detachIfUnused(tabId),
  });
  const tools: [string, BrowserTool][] = [
    ...makeTabListTools(browser, tabGroups),
    ...makeNavigationTools(browser, snapshots).map(wrapSuspendOnDialog(true)),
    ...makeActionTools(frames, pageActions, new TrustedInput(debuggers, frames, userInput)).map(
      wrapSuspendOnDialog(false),
    ),
    ...makeVisionTools(frames, pageActions, debuggers, userInput).map(wrapSuspendOnDialog(false)),
    ['browser_handle_dialog', makeHandleDialog(debuggers)],
    ...[
      ...makeReadingTools(frames, snapshots),
      ...makeWaitingTools(browser, frames),
      ...makePictureTools({ ...browser, debuggers, drawPicture }, frames),
      ...makeStorageTools(browser, frames),
      ...devtoolsTools.tools,
      ...networkTools.tools,
    ].map(wrapFailOnDialog),
    ...emulation.tools,
    ...makePdfTools(frames, debuggers),
    ...makeWindowTools(browser),
    ...makeUserDataTools(browser),
    ...makeDownloadTools(browser),
  ];
  return {
    toolsByName: new Map(
      tools.map(([name, runTool]) => [
        name,
        sessions.trackTabUse(requirePermissions(name, runTool, browser.hasPermission)),
      ]),
    ),
    sessions,
    inspect: (tab, inspection) => findSecretFields(frames, tab, inspection).catch(() => undefined),
  };
}

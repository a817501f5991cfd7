import type * as chromePages from '../../../chrome-pages.ts';
import type * as chromeTabs from '../../../chrome-tabs.ts';
import type { BrowserCall } from '../browser-tool.ts';
import { DebuggerCaptures } from '../debugger/captures.ts';
import type { Debuggers } from '../debugger/debuggers.ts';
import { makeDocumentGoneFailure } from '../tool-failure.ts';
import { NetworkConditions } from './conditions.ts';
import { readOrigin } from './events.ts';
import { NetworkRecorder } from './recorder.ts';
import { Routes } from './routes.ts';

export type NetworkBrowser = Pick<typeof chromePages, 'watchTabs' | 'readResources'> &
  Pick<typeof chromeTabs, 'describeTab'> & { readonly debuggers: Pick<Debuggers, 'hold'> };

export const captureEndText =
  'until your session ends, the tab closes, the debugger leaves the tab, or no network tool was used for 10 min';

interface NetworkRecording {
  readonly recorder: NetworkRecorder;
  stopWatching(): void;
}

/** NetworkCaptures contains the network recordings, request rules and network conditions of all tabs. */
export class NetworkCaptures {
  readonly routes: DebuggerCaptures<Routes>;
  readonly conditions: DebuggerCaptures<NetworkConditions>;
  readonly #recordings: DebuggerCaptures<NetworkRecording>;
  readonly #browser: NetworkBrowser;

  constructor(browser: NetworkBrowser) {
    const { debuggers } = browser;
    this.#browser = browser;
    this.#recordings = new DebuggerCaptures({
      debuggers,
      features: ['children', 'network'],
      start: async (session, tabId) => {
        const tab = await browser.describeTab(tabId);
        const recorder = new NetworkRecorder(session, tab?.url ?? '');
        const stopWatching = browser.watchTabs((id, event) => {
          if (id === tabId && event.kind === 'committed') recorder.setPage(event.url);
        });
        try {
          await recorder.start();
        } catch (error) {
          stopWatching();
          recorder.stop();
          throw error;
        }
        return { recorder, stopWatching };
      },
      stop: async ({ recorder, stopWatching }) => {
        stopWatching();
        recorder.stop();
      },
    });
    this.routes = new DebuggerCaptures({
      debuggers,
      features: ['interception'],
      start: async (session) => new Routes(session),
      endSession: (routes, session) => routes.removeSessionRules(session),
      stop: async (routes) => routes.stop(),
    });
    this.conditions = new DebuggerCaptures({
      debuggers,
      features: ['children', 'network', 'conditions'],
      start: async (session) => new NetworkConditions(session),
      isExclusive: true,
      stop: (conditions) => conditions.stop(),
    });
  }

  async restartIdleTimers(tabId: number): Promise<void> {
    await Promise.all([this.#recordings.find(tabId), this.routes.find(tabId), this.conditions.find(tabId)]);
  }

  /** endSession ends the network captures that only the given MCP session uses. */
  async endSession(session: string): Promise<void> {
    for (const captures of [this.#recordings, this.routes, this.conditions]) await captures.endSession(session);
  }

  /** If the tab has no recorder, `record` starts a recording and returns isNew as true. */
  async record({
    tabId,
    session,
  }: BrowserCall): Promise<{ readonly recorder: NetworkRecorder; readonly isNew: boolean }> {
    const { capture, isNew } = await this.#recordings.use(tabId, session);
    await capture.recorder.waitForPendingBodies();
    return { recorder: capture.recorder, isNew };
  }

  /** readCallOrigin returns the origin of the document for which the server allowed the call. */
  async readCallOrigin({ tabId, documentId }: BrowserCall): Promise<string> {
    const tab = await this.#browser.describeTab(tabId);
    if (!tab || tab.documentId !== documentId) throw makeDocumentGoneFailure('open', false);
    return readOrigin(tab.url);
  }
}

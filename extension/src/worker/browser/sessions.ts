import type { BrowserTool } from './browser-tool.ts';
import { DetachDelayMs } from './debugger/debuggers.ts';

/** SessionStore stores data for MCP sessions, such as which console messages a session has cleared. */
export interface SessionStore {
  endSession(session: string): Promise<void>;
}

export interface ToolGroup {
  readonly tools: readonly [name: string, tool: BrowserTool][];
  readonly parts: readonly SessionStore[];
}

export interface SessionsOptions {
  readonly parts: readonly SessionStore[];
  /** detachUnusedTab detaches the debugger from a tab that no tool uses. */
  detachUnusedTab(tabId: number): Promise<void>;
}

/** UsedSession is an MCP session whose calls this service worker has run. */
interface UsedSession {
  /** usedTabs contains when the session last called a tool in a tab, in milliseconds since 1970, by tab ID. */
  readonly usedTabs: Map<number, number>;
  runningCalls: number;
  hasEnded: boolean;
}

/**
 * Sessions deletes the data that browser tools have stored for an MCP session, when the server reports that the session
 * has ended.
 */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #sessions = new Map<string, UsedSession>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  get sessionIds(): string[] {
    return [...this.#sessions.keys()];
  }

  /** The method `trackTabUse` wraps a tool so that Sessions records which session calls the tool. */
  trackTabUse(tool: BrowserTool): BrowserTool {
    return async (call) => {
      if (call.session === '') return await tool(call);
      const usedSession = this.#sessions.get(call.session) ?? { usedTabs: new Map(), runningCalls: 0, hasEnded: false };
      this.#sessions.set(call.session, usedSession);
      usedSession.runningCalls++;
      try {
        return await tool(call);
      } finally {
        if (call.tabId > 0) usedSession.usedTabs.set(call.tabId, Date.now());
        usedSession.runningCalls--;
        // A cancelled call may have stored data for its MCP session even after the session ended.
        if (usedSession.hasEnded && usedSession.runningCalls === 0) void this.#end(call.session, usedSession);
      }
    };
  }

  async end(sessions: readonly string[]): Promise<void> {
    await Promise.all(
      sessions.map(async (session) => {
        const usedSession = this.#sessions.get(session);
        if (!usedSession) return;
        usedSession.hasEnded = true;
        await this.#end(session, usedSession);
      }),
    );
  }

  async #end(session: string, usedSession: UsedSession): Promise<void> {
    if (usedSession.runningCalls === 0) this.#sessions.delete(session);
    // If one store cannot delete the data of the session, continue with the other stores.
    for (const component of this.#options.parts) await component.endSession(session).catch(() => undefined);
    const tabIds = [...usedSession.usedTabs.keys()].filter((tabId) => !this.#isUsedByOthers(tabId, usedSession));
    await Promise.all(tabIds.map((tabId) => this.#options.detachUnusedTab(tabId).catch(() => undefined)));
  }

  /** #isUsedByOthers reports whether another MCP session has recently used a tab and may still need the debugger. */
  #isUsedByOthers(tabId: number, endedSession: UsedSession): boolean {
    const sinceMs = Date.now() - DetachDelayMs;
    return [...this.#sessions.values()].some((usedSession) => {
      const lastUsedMs = usedSession === endedSession ? undefined : usedSession.usedTabs.get(tabId);
      return lastUsedMs !== undefined && lastUsedMs >= sinceMs;
    });
  }
}

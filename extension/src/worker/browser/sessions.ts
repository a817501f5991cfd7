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

/** SessionUsage is an MCP session whose calls this service worker has run. */
interface SessionUsage {
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
  readonly #sessions = new Map<string, SessionUsage>();

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
      const sessionUsage = this.#sessions.get(call.session) ?? {
        usedTabs: new Map(),
        runningCalls: 0,
        hasEnded: false,
      };
      this.#sessions.set(call.session, sessionUsage);
      sessionUsage.runningCalls++;
      try {
        return await tool(call);
      } finally {
        if (call.tabId > 0) sessionUsage.usedTabs.set(call.tabId, Date.now());
        sessionUsage.runningCalls--;
        // A cancelled call may have stored data for its MCP session even after the session ended.
        if (sessionUsage.hasEnded && sessionUsage.runningCalls === 0) void this.#end(call.session, sessionUsage);
      }
    };
  }

  async end(sessions: readonly string[]): Promise<void> {
    await Promise.all(
      sessions.map(async (session) => {
        const sessionUsage = this.#sessions.get(session);
        if (!sessionUsage) return;
        sessionUsage.hasEnded = true;
        await this.#end(session, sessionUsage);
      }),
    );
  }

  async #end(session: string, sessionUsage: SessionUsage): Promise<void> {
    if (sessionUsage.runningCalls === 0) this.#sessions.delete(session);
    // If one store cannot delete the data of the session, continue with the other stores.
    for (const component of this.#options.parts) await component.endSession(session).catch(() => undefined);
    const tabIds = [...sessionUsage.usedTabs.keys()].filter((tabId) => !this.#isUsedByOthers(tabId, sessionUsage));
    await Promise.all(tabIds.map((tabId) => this.#options.detachUnusedTab(tabId).catch(() => undefined)));
  }

  /** #isUsedByOthers reports whether another MCP session has recently used a tab and may still need the debugger. */
  #isUsedByOthers(tabId: number, endedSessionUsage: SessionUsage): boolean {
    const sinceMs = Date.now() - DetachDelayMs;
    return [...this.#sessions.values()].some((sessionUsage) => {
      const lastUsedMs = sessionUsage === endedSessionUsage ? undefined : sessionUsage.usedTabs.get(tabId);
      return lastUsedMs !== undefined && lastUsedMs >= sinceMs;
    });
  }
}

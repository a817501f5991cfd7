import type { BrowserTool } from './browser-tool.ts';
import { LingerMs } from './debugger/debuggers.ts';

/** SessionStore stores data for the sessions of clients. */
export interface SessionStore {
  /** endSession removes all data of a session. */
  endSession(session: string): Promise<void>;
}

/** ToolGroup is a group of tools, with the parts that store data for sessions. */
export interface ToolGroup {
  readonly tools: readonly [name: string, tool: BrowserTool][];
  readonly parts: readonly SessionStore[];
}

export interface SessionsOptions {
  /** parts receive the end of a session one after the other. */
  readonly parts: readonly SessionStore[];
  /** leaveTab detaches the debugger from a tab that no tool uses. */
  leaveTab(tabId: number): Promise<void>;
}

/** UsedSession is a session whose calls this service worker has run. */
interface UsedSession {
  /** usedTabs maps each tab to the time of the session's last call there, in milliseconds since 1970. */
  readonly usedTabs: Map<number, number>;
  runningCalls: number;
  hasEnded: boolean;
}

/** Sessions cleans up what browser tools store for a session when the server reports the end of the session. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #sessions = new Map<string, UsedSession>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** names are the IDs of the sessions for which browser tools may store data. */
  get names(): string[] {
    return [...this.#sessions.keys()];
  }

  /** track returns a tool that records the session of each call. */
  track(tool: BrowserTool): BrowserTool {
    return async (call) => {
      if (call.session === '') return await tool(call);
      const used = this.#sessions.get(call.session) ?? { usedTabs: new Map(), runningCalls: 0, hasEnded: false };
      this.#sessions.set(call.session, used);
      used.runningCalls++;
      try {
        return await tool(call);
      } finally {
        if (call.tabId > 0) used.usedTabs.set(call.tabId, Date.now());
        used.runningCalls--;
        // A cancelled call may have stored data after the end of its session.
        if (used.hasEnded && used.runningCalls === 0) void this.#end(call.session, used);
      }
    };
  }

  /** end removes the data of sessions that have ended. */
  async end(sessions: readonly string[]): Promise<void> {
    await Promise.all(
      sessions.map(async (session) => {
        const used = this.#sessions.get(session);
        if (!used) return;
        used.hasEnded = true;
        await this.#end(session, used);
      }),
    );
  }

  async #end(session: string, used: UsedSession): Promise<void> {
    if (used.runningCalls === 0) this.#sessions.delete(session);
    // If the cleanup of one part fails, the other parts are still cleaned up.
    for (const part of this.#options.parts) await part.endSession(session).catch(() => undefined);
    const tabIds = [...used.usedTabs.keys()].filter((tabId) => !this.#isUsedByOthers(tabId, used));
    await Promise.all(tabIds.map((tabId) => this.#options.leaveTab(tabId).catch(() => undefined)));
  }

  /** #isUsedByOthers reports whether another session may still need the debugger in a tab. */
  #isUsedByOthers(tabId: number, ended: UsedSession): boolean {
    const sinceMs = Date.now() - LingerMs;
    return [...this.#sessions.values()].some((used) => {
      const lastUsedMs = used === ended ? undefined : used.usedTabs.get(tabId);
      return lastUsedMs !== undefined && lastUsedMs >= sinceMs;
    });
  }
}

import type { BrowserTool } from './browser-tool.ts';
import { LingerMs } from './debugger/debuggers.ts';

/** SessionPart keeps something for the sessions of clients. */
export interface SessionPart {
  /** endSession ends what belongs to a session. */
  endSession(session: string): Promise<void>;
}

/** ToolGroup is a group of tools, with the parts that keep something for sessions. */
export interface ToolGroup {
  readonly tools: readonly [name: string, tool: BrowserTool][];
  readonly parts: readonly SessionPart[];
}

export interface SessionsOptions {
  /** parts end one after the other. */
  readonly parts: readonly SessionPart[];
  /** leaveTab detaches the debugger from a tab that no tool uses. */
  leaveTab(tabId: number): Promise<void>;
}

/** UsedSession is a session whose calls this worker has run. */
interface UsedSession {
  /** usedTabs maps each tab to the time of its last call, in milliseconds. */
  readonly usedTabs: Map<number, number>;
  runningCalls: number;
  hasEnded: boolean;
}

/** Sessions ends what browser tools keep for a session when the server reports the end of the session. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #sessions = new Map<string, UsedSession>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** names are the sessions for which something may be kept. */
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
        // A call that was cancelled may have added something after the end of its session.
        if (used.hasEnded && used.runningCalls === 0) void this.#end(call.session, used);
      }
    };
  }

  /** end ends what belongs to sessions that have ended. */
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
    // One part that fails must not keep the others.
    for (const part of this.#options.parts) await part.endSession(session).catch(() => undefined);
    const tabIds = [...used.usedTabs.keys()].filter((tabId) => !this.#isUsedByOthers(tabId, used));
    await Promise.all(tabIds.map((tabId) => this.#options.leaveTab(tabId).catch(() => undefined)));
  }

  /** #isUsedByOthers reports whether the debugger may still be in a tab for another session. */
  #isUsedByOthers(tabId: number, ended: UsedSession): boolean {
    const sinceMs = Date.now() - LingerMs;
    return [...this.#sessions.values()].some((used) => {
      const lastUsedMs = used === ended ? undefined : used.usedTabs.get(tabId);
      return lastUsedMs !== undefined && lastUsedMs >= sinceMs;
    });
  }
}

import type { Fields } from '../../../record.ts';
import { toolFailure } from '../tool-failure.ts';
import type { DebuggerHold, Debuggers } from './debuggers.ts';
import { type DebuggerCommand, endEmulationCommands } from './features.ts';

/** EmulationIdleMs is how long an emulation stays on after the last change of its settings, in milliseconds. */
export const EmulationIdleMs = 30 * 60_000;

/** EmulationOverride is one emulated property of a tab, such as the time zone. */
export interface EmulationOverride {
  readonly command: DebuggerCommand;
  readonly text: string;
}

interface OwnedOverride extends EmulationOverride {
  readonly session: string;
}

interface TabEmulation {
  readonly hold: DebuggerHold;
  readonly overrides: Map<string, OwnedOverride>;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/**
 * An emulation ends on clear, when the tab closes, when the debugger is detached, or EmulationIdleMs after the last
 * change. When an MCP session ends, Emulations removes the overrides that the session has set.
 */
export class Emulations {
  readonly #debuggers: Pick<Debuggers, 'hold'>;
  readonly #tabs = new Map<number, TabEmulation>();

  constructor(debuggers: Pick<Debuggers, 'hold'>) {
    this.#debuggers = debuggers;
  }

  describe(tabId: number): readonly string[] {
    return [...(this.#tabs.get(tabId)?.overrides.values() ?? [])].map(({ text: overrideText }) => overrideText);
  }

  async applyOverrides(
    tabId: number,
    session: string,
    emulationOverrides: readonly EmulationOverride[],
  ): Promise<void> {
    const tab = this.#tabs.get(tabId) ?? (await this.#start(tabId));
    try {
      for (const emulationOverride of emulationOverrides) {
        const [method, params] = emulationOverride.command;
        // Remove the previous override before setting a new one, because Chrome otherwise rejects a new locale or time
        // zone.
        if (tab.overrides.has(method)) await removeOverride(tab, method);
        tab.overrides.delete(method);
        await sendCommand(tab.hold, method, params);
        tab.overrides.set(method, { ...emulationOverride, session });
      }
    } finally {
      clearTimeout(tab.timer);
      if (tab.overrides.size === 0) await this.clear(tabId);
      else tab.timer = setTimeout(() => void this.clear(tabId), EmulationIdleMs);
    }
  }

  async endSession(session: string): Promise<void> {
    for (const [tabId, tab] of [...this.#tabs]) {
      const methods = [...tab.overrides].flatMap(([method, emulationOverride]) =>
        emulationOverride.session === session ? [method] : [],
      );
      if (methods.length === tab.overrides.size) {
        if (methods.length > 0) await this.clear(tabId);
        continue;
      }
      for (const method of methods) {
        tab.overrides.delete(method);
        await removeOverride(tab, method).catch(() => undefined);
      }
    }
  }

  async clear(tabId: number): Promise<void> {
    const tab = this.#tabs.get(tabId);
    if (!tab) return;
    this.#removeTab(tabId, tab);
    // Remove each override with a command, because another tool may keep the debugger attached to the tab.
    for (const command of endEmulationCommands) await tab.hold.session.send(...command).catch(() => undefined);
    await tab.hold.release();
  }

  async #start(tabId: number): Promise<TabEmulation> {
    const debuggerHold = await this.#debuggers.hold(tabId, []);
    const tab: TabEmulation = { hold: debuggerHold, overrides: new Map(), timer: undefined };
    this.#tabs.set(tabId, tab);
    debuggerHold.detachedPromise.catch(() => {
      this.#removeTab(tabId, tab);
      void debuggerHold.release();
    });
    return tab;
  }

  #removeTab(tabId: number, tab: TabEmulation): void {
    clearTimeout(tab.timer);
    if (this.#tabs.get(tabId) === tab) this.#tabs.delete(tabId);
  }
}

async function removeOverride(tab: TabEmulation, method: string): Promise<void> {
  const offCommand = endEmulationCommands.find(([name]) => name === method);
  if (offCommand) await tab.hold.session.send(...offCommand);
}

async function sendCommand(debuggerHold: DebuggerHold, method: string, params: Fields): Promise<void> {
  try {
    await debuggerHold.session.send(method, params);
  } catch (error) {
    const errorText = error instanceof Error ? error.message : String(error);
    throw toolFailure('rejected', `Chrome rejected ${method.replace('Emulation.', '')}: ${errorText}`);
  }
}

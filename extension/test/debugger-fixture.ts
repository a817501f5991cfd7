/** DebuggerFixture simulates a browser with one tab, whose ID is 7, for unit tests of tools that use the debugger. */
import type { DebuggerListener } from '../src/chrome-debugger.ts';
import type { Fields } from '../src/record.ts';
import { Debuggers } from '../src/worker/browser/debugger/debuggers.ts';

export class DebuggerFixture {
  readonly debuggers: Debuggers;
  readonly sentCommands: string[] = [];
  onCommand: (method: string) => unknown = () => undefined;
  #listener: DebuggerListener | undefined;

  constructor() {
    this.debuggers = new Debuggers({
      hasDebugger: () => true,
      attachDebugger: async () => undefined,
      detachDebugger: async () => undefined,
      sendToDebugger: async (_tabId, method, { enabled } = {}, childId = '') => {
        this.sentCommands.push(
          [method, enabled, childId]
            .filter((part) => part !== undefined)
            .join(' ')
            .trim(),
        );
        this.onCommand(method);
        return {};
      },
      listDebuggedTabs: async () => [],
      watchDebugger: (listener) => {
        this.#listener = listener;
      },
      watchTabs: () => () => undefined,
      describeTab: async () => ({ tabId: 7, url: 'https://shop.example/', title: '', active: false }),
      readSessionValue: async () => undefined,
      writeSessionValue: async () => undefined,
      readSetting: async () => undefined,
      writeSetting: async () => undefined,
    });
  }

  emitEvent(method: string, params: Fields): void {
    this.#listener?.onEvent(7, method, params, '');
  }
}

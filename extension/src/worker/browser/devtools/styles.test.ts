import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { Fields } from '../../../record.ts';
import type { DebuggerSession } from '../debugger/debuggers.ts';
import { StyleTools } from './styles.ts';

/** SimulatedTab executes the debugger commands of a tab, in which all elements share one forced state. */
class SimulatedTab {
  readonly groupByObjectId = new Map<string, string>();
  #forcedState = 'none';
  #isCssEnabled = false;
  #lentCount = 0;

  async execute(method: string, { expression, objectGroup, objectId, forcedPseudoClasses }: Fields): Promise<Fields> {
    for (let i = 0; i < 5; i++) await Promise.resolve();
    switch (method) {
      case 'Page.getFrameTree':
        return { frameTree: { frame: { id: 'top' } } };
      case 'Runtime.evaluate': {
        const sharedId = /opentabs-\d+/.exec(String(expression))?.[0] ?? '';
        this.groupByObjectId.set(sharedId, String(objectGroup));
        return { result: { objectId: sharedId } };
      }
      case 'Runtime.releaseObjectGroup':
        for (const [id, group] of this.groupByObjectId) if (group === objectGroup) this.groupByObjectId.delete(id);
        return {};
      case 'DOM.requestNode':
        if (!this.groupByObjectId.has(String(objectId))) throw new Error('Could not find object with given id');
        return { nodeId: 1 };
      case 'CSS.enable':
      case 'CSS.disable':
        this.#isCssEnabled = method === 'CSS.enable';
        if (!this.#isCssEnabled) this.#forcedState = 'none';
        return {};
      case 'CSS.forcePseudoState':
        this.#forcedState = String(forcedPseudoClasses) || 'none';
        return {};
      case 'CSS.getMatchedStylesForNode':
        if (!this.#isCssEnabled) throw new Error('CSS agent was not enabled');
        return {};
      default:
        return {};
    }
  }

  async runInPage(operation: string): Promise<object> {
    if (operation === 'lend') return { name: `opentabs-${++this.#lentCount}` };
    for (let i = 0; i < 5; i++) await Promise.resolve();
    return { line: 'button', values: [{ property: 'state', value: this.#forcedState }] };
  }
}

let tab: SimulatedTab;
let styleTools: StyleTools;
beforeEach(() => {
  tab = new SimulatedTab();
  const session: DebuggerSession = {
    send: (method, params = {}) => tab.execute(method, params),
    onEvent: () => () => undefined,
    onChildTarget: () => () => undefined,
    watchChildren: async () => () => undefined,
  };
  const frames = {
    findFrameByRef: async () => ({ tabId: 7, documentId: 'd', frameId: 0, prefix: '' }),
    run: (_call: unknown, _frame: unknown, operation: string) => tab.runInPage(operation),
  };
  const debuggers = {
    use: async (_tabId: number, _features: unknown, run: (session: DebuggerSession) => Promise<unknown>) =>
      await run(session),
  };
  styleTools = new StyleTools(Object(frames), Object(debuggers), async () => undefined);
});

async function readStyles(forceState: string, signal = new AbortController().signal): Promise<string | undefined> {
  const args = { target: 'e1', forceState: [forceState] };
  const { content } = await styleTools.read(Object({ args, tabId: 7, signal }));
  return content;
}

test('parallel reads of styles have separate forced states, and release their nodes', async () => {
  const contents = await Promise.all(['hover', 'focus', 'active'].map((state) => readStyles(state)));
  assert.deepEqual(
    contents.map((content) => /state: (\w+)/.exec(content ?? '')?.[1]),
    ['hover', 'focus', 'active'],
  );
  assert.equal(tab.groupByObjectId.size, 0);
});

test('a failed or cancelled read of styles does not block later reads', async () => {
  const controller = new AbortController();
  const [firstRead, cancelledRead, lastRead] = [
    readStyles('hover'),
    readStyles('focus', controller.signal),
    readStyles('active'),
  ];
  controller.abort(new Error('cancelled'));
  await assert.rejects(cancelledRead, /cancelled/);
  assert.match((await firstRead) ?? '', /state: hover/);
  assert.match((await lastRead) ?? '', /state: active/);
});

test('each node has its own object group, so other calls do not release the node', async () => {
  const readPromise = readStyles('hover');
  for (let i = 0; i < 1000 && tab.groupByObjectId.size === 0; i++) await Promise.resolve();
  assert.deepEqual([...tab.groupByObjectId], [['opentabs-1', 'opentabs-1']]);
  await readPromise;
});

import assert from 'node:assert/strict';
import test, { afterEach } from 'node:test';
import { z } from 'zod';
import { setLogTransport } from '../log.ts';
import { definePlugin, OpenTabsPlugin, type PluginDefinition } from '../plugin.ts';
import { definePrompt } from '../prompt.ts';
import { sleep } from '../timing.ts';
import { defineTool } from '../tool.ts';
import { getRegisteredAdapters } from './container.ts';
import { install, type PluginIdentity } from './install.ts';
import { hasProperties, isMethod, type Properties } from './value.ts';

const identity: PluginIdentity = {
  name: 'shop',
  displayName: 'Shop',
  description: 'A shop.',
  urlPatterns: ['*://shop.example/*'],
};

const greetTool = defineTool({
  name: 'greet',
  description: 'Greets.',
  input: z.object({}),
  output: z.string(),
  async handle(_params, context) {
    context?.reportPercent(10);
    return `hello ${this.name}`;
  },
});

function makePlugin(fields: Partial<PluginDefinition> = {}): OpenTabsPlugin {
  return definePlugin({ tools: [greetTool], isReady: () => true, ...fields });
}

afterEach(() => {
  globalThis.__openTabs = undefined;
});

function getAdapter(name = 'shop'): Properties {
  const adapter = getRegisteredAdapters()?.[name];
  assert.ok(hasProperties(adapter));
  return adapter;
}

function getTool(name: string): Properties {
  const { tools } = getAdapter();
  assert.ok(Array.isArray(tools));
  const tool: unknown = tools.find((tool: Properties) => tool.name === name);
  assert.ok(hasProperties(tool));
  return tool;
}

async function callTool(name: string, ...args: unknown[]): Promise<unknown> {
  const tool = getTool(name);
  assert.ok(isMethod(tool.handle));
  return await Reflect.apply(tool.handle, tool, args);
}

function lockAdapter(name = 'shop'): void {
  const container = globalThis.__openTabs;
  assert.ok(hasProperties(container));
  const adapter = getAdapter(name);
  Object.freeze(adapter.tools);
  Object.freeze(adapter);
  const readOnly = { writable: false, configurable: false };
  Object.defineProperty(container.adapters, name, { value: adapter, enumerable: true, ...readOnly });
  Object.defineProperty(container, 'adapters', { value: container.adapters, ...readOnly });
}

test('an adapter takes its name and its missing fields from package.json', () => {
  const plugin = makePlugin({ name: 'other', displayName: 'Own' });
  install(plugin, identity);
  assert.equal(getAdapter(), plugin);
  assert.deepEqual(
    ['name', 'displayName', 'description', 'urlPatterns'].map((key) => getAdapter()[key]),
    ['shop', 'Own', 'A shop.', ['*://shop.example/*']],
  );
});

test('an export that is not a plugin is rejected with the name of its plugin', () => {
  assert.throws(() => install(undefined, identity), /plugin shop: the default export is not a plugin/);
});

test('install keeps other adapters and values of the container, even read-only adapters', () => {
  install(makePlugin(), { ...identity, name: 'first' });
  const container = globalThis.__openTabs;
  assert.ok(hasProperties(container));
  container.tokenCache = { a: 1 };
  lockAdapter('first');
  const firstAdapter = getAdapter('first');
  install(makePlugin(), identity);
  assert.equal(getAdapter('first'), firstAdapter);
  const entry = Object.getOwnPropertyDescriptor(getRegisteredAdapters(), 'first');
  assert.deepEqual([entry?.writable, entry?.configurable], [false, false]);
  assert.notEqual(globalThis.__openTabs, container);
  assert.ok(hasProperties(globalThis.__openTabs));
  assert.deepEqual(globalThis.__openTabs.tokenCache, { a: 1 });
});

test('a later version of a plugin tears down and replaces the earlier version', () => {
  const hookCalls: string[] = [];
  install(
    makePlugin({ onDeactivate: () => hookCalls.push('onDeactivate'), teardown: () => hookCalls.push('teardown') }),
    identity,
  );
  lockAdapter();
  const laterPlugin = makePlugin({ onActivate: () => hookCalls.push('onActivate') });
  install(laterPlugin, identity);
  assert.deepEqual(hookCalls, ['onDeactivate', 'teardown', 'onActivate']);
  assert.equal(getAdapter(), laterPlugin);
});

test('a failed teardown of the earlier version does not prevent the later version', () => {
  const logLines: string[] = [];
  const restoreTransport = setLogTransport(({ level, message }) => logLines.push(`${level} ${message}`));
  const failingHook = () => {
    throw new Error('stuck');
  };
  globalThis.__openTabs = {};
  install(makePlugin({ teardown: failingHook, onActivate: failingHook }), identity);
  install(makePlugin(), identity);
  restoreTransport();
  assert.deepEqual(logLines, ['warning onActivate failed: stuck', 'warning teardown failed: stuck']);
});

test('onDeactivate runs once, before teardown, with the plugin as `this`', () => {
  const hookCalls: unknown[] = [];
  class Shop extends OpenTabsPlugin {
    readonly name = 'shop';
    readonly displayName = 'Shop';
    readonly description = 'A shop.';
    readonly urlPatterns = [];
    readonly tools = [greetTool];
    #open = true;
    async isReady() {
      return this.#open;
    }
    override onDeactivate() {
      hookCalls.push(['onDeactivate', this.#open]);
    }
    override teardown() {
      hookCalls.push(['teardown', this.#open]);
    }
  }
  install(new Shop(), identity);
  lockAdapter();
  const { teardown, onDeactivate } = getAdapter();
  assert.equal(onDeactivate, undefined);
  assert.ok(isMethod(teardown));
  Reflect.apply(teardown, getAdapter(), []);
  assert.deepEqual(hookCalls, [
    ['onDeactivate', true],
    ['teardown', true],
  ]);
});

test('a tool call runs the hooks, sets _pluginName and passes `this` and all arguments', async () => {
  const calls: unknown[] = [];
  const echoTool: typeof greetTool = {
    ...greetTool,
    name: 'echo',
    async handle(...args: unknown[]) {
      calls.push(this.name, args[0], args[2]);
      return 'done';
    },
  };
  install(
    makePlugin({
      tools: [echoTool],
      onToolInvocationStart: (name) => calls.push(['start', name]),
      onToolInvocationEnd: (name, success, ms) => calls.push(['end', name, success, ms >= 0]),
    }),
    identity,
  );
  assert.equal(await callTool('echo', { a: 1 }, undefined, 'more'), 'done');
  assert.deepEqual(calls, [['start', 'echo'], 'echo', { a: 1 }, 'more', ['end', 'echo', true, true]]);
  assert.ok(hasProperties(globalThis.__openTabs));
  assert.equal(globalThis.__openTabs._pluginName, 'shop');
});

test('an error of a handler stays unchanged, and the end hook receives the failure', async () => {
  const thrownValue = { code: 'ODD' };
  const successFlags: unknown[] = [];
  const failTool: typeof greetTool = {
    ...greetTool,
    name: 'fail',
    async handle() {
      throw thrownValue;
    },
  };
  install(makePlugin({ tools: [failTool], onToolInvocationEnd: (_, success) => successFlags.push(success) }), identity);
  await assert.rejects(callTool('fail', {}), (error) => error === thrownValue);
  assert.deepEqual(successFlags, [false]);
});

test('hooks that throw do not change a call', async (t) => {
  t.mock.method(console, 'warn', () => undefined);
  const throwingHook = () => {
    throw new Error('hook');
  };
  install(makePlugin({ onToolInvocationStart: throwingHook, onToolInvocationEnd: throwingHook }), identity);
  assert.equal(await callTool('greet', {}), 'hello greet');
});

test("install does not change the author's tools", () => {
  const frozenTool = Object.freeze({ ...greetTool });
  const tools = Object.freeze([frozenTool]);
  install(makePlugin({ tools }), identity);
  assert.notEqual(getTool('greet'), frozenTool);
  assert.equal(getTool('greet').input, greetTool.input);
  assert.equal(frozenTool.handle, greetTool.handle);
});

test('install reads the property `tools` once, even if it is a getter', async () => {
  class Shop extends OpenTabsPlugin {
    readonly name = 'shop';
    readonly displayName = 'Shop';
    readonly description = 'A shop.';
    readonly urlPatterns = [];
    get tools() {
      return [{ ...greetTool }];
    }
    async isReady() {
      return true;
    }
  }
  install(new Shop(), identity);
  assert.equal(getTool('greet'), getTool('greet'));
  assert.equal(await callTool('greet', {}), 'hello greet');
});

test('a prompt is frozen, gets its arguments and a complete context, and runs no hooks', async () => {
  const calls: unknown[] = [];
  const prompt = definePrompt({
    name: 'hello',
    render(this: unknown, { who }, context) {
      calls.push(
        hasProperties(this) && this.name,
        context?.signal.aborted,
        hasProperties(globalThis.__openTabs) && globalThis.__openTabs._pluginName,
      );
      context?.reportCount(1, 2);
      return `Greet ${who}.`;
    },
  });
  const recordHook = () => calls.push('hook');
  install(
    makePlugin({ prompts: [prompt], onToolInvocationStart: recordHook, onToolInvocationEnd: recordHook }),
    identity,
  );
  lockAdapter();
  const { prompts } = getAdapter();
  assert.ok(Array.isArray(prompts) && Object.isFrozen(prompts) && Object.isFrozen(prompts[0]));
  const reports: unknown[] = [];
  const reportProgress = (report: unknown) => reports.push(report);
  assert.equal(await prompts[0].render({ who: 'ann' }, { reportProgress }), 'Greet ann.');
  assert.deepEqual(calls, ['hello', false, 'shop']);
  assert.deepEqual(reports, [{ __proto__: null, progress: 1, total: 2 }]);
  assert.ok(!Object.isFrozen(prompt));
});

test('a sleep in a prompt is aborted with the prompt', async () => {
  const controller = new AbortController();
  const prompt = definePrompt({
    name: 'slow',
    async render() {
      await sleep(3_600_000);
      return '';
    },
  });
  install(makePlugin({ prompts: [prompt] }), identity);
  const { prompts } = getAdapter();
  assert.ok(Array.isArray(prompts));
  const renderPromise = prompts[0].render({}, { signal: controller.signal });
  controller.abort(new DOMException('enough', 'AbortError'));
  await assert.rejects(renderPromise, { code: 'aborted', message: 'aborted: enough' });
});

test('a tool call succeeds even if the page has removed the container', async () => {
  install(makePlugin(), identity);
  const { handle } = getTool('greet');
  globalThis.__openTabs = undefined;
  assert.ok(isMethod(handle));
  assert.equal(await Reflect.apply(handle, { name: 'x' }, [{}]), 'hello x');
});

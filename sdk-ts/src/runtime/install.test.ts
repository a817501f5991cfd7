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

const greet = defineTool({
  name: 'greet',
  description: 'Greets.',
  input: z.object({}),
  output: z.string(),
  async handle(_params, context) {
    context?.reportPercent(10);
    return `hello ${this.name}`;
  },
});

function plugin(rest: Partial<PluginDefinition> = {}): OpenTabsPlugin {
  return definePlugin({ tools: [greet], isReady: () => true, ...rest });
}

afterEach(() => {
  globalThis.__openTabs = undefined;
});

function adapter(name = 'shop'): Properties {
  const found = getRegisteredAdapters()?.[name];
  assert.ok(hasProperties(found));
  return found;
}

function tool(name: string): Properties {
  const { tools } = adapter();
  assert.ok(Array.isArray(tools));
  const found: unknown = tools.find((tool: Properties) => tool.name === name);
  assert.ok(hasProperties(found));
  return found;
}

async function call(name: string, ...args: unknown[]): Promise<unknown> {
  const one = tool(name);
  assert.ok(isMethod(one.handle));
  return await Reflect.apply(one.handle, one, args);
}

/** Locks an adapter like the snippet at the end of a built adapter. */
function lock(name = 'shop'): void {
  const container = globalThis.__openTabs;
  assert.ok(hasProperties(container));
  const entry = adapter(name);
  Object.freeze(entry.tools);
  Object.freeze(entry);
  const locked = { writable: false, configurable: false };
  Object.defineProperty(container.adapters, name, { value: entry, enumerable: true, ...locked });
  Object.defineProperty(container, 'adapters', { value: container.adapters, ...locked });
}

test('an adapter is registered under its derived name and described by package.json', () => {
  const exported = plugin({ name: 'other', displayName: 'Own' });
  install(exported, identity);
  assert.equal(adapter(), exported);
  assert.deepEqual(
    ['name', 'displayName', 'description', 'urlPatterns'].map((key) => adapter()[key]),
    ['shop', 'Own', 'A shop.', ['*://shop.example/*']],
  );
});

test('an export that is not a plugin is rejected with the name', () => {
  assert.throws(() => install(undefined, identity), /plugin shop: the default export is not a plugin/);
});

test('other adapters and values of the container stay, even if locked', () => {
  install(plugin(), { ...identity, name: 'first' });
  const container = globalThis.__openTabs;
  assert.ok(hasProperties(container));
  container.tokenCache = { a: 1 };
  lock('first');
  const first = adapter('first');
  install(plugin(), identity);
  assert.equal(adapter('first'), first);
  const entry = Object.getOwnPropertyDescriptor(getRegisteredAdapters(), 'first');
  assert.deepEqual([entry?.writable, entry?.configurable], [false, false]);
  assert.notEqual(globalThis.__openTabs, container);
  assert.ok(hasProperties(globalThis.__openTabs));
  assert.deepEqual(globalThis.__openTabs.tokenCache, { a: 1 });
});

test('a later version tears down and replaces the earlier one', () => {
  const seen: string[] = [];
  install(plugin({ onDeactivate: () => seen.push('onDeactivate'), teardown: () => seen.push('teardown') }), identity);
  lock();
  const next = plugin({ onActivate: () => seen.push('onActivate') });
  install(next, identity);
  assert.deepEqual(seen, ['onDeactivate', 'teardown', 'onActivate']);
  assert.equal(adapter(), next);
});

test('a failed teardown of the earlier version does not stop the later one', () => {
  const logged: string[] = [];
  const restore = setLogTransport(({ level, message }) => logged.push(`${level} ${message}`));
  const failing = () => {
    throw new Error('stuck');
  };
  globalThis.__openTabs = {};
  install(plugin({ teardown: failing, onActivate: failing }), identity);
  install(plugin(), identity);
  restore();
  assert.deepEqual(logged, ['warning onActivate failed: stuck', 'warning teardown failed: stuck']);
});

test('onDeactivate runs once, before teardown, on the plugin', () => {
  const seen: unknown[] = [];
  class Shop extends OpenTabsPlugin {
    readonly name = 'shop';
    readonly displayName = 'Shop';
    readonly description = 'A shop.';
    readonly urlPatterns = [];
    readonly tools = [greet];
    #open = true;
    async isReady() {
      return this.#open;
    }
    override onDeactivate() {
      seen.push(['onDeactivate', this.#open]);
    }
    override teardown() {
      seen.push(['teardown', this.#open]);
    }
  }
  install(new Shop(), identity);
  lock();
  const { teardown, onDeactivate } = adapter();
  assert.equal(onDeactivate, undefined);
  assert.ok(isMethod(teardown));
  Reflect.apply(teardown, adapter(), []);
  assert.deepEqual(seen, [
    ['onDeactivate', true],
    ['teardown', true],
  ]);
});

test('a call runs the hooks, sets _pluginName and passes this and all arguments', async () => {
  const seen: unknown[] = [];
  const echo: typeof greet = {
    ...greet,
    name: 'echo',
    async handle(...args: unknown[]) {
      seen.push(this.name, args[0], args[2]);
      return 'done';
    },
  };
  install(
    plugin({
      tools: [echo],
      onToolInvocationStart: (name) => seen.push(['start', name]),
      onToolInvocationEnd: (name, success, ms) => seen.push(['end', name, success, ms >= 0]),
    }),
    identity,
  );
  assert.equal(await call('echo', { a: 1 }, undefined, 'more'), 'done');
  assert.deepEqual(seen, [['start', 'echo'], 'echo', { a: 1 }, 'more', ['end', 'echo', true, true]]);
  assert.ok(hasProperties(globalThis.__openTabs));
  assert.equal(globalThis.__openTabs._pluginName, 'shop');
});

test('an error of a handler stays unchanged, and the end hook receives the failure', async () => {
  const thrown = { code: 'ODD' };
  const ends: unknown[] = [];
  const fail: typeof greet = {
    ...greet,
    name: 'fail',
    async handle() {
      throw thrown;
    },
  };
  install(plugin({ tools: [fail], onToolInvocationEnd: (_, success) => ends.push(success) }), identity);
  await assert.rejects(call('fail', {}), (error) => error === thrown);
  assert.deepEqual(ends, [false]);
});

test('hooks that throw do not change a call', async (t) => {
  t.mock.method(console, 'warn', () => undefined);
  const throwing = () => {
    throw new Error('hook');
  };
  install(plugin({ onToolInvocationStart: throwing, onToolInvocationEnd: throwing }), identity);
  assert.equal(await call('greet', {}), 'hello greet');
});

test("the author's objects stay unchanged", () => {
  const frozen = Object.freeze({ ...greet });
  const tools = Object.freeze([frozen]);
  install(plugin({ tools }), identity);
  assert.notEqual(tool('greet'), frozen);
  assert.equal(tool('greet').input, greet.input);
  assert.equal(frozen.handle, greet.handle);
});

test('tools behind a getter are read once', async () => {
  class Shop extends OpenTabsPlugin {
    readonly name = 'shop';
    readonly displayName = 'Shop';
    readonly description = 'A shop.';
    readonly urlPatterns = [];
    get tools() {
      return [{ ...greet }];
    }
    async isReady() {
      return true;
    }
  }
  install(new Shop(), identity);
  assert.equal(tool('greet'), tool('greet'));
  assert.equal(await call('greet', {}), 'hello greet');
});

test('a prompt is frozen, gets its arguments and a complete context, and runs no hooks', async () => {
  const seen: unknown[] = [];
  const prompt = definePrompt({
    name: 'hello',
    render(this: unknown, { who }, context) {
      seen.push(
        hasProperties(this) && this.name,
        context?.signal.aborted,
        hasProperties(globalThis.__openTabs) && globalThis.__openTabs._pluginName,
      );
      context?.reportCount(1, 2);
      return `Greet ${who}.`;
    },
  });
  const hook = () => seen.push('hook');
  install(plugin({ prompts: [prompt], onToolInvocationStart: hook, onToolInvocationEnd: hook }), identity);
  lock();
  const { prompts } = adapter();
  assert.ok(Array.isArray(prompts) && Object.isFrozen(prompts) && Object.isFrozen(prompts[0]));
  const reports: unknown[] = [];
  const reportProgress = (report: unknown) => reports.push(report);
  assert.equal(await prompts[0].render({ who: 'ann' }, { reportProgress }), 'Greet ann.');
  assert.deepEqual(seen, ['hello', false, 'shop']);
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
  install(plugin({ prompts: [prompt] }), identity);
  const { prompts } = adapter();
  assert.ok(Array.isArray(prompts));
  const rendering = prompts[0].render({}, { signal: controller.signal });
  controller.abort(new DOMException('enough', 'AbortError'));
  await assert.rejects(rendering, { code: 'aborted', message: 'aborted: enough' });
});

test('a call works where the page has removed the container', async () => {
  install(plugin(), identity);
  const { handle } = tool('greet');
  globalThis.__openTabs = undefined;
  assert.ok(isMethod(handle));
  assert.equal(await Reflect.apply(handle, { name: 'x' }, [{}]), 'hello x');
});

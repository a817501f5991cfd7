/**
 * The plugin that tests add twice to one tab, under two names. Each copy of the plugin must not be able to read the
 * data of the other copy.
 */
import type { LegacyPlugin } from './legacy.ts';

/**
 * makeTwin returns the plugin under the given name. The twin plugin records its lifecycle events in attributes of the
 * document's root element.
 */
export function makeTwin(name: string): LegacyPlugin {
  return {
    name,
    urlPatterns: ['*://127.0.0.1/*'],
    configSchema: {
      key: { type: 'string', label: 'Key' },
      site: { type: 'url', label: 'Site' },
    },
    source: twinSource.replaceAll('NAME', JSON.stringify(name)),
    preScript: preScriptSource.replaceAll('NAME', JSON.stringify(name)),
  };
}

/** earlyPlugin is a plugin that tries to observe the page's first request without a pre-script. */
export const earlyPlugin: LegacyPlugin = {
  name: 'early',
  urlPatterns: ['*://127.0.0.1/*'],
  start: 'document_start',
  source: `
import { z } from 'zod';
import { defineTool, OpenTabsPlugin } from '@opentabs-dev/plugin-sdk';
const heard = [];
if (globalThis.document) {
  const { fetch } = window;
  window.fetch = (url, init) => {
    heard.push(init?.headers?.authorization ?? '');
    return fetch(url, init);
  };
}
class Early extends OpenTabsPlugin {
  tools = [
    defineTool({ name: 'heard', description: 'x', input: z.object({}), output: z.looseObject({}), handle: async () => ({ heard }) }),
  ];
  isReady() {
    return Promise.resolve(true);
  }
}
export default new Early();`,
};

const preScriptSource = `
import { definePreScript } from '@opentabs-dev/plugin-sdk/pre-script';
definePreScript((ctx) => {
  ctx.set('frame', window === top ? 'top' : 'inner');
  const { fetch } = window;
  window.fetch = (url, init) => {
    const token = init?.headers?.authorization;
    if (token) ctx.set('token', NAME + ' saw ' + token);
    return fetch(url, init);
  };
  document.documentElement.dataset.pre = (document.documentElement.dataset.pre ?? '') + NAME + ' ';
});`;

const twinSource = `
import { z } from 'zod';
import {
  defineTool, getAuthCache, getConfig, getPreScriptValue, log, notifyReadinessChanged, OpenTabsPlugin, setAuthCache, ToolError,
} from '@opentabs-dev/plugin-sdk';

const mark = (word) => {
  if (!globalThis.document) return; // the original SDK imports the module without a page
  const { dataset } = document.documentElement;
  dataset[NAME] = (dataset[NAME] ?? '') + word + ' ';
};
mark('evaluated');
const mine = () => [getConfig('key'), getConfig('site'), getPreScriptValue('token'), globalThis.__openTabs._pluginName];
const tool = (name, input, handle) =>
  defineTool({ name, description: 'Does ' + name + '.', input: z.object(input), output: z.looseObject({}), handle });
let ready = true;

class Twin extends OpenTabsPlugin {
  name = NAME;
  tools = [
    tool('mine', {}, async () => {
      const before = mine();
      await new Promise((go) => setTimeout(go, 50));
      return { before, after: mine() };
    }),
    tool('cache', { set: z.string().optional() }, async ({ set }) => {
      if (set) setAuthCache('shared', set);
      return { value: getAuthCache('shared') ?? null };
    }),
    tool('write_log', { text: z.string() }, async ({ text }) => {
      log.info(NAME + ' logs ' + text, { secretless: true }, 7);
      await null;
      log.warn(NAME + ' warns');
      return {};
    }),
    tool('count', { to: z.number() }, async ({ to }, context) => {
      for (let i = 1; i <= to; i++) {
        context.reportProgress({ progress: i, total: to, message: NAME + ' ' + i });
        await new Promise((go) => setTimeout(go, 5));
      }
      return { counted: to, secret: 'S3CRET-' + NAME };
    }),
    tool('defaults', { limit: z.number().default(7), deep: z.object({ on: z.boolean().default(true) }).default({ on: false }) },
      async (given) => given),
    tool('fail', {}, async () => {
      throw new ToolError('slow down', 'RATE_LIMITED', { category: 'rate_limit', retryable: true, retryAfterMs: 1500 });
    }),
    tool('go', { to: z.string() }, async ({ to }) => {
      location.href = to;
      return { went: to };
    }),
    tool('ready', { on: z.boolean() }, async ({ on }) => {
      ready = on;
      notifyReadinessChanged();
      return {};
    }),
    tool('locked', {}, async () => {
      const { adapters } = globalThis.__openTabs;
      const own = Object.getOwnPropertyDescriptor(adapters, NAME);
      const all = Object.getOwnPropertyDescriptor(globalThis.__openTabs, 'adapters');
      return { names: Object.keys(adapters), locked: !own.writable && !own.configurable && !all.writable && Object.isFrozen(adapters[NAME]) };
    }),
  ];
  isReady() {
    return Promise.resolve(ready);
  }
  onActivate() {
    mark('activated');
    document.body.dataset.activated = NAME;
  }
  onNavigate(url) {
    mark('navigated:' + new URL(url).pathname);
  }
  onToolInvocationStart(name) {
    if (name === 'fail') mark('start:fail');
  }
  onToolInvocationEnd(name, success) {
    if (name === 'fail') mark('end:fail:' + success);
  }
  onDeactivate() {
    mark('deactivated');
  }
  teardown() {
    mark('torn');
  }
}
export default new Twin();`;

import {
  definePlugin,
  definePrompt,
  defineTool,
  fetchJSON,
  getConfig,
  getCookie,
  getLocalStorage,
  getPageTitle,
  getPreScriptValue,
  log,
  sleep,
  ToolError,
  waitForSelector,
} from '@opentabs/sdk';
import { z } from 'zod';

const anything = z.record(z.string(), z.unknown());
const tool = (name: string, input: z.ZodObject, handle: Parameters<typeof defineTool>[0]['handle'], output: z.ZodType = anything) =>
  defineTool({ name, description: 'For tests.', input, output, handle });

export default definePlugin({
  name: 'simulated',
  tools: [
    tool('read_page', z.object({}), () => ({
      title: getPageTitle(),
      heading: document.querySelector('h1.big[data-x="1"]')?.textContent,
      url: location.href,
      host: new URL('/a?b=1', location.href).host,
      cookie: getCookie('session'),
      stored: getLocalStorage('key'),
      setting: getConfig('apiKey'),
      early: getPreScriptValue('token'),
      global: Reflect.get(globalThis, 'pageGlobal'),
    })),
    tool('count', z.object({ to: z.number().default(3), everyMs: z.number().default(1000) }), async (params, context) => {
      const { to, everyMs } = params;
      for (let n = 1; n <= Number(to); n++) {
        await sleep(Number(everyMs));
        context?.reportCount(n, Number(to), `${n} done`);
      }
      return { counted: to };
    }),
    tool('silent', z.object({ ms: z.number() }), async ({ ms }) => {
      await sleep(Number(ms));
      return {};
    }),
    tool('deaf', z.object({}), async () => {
      await new Promise((resolve) => setTimeout(resolve, 60_000));
      return {};
    }),
    tool('buy', z.object({ id: z.string() }), async ({ id }, context) => {
      log.info('buying', { id });
      return { answer: await fetchJSON(`/api/items/${id}?full=1`, { method: 'GET', signal: context?.signal }) };
    }),
    tool('fail', z.object({}), () => {
      throw ToolError.rateLimited('slow down', 5000);
    }),
    tool('wrong', z.object({}), () => ({ n: 'text' }), z.object({ n: z.number() })),
    tool('go', z.object({ stay: z.boolean().default(false) }), async ({ stay }) => {
      location.href = '/elsewhere';
      if (stay) await sleep(10_000);
      return { going: true };
    }),
    tool('appear', z.object({}), async () => {
      setTimeout(() => document.body.append(Object.assign(document.createElement('p'), { id: 'late', textContent: 'here' })), 500);
      return { text: (await waitForSelector('#late', { timeout: 5000 })).textContent };
    }),
    tool('ask', z.object({}), async (_params, context) => {
      await context?.waitForUser({ reason: 'Log in.' });
      return { nested: await context?.call('other__tool', { a: 1 }) };
    }),
  ],
  prompts: [definePrompt({ name: 'hello', description: 'Returns a greeting.', args: z.object({ who: z.string() }), render: ({ who }) => `Hello ${who}` })],
  isReady: () => !document.documentElement.hasAttribute('data-logged-out'),
});

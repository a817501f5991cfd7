import {
  buildQueryString,
  definePlugin,
  defineTool,
  getAuthCache,
  getConfig,
  image,
  log,
  setAuthCache,
  sleep,
  ToolError,
} from '@opentabs/sdk';
import { z } from 'zod';

// The handlers call no methods of built-ins, so everything that a page can observe of a call is from the SDK, the host or zod.

const input = z.object({
  value: z.string().trim().min(1),
  limit: z.number().int().positive().optional(),
  to: z.array(z.object({ name: z.string(), mail: z.email().optional() })).default([]),
  kind: z.enum(['a', 'b']).default('a'),
});
const output = z.unknown();

type Input = z.infer<typeof input>;

/** seen lists the arguments that a handler receives. */
const seen = (params: Input) => ({
  value: params.value,
  limit: params.limit ?? 'none',
  first: params.to[0] ?? 'nobody',
  mail: params.to[0]?.mail ?? 'none',
  kind: params.kind,
});

const tool = (name: string, handle: Parameters<typeof defineTool<typeof input, typeof output>>[0]['handle']) =>
  defineTool({ name, description: 'Passes a secret on.', input, output, handle });

const later = async (value: string) => ({ value, list: [{ value }] });

const refuse = async (value: string): Promise<never> => {
  throw new ToolError(value, 'INNER');
};

export default definePlugin({
  isReady: () => true,
  tools: [
    tool('echo', async (params, context) => {
      context?.reportProgress({ progress: 1, total: 2, message: params.value, audience: 'user' });
      context?.reportPercent(60, params.value, { audience: 'user' });
      context?.reportActivity('text', params.value);
      return seen(params);
    }),
    tool('awaits', async (params, context) => {
      const got = await later(params.value);
      await null;
      await sleep(5);
      context?.reportCount(1, 2, got.value);
      return { ...(await later(got.list[0]?.value ?? '')), more: [got, new Date(0), 1n] };
    }),
    tool('rejects', async (params) => {
      try {
        await refuse(params.value);
      } catch {
        throw ToolError.rateLimited(params.value, 5);
      }
      return null;
    }),
    tool('asks', async (params, context) => {
      const told = await context?.call('echo', { value: params.value, to: params.to });
      return { told };
    }),
    tool('keeps', async (params) => {
      setAuthCache('token', { token: params.value });
      const kept = getAuthCache<{ token: string }>('token');
      return { kept: kept?.token, key: getConfig('key') ?? 'none' };
    }),
    tool('logs', async (params) => {
      log.info(params.value, { value: params.value }, [params.value]);
      return { query: buildQueryString({ q: params.value }) };
    }),
    tool('draws', async (params) => image(btoa(params.value), 'image/png')),
  ],
});

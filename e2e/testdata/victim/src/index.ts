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

// The handlers call no methods of built-ins, so each leak to a page comes from the SDK, the host or zod.

const inputSchema = z.object({
  value: z.string().trim().min(1),
  limit: z.number().int().positive().optional(),
  to: z.array(z.object({ name: z.string(), mail: z.email().optional() })).default([]),
  kind: z.enum(['a', 'b']).default('a'),
});
const outputSchema = z.unknown();

type ToolArguments = z.infer<typeof inputSchema>;

/** The function `summarize` returns the arguments that a handler received. */
const summarize = (params: ToolArguments) => ({
  value: params.value,
  limit: params.limit ?? 'none',
  first: params.to[0] ?? 'no recipient',
  mail: params.to[0]?.mail ?? 'none',
  kind: params.kind,
});

const makeTool = (name: string, handle: Parameters<typeof defineTool<typeof inputSchema, typeof outputSchema>>[0]['handle']) =>
  defineTool({ name, description: 'Passes the argument value through functions of the SDK and returns it.', input: inputSchema, output: outputSchema, handle });

const resolveLater = async (value: string) => ({ value, list: [{ value }] });

const throwLater = async (value: string): Promise<never> => {
  throw new ToolError(value, 'INNER');
};

export default definePlugin({
  isReady: () => true,
  tools: [
    makeTool('echo', async (params, context) => {
      context?.reportProgress({ progress: 1, total: 2, message: params.value, audience: 'user' });
      context?.reportPercent(60, params.value, { audience: 'user' });
      context?.reportActivity('text', params.value);
      return summarize(params);
    }),
    makeTool('await_promises', async (params, context) => {
      const firstResult = await resolveLater(params.value);
      await null;
      await sleep(5);
      context?.reportCount(1, 2, firstResult.value);
      return { ...(await resolveLater(firstResult.list[0]?.value ?? '')), more: [firstResult, new Date(0), 1n] };
    }),
    makeTool('throw_tool_error', async (params) => {
      try {
        await throwLater(params.value);
      } catch {
        throw ToolError.rateLimited(params.value, 5);
      }
      return null;
    }),
    makeTool('call_echo', async (params, context) => {
      const echoResult = await context?.call('echo', { value: params.value, to: params.to });
      return { echoed: echoResult };
    }),
    makeTool('use_auth_cache', async (params) => {
      setAuthCache('token', { token: params.value });
      const cached = getAuthCache<{ token: string }>('token');
      return { cached: cached?.token, key: getConfig('key') ?? 'none' };
    }),
    makeTool('write_log', async (params) => {
      log.info(params.value, { value: params.value }, [params.value]);
      return { query: buildQueryString({ q: params.value }) };
    }),
    makeTool('return_image', async (params) => image(btoa(params.value), 'image/png')),
  ],
});

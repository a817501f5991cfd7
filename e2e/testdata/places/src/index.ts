import { definePlugin, defineTool, getConfig, log } from '@opentabs/sdk';
import { z } from 'zod';

const whereTool = defineTool({
  name: 'where',
  description: 'Returns the document in which it runs.',
  annotations: { readOnlyHint: true },
  input: z.object({}),
  output: z.object({ path: z.string(), host: z.string(), frame: z.boolean(), hidden: z.boolean(), site: z.string() }),
  handle: async () => {
    log.info('called in', location.pathname);
    return {
      path: location.pathname,
      host: location.hostname,
      frame: window !== window.top,
      hidden: document.hidden,
      site: String(getConfig('site') ?? ''),
    };
  },
});

export default definePlugin({
  tools: [whereTool],

  // A test sets data-busy to make the plugin not ready in a page.
  isReady() {
    return !document.documentElement.hasAttribute('data-busy');
  },
});

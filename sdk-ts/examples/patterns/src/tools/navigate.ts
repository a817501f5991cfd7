import { defineTool, ToolError } from '@opentabs/sdk';
import { z } from 'zod';

export const navigateTool = defineTool({
  name: 'navigate',
  description: 'Opens another page of the site in this tab and returns at once.',
  icon: 'arrow-right',
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  input: z.object({ to: z.string().min(1).describe('A URL, or a path on this site') }),
  output: z.object({ to: z.string() }),

  async handle({ to }) {
    const { href, protocol } = new URL(to, location.href);
    // A javascript: URL would run code of the agent in the page.
    if (!protocol.startsWith('http')) throw ToolError.validation(`${to} is not a web page; give an http or https URL`);
    location.href = href;
    return { to: href };
  },
});
